package check_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/docblock/docblocktest"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// dataFile names a file of the data set, which is not part of the project.
func dataFile(t *testing.T, name ...string) string {
	t.Helper()
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set: the data set is not part of the project")
	}
	return filepath.Join(append([]string{data}, name...)...)
}

// start runs the whole pipeline with the local judge and the real NLI model.
func start(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	cfg, err := app.LoadConfig(nil, os.Environ)
	require.NoError(t, err)
	if cfg.NLIModel == "" || cfg.ORTLib == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	cfg.Judge = "local"
	pipe, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pipe.Stop()) })
	return pipe
}

func run(t *testing.T, pipe *pipeline.Pipeline, name string, rollouts iter.Seq2[*transcript.Rollout, error]) ([]*check.Result, check.Summary) {
	t.Helper()
	var all []*check.Result
	o := check.Options{Run: fmt.Sprintf("%s-%d", name, time.Now().UnixNano()), Trail: true}
	summary, err := check.Run(t.Context(), pipe.Client, rollouts, o, func(r *check.Result) error {
		all = append(all, r)
		return nil
	})
	require.NoError(t, err)
	return all, summary
}

// verdicts are words of graders and environments, which are never evidence.
var verdicts = []string{"Answer is INCORRECT", "Answer is CORRECT", "Episode finished, reward", "Could not find [", "No more results."}

func TestEveryRealRolloutIsLabelledAndNoStepIsLost(t *testing.T) {
	files, err := filepath.Glob(dataFile(t, "rollouts", "raw", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, dataFile(t, "rollouts", "normalized.jsonl"))
	pipe := start(t)
	for _, file := range files {
		name := filepath.Base(file)
		records, err := transcript.Open(file, transcript.Options{})
		require.NoError(t, err)
		steps, rollouts := 0, 0
		results, summary := run(t, pipe, strings.ReplaceAll(name, ".", "-"), func(yield func(*transcript.Rollout, error) bool) {
			for r, err := range records {
				if err == nil {
					rollouts++
					steps += len(r.Steps)
					for _, s := range r.Steps {
						for _, p := range s.Passages {
							for _, v := range verdicts {
								require.NotContains(t, p.Text, v, "%s step %d: a verdict or a miss is no evidence", r.ID, s.Index)
							}
						}
					}
				}
				if !yield(r, err) {
					return
				}
			}
		})
		require.Len(t, results, rollouts, name)
		labelled := 0
		for _, r := range results {
			for i, s := range r.Steps {
				require.Equal(t, i+1, s.Index)
				require.True(t, s.Label.Graded(), "%s %s step %d: %s %s", name, r.Source, s.Index, s.Code, s.Reason)
				require.Equal(t, s.Label.Repair(), s.Repair)
				labelled++
			}
			require.True(t, r.Complete, r.Source)
		}
		require.Equal(t, steps, labelled, "%s: each step exactly one label", name)
		var text strings.Builder
		require.NoError(t, check.WriteSummary(&text, summary))
		t.Logf("%s\n%s", name, text.String())
	}
}

// annotated is a labelled rollout; its turns are those of the log.
type annotated struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Steps    []struct {
		Kind   string     `json:"kind"`
		Plan   string     `json:"plan"`
		Query  string     `json:"query"`
		Docs   []string   `json:"docs"`
		After  string     `json:"after"`
		Answer string     `json:"answer"`
		Label  schema.Gap `json:"label"`
	} `json:"steps"`
}

// turns writes the rollout as its log has it, so that the steps are cut by our
// own reader.
func (a annotated) turns() map[string]any {
	var turns []map[string]any
	for _, s := range a.Steps {
		turn := map[string]any{"think": s.Plan, "action": "search", "query": s.Query, "docs": s.Docs}
		if s.Kind == "final" {
			turn = map[string]any{"think": s.After, "action": "answer", "query": s.Answer, "docs": []string{}}
		}
		turns = append(turns, turn)
	}
	return map[string]any{"id": a.ID, "source": "annotated", "question": a.Question, "steps": turns}
}

// The labelled steps are a yardstick, not a bar: a model annotated them, and
// intervals over 39 rollouts are wide.
func TestLabelsBesideTheAnnotatedSteps(t *testing.T) {
	f, err := os.Open(dataFile(t, "labelled", "steps_dev.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	want := map[string]annotated{}
	var text bytes.Buffer
	log := json.NewEncoder(&text)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var a annotated
		require.NoError(t, json.Unmarshal(lines.Bytes(), &a))
		want[a.ID] = a
		require.NoError(t, log.Encode(a.turns()))
	}
	require.NoError(t, lines.Err())
	results, _ := run(t, start(t), "annotated", transcript.Decode(&text, "annotated", transcript.Options{Format: "normalized"}))
	require.Len(t, results, len(want))
	confusion := map[[2]schema.Gap]int{}
	compared, unmatched := 0, 0
	for _, r := range results {
		got := map[string][]schema.Gap{}
		for _, s := range r.Steps {
			if s.Kind == schema.KindConclusion {
				got["final"] = append(got["final"], s.Label)
			} else {
				got["search "+s.Query] = append(got["search "+s.Query], s.Label)
			}
		}
		for _, s := range want[r.Source].Steps {
			key := strings.TrimSpace(s.Kind + " " + s.Query)
			if len(got[key]) == 0 {
				unmatched++
				continue
			}
			confusion[[2]schema.Gap{s.Label, got[key][0]}]++
			got[key] = got[key][1:]
			compared++
		}
	}
	require.Positive(t, compared)
	table := "annotated \\ ours"
	for _, g := range schema.Gaps()[:4] {
		table += fmt.Sprintf("%8s", g.Short())
	}
	page := "| |"
	for _, g := range schema.Gaps()[:4] {
		page += fmt.Sprintf(" %s |", g.Short())
	}
	page += "\n|---|---|---|---|---|\n"
	gaps := [2][2]int{}
	for _, a := range schema.Gaps()[:4] {
		table += fmt.Sprintf("\n%16s", a.Short())
		page += fmt.Sprintf("| %s |", a.Short())
		for _, g := range schema.Gaps()[:4] {
			n := confusion[[2]schema.Gap{a, g}]
			table += fmt.Sprintf("%8d", n)
			page += fmt.Sprintf(" %d |", n)
			gaps[isGap(a)][isGap(g)] += n
		}
		page += "\n"
	}
	page += fmt.Sprintf("\nOf %d steps, gap or none: %d hits, %d misses, %d false alarms, %d agreed none. %d more are cut otherwise by our reader.\n",
		compared, gaps[1][1], gaps[1][0], gaps[0][1], gaps[0][0], unmatched)
	t.Logf("%d steps compared, %d annotated steps that we cut otherwise\n%s\ngap or none: hits %d, misses %d, false alarms %d, agreed none %d",
		compared, unmatched, table, gaps[1][1], gaps[1][0], gaps[0][1], gaps[0][0])
	docblocktest.Holds(t, "../../docs/judges.md", "local-annotated", page)
}

func isGap(g schema.Gap) int {
	if g == schema.GapNone {
		return 0
	}
	return 1
}
