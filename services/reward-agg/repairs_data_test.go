package rewardagg_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// checked is a step of a real rollout, and what a reader of its text found was
// done about its gap, before looking at what the aggregator says. Gap is the label
// that it was read under.
type checked struct {
	Rollout string     `json:"rollout"`
	Step    int        `json:"step"`
	Gap     schema.Gap `json:"gap"`
	Class   string     `json:"class"`
	Half    string     `json:"half"` // tune: may be looked at to mend faults; held: not
}

const notAGap = "none" // no gap, and no query asked again

func classes() []string {
	return []string{string(schema.ShapeRetracted), string(schema.ShapeReSearched), string(schema.ShapeBridged), string(schema.ShapeIgnored), string(schema.ShapeNearDuplicate), notAGap}
}

// byClass is what was found of one class of the sample.
type byClass struct {
	Checked   int      `json:"checked"`
	Agree     int      `json:"agree"`
	Found     int      `json:"found_in_sample"`
	Agreement *float64 `json:"agreement"` // null where none was checked
	InAll     int      `json:"found_in_all_rollouts"`
}

type repairReport struct {
	Rollouts  int                `json:"rollouts"`
	Steps     int                `json:"steps"`
	Sample    int                `json:"sample"`
	Compared  int                `json:"compared"`
	Moved     int                `json:"label_differs_now"`
	Agreement float64            `json:"agreement"`
	Tune      float64            `json:"agreement_tune_half"`
	Held      float64            `json:"agreement_held_half"`
	Classes   map[string]byClass `json:"classes"`
}

// With STEPGAP_REPORT, a folder, all rollouts are labelled and the report is
// written there (make repairs); else only those of the sample.
func TestRepairsOfRealRolloutsAgreeWithTheHandCheckedSample(t *testing.T) {
	if os.Getenv("STEPGAP_DATA") == "" {
		t.Skip("STEPGAP_DATA is not set: the data set is not part of the project")
	}
	sample, inSample := readSample(t)
	report := repairReport{Sample: len(sample), Classes: map[string]byClass{}}
	said := map[string]map[string]int{} // hand -> aggregator -> count
	halves := map[string][2]int{}       // half -> agree, compared
	all := os.Getenv("STEPGAP_REPORT") != ""
	for _, r := range rewardsOf(t, func(id string) bool { return all || inSample[id] }) {
		report.Rollouts++
		for _, s := range r.Steps {
			report.Steps++
			class := string(s.ShapeReason)
			if class == "" {
				class = notAGap
			}
			c := report.Classes[class]
			c.InAll++
			report.Classes[class] = c
			hand, ok := sample[fmt.Sprintf("%s %d", r.Source, s.Index)]
			switch {
			case !ok:
			case s.Label != hand.Gap:
				report.Moved++
			default:
				report.Compared++
				h := halves[hand.Half]
				h[1]++
				if class == hand.Class {
					h[0]++
				} else {
					t.Logf("%s step %d (%s, %s): by hand %s, found %s", r.Source, s.Index, hand.Half, hand.Gap, hand.Class, class)
				}
				halves[hand.Half] = h
				if said[hand.Class] == nil {
					said[hand.Class] = map[string]int{}
				}
				said[hand.Class][class]++
			}
		}
	}
	report.sum(said, halves)
	t.Logf("%d rollouts, %d steps; %d of %d hand-checked steps compared (%d have another label now)\n%s\nagreement: %.3f, on the half that was tuned on %.3f, on the other %.3f",
		report.Rollouts, report.Steps, report.Compared, report.Sample, report.Moved, confusion(said), report.Agreement, report.Tune, report.Held)
	report.write(t)
	if all {
		require.Equal(t, 585, report.Rollouts)
	}
	require.GreaterOrEqual(t, report.Compared, 80)
	require.GreaterOrEqual(t, report.Held, 0.9)
}

// readSample reads the sample by rollout and step, and the rollouts that it is of.
func readSample(t *testing.T) (sample map[string]checked, rollouts map[string]bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "repairs.jsonl"))
	require.NoError(t, err)
	sample, rollouts = map[string]checked{}, map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(raw)); dec.More(); {
		var c checked
		require.NoError(t, dec.Decode(&c))
		require.True(t, slices.Contains(classes(), c.Class), "%+v", c)
		sample[fmt.Sprintf("%s %d", c.Rollout, c.Step)] = c
		rollouts[c.Rollout] = true
	}
	return sample, rollouts
}

// rewardsOf labels the rollouts that are wanted with the local judge and the real
// NLI model.
func rewardsOf(t *testing.T, wanted func(id string) bool) []*check.Result {
	t.Helper()
	cfg, err := app.LoadConfig(nil, os.Environ)
	require.NoError(t, err)
	if cfg.NLIModel == "" || cfg.ORTLib == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	cfg.Judge, cfg.Budget = "local", 10*time.Minute // a busy machine must not make labels differ
	pipe, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pipe.Stop()) })
	rollouts, err := transcript.Open(filepath.Join(os.Getenv("STEPGAP_DATA"), "rollouts", "normalized.jsonl"), transcript.Options{})
	require.NoError(t, err)
	var all []*check.Result
	some := func(yield func(*transcript.Rollout, error) bool) {
		for r, err := range rollouts {
			if (err != nil || wanted(r.ID)) && !yield(r, err) {
				return
			}
		}
	}
	_, err = check.Run(t.Context(), pipe.Client, some, check.Options{Run: "repairs", Window: 6}, func(r *check.Result) error {
		all = append(all, r)
		return nil
	})
	require.NoError(t, err)
	return all
}

func (r *repairReport) sum(said map[string]map[string]int, halves map[string][2]int) {
	agree := 0
	for _, hand := range classes() {
		c := r.Classes[hand]
		for _, found := range classes() {
			c.Checked += said[hand][found]
			c.Found += said[found][hand]
		}
		c.Agree = said[hand][hand]
		if c.Checked > 0 {
			agreement := share(c.Agree, c.Checked)
			c.Agreement = &agreement
		}
		agree += c.Agree
		r.Classes[hand] = c
	}
	r.Agreement = share(agree, r.Compared)
	r.Tune, r.Held = share(halves["tune"][0], halves["tune"][1]), share(halves["held"][0], halves["held"][1])
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// confusion is a table of the classes by hand (rows) and as found (columns).
func confusion(said map[string]map[string]int) string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "by hand \\ found\t")
	for _, c := range classes() {
		fmt.Fprint(w, c, "\t")
	}
	fmt.Fprintln(w)
	for _, hand := range classes() {
		fmt.Fprint(w, hand, "\t")
		for _, found := range classes() {
			fmt.Fprint(w, said[hand][found], "\t")
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
	return out.String()
}

// write puts the report into the folder that STEPGAP_REPORT names.
func (r *repairReport) write(t *testing.T) {
	t.Helper()
	dir := os.Getenv("STEPGAP_REPORT")
	if dir == "" {
		return
	}
	b, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "repairs.json"), append(b, '\n'), 0o644))
}
