package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

var quick = interval.Options{Draws: 500, Seed: 3}

// study is a made-up one: a good system, its removals, of which that of C does
// good, one that is never sure, and a set of one class.
func study() Study {
	r := rand.New(rand.NewPCG(1, 2))
	gaps := schema.Gaps()
	var gold []metrics.Item
	groups := map[string]string{}
	for q := range 40 {
		for s := range 4 {
			it := metrics.Item{Question: fmt.Sprintf("q%02d", q), Step: fmt.Sprintf("q%02d#%d", q, s), Gold: gaps[0]}
			if r.IntN(2) == 0 {
				it.Gold = gaps[1+r.IntN(3)]
			}
			groups[it.Step] = []string{"swapped", "dropped_sentence", ""}[r.IntN(3)]
			gold = append(gold, it)
		}
	}
	system := func(right float64, ungraded bool) []metrics.Item {
		var out []metrics.Item
		for _, it := range gold {
			it.Pred = it.Gold
			if r.Float64() > right {
				it.Pred = gaps[r.IntN(4)]
			}
			if ungraded && r.IntN(20) == 0 {
				it.Pred = schema.GapUngraded
			}
			out = append(out, it)
		}
		return out
	}
	own := Set{Name: "own", About: "written by hand, by one author", Hash: strings.Repeat("ab", 32), Groups: groups, Systems: []System{
		{Name: "hybrid", About: "A-C local; D, E nli (nli-minilm@0123456789ab)", Items: system(0.6, false)},
		{Name: "nli-only", About: "D, E nli", Items: system(0.4, true)},
		{Name: "word-overlap", Baseline: true, Items: system(0.05, false)},
		{Name: "hybrid-no-A", Of: "hybrid", Without: schema.StageEntity, Items: system(0.3, false)},
		{Name: "hybrid-no-C", Of: "hybrid", Without: schema.StageQuote, Items: system(0.95, false)},
		{Name: "hybrid-no-E", Of: "hybrid", Without: schema.StageCross, Items: nil},
	}}
	own.Systems[5].Items = own.Systems[0].Items
	one := Set{Name: "all-right", Systems: []System{{Name: "hybrid", Items: []metrics.Item{
		{Question: "a<b>", Step: "1", Gold: gaps[0], Pred: gaps[0]}, {Question: "c", Step: "2", Gold: gaps[0], Pred: gaps[4]},
	}}}}
	return Study{Sets: []Set{own, one}, Missing: []string{"llm-only: no endpoint was given"}}
}

func computed(t *testing.T) *Report {
	t.Helper()
	r, err := Compute(t.Context(), study(), quick)
	require.NoError(t, err)
	return r
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b))
	if dir := os.Getenv("STEPGAP_REPORT"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_")), b.Bytes(), 0o644))
	}
	return b.String()
}

func TestJSONHasTheKeysThatReadersCountOn(t *testing.T) {
	t.Parallel()
	text := written(t, computed(t).WriteJSON)
	var got struct {
		Sets map[string]map[string]map[string]json.RawMessage
		// only what is looked at
		Ablations []struct {
			Set, Of, Without, Letter string
			Delta                    map[string]interval.Estimate
			Verdict                  map[string]string
		}
		Cancellations []struct{ Text string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	for _, system := range []string{"hybrid", "nli-only", FlagAll, FlagNone} {
		for _, key := range []string{"sf1", "qf1", "ba", "kappa", "macro_f1"} {
			var e struct {
				Value, Low, High *float64
				Method           string
			}
			require.NoError(t, json.Unmarshal(got.Sets["own"][system][key], &e), "%s %s", system, key)
			require.NotNil(t, e.Value, "%s %s", system, key)
			require.NotNil(t, e.Low, "%s %s", system, key)
			require.NotNil(t, e.High, "%s %s", system, key)
			require.Contains(t, []string{"bca", "percentile"}, e.Method)
		}
	}
	require.JSONEq(t, `{"value":null,"low":null,"high":null,"reason":"one_class"}`, string(got.Sets["all-right"]["hybrid"]["ba"]))
	require.Equal(t, "true", string(got.Sets["own"][FlagAll]["qf1_is_trap"]))
	require.Len(t, got.Ablations, 3)
	require.Equal(t, "C", got.Ablations[1].Letter)
	require.Equal(t, "cancels", got.Ablations[1].Verdict["sf1"])
	require.Equal(t, "nothing", got.Ablations[2].Verdict["sf1"])
	require.NotContains(t, text, "NaN")
}

func TestAQF1ThatFlagAllReachesIsMarked(t *testing.T) {
	t.Parallel()
	r := computed(t)
	marked := map[string]bool{}
	for _, y := range r.Sets[0].Systems {
		marked[y.Name] = y.Trap
	}
	require.True(t, marked[FlagAll])
	require.True(t, marked[FlagNone], "it is below flag-all's")
	require.False(t, marked["hybrid-no-C"], "it is above")
	for _, write := range []func(io.Writer) error{r.WriteText, r.WriteMarkdown, r.WriteHTML} {
		require.Contains(t, written(t, write), trap)
	}
}

func TestTheCancellationTestIsSpelledOut(t *testing.T) {
	t.Parallel()
	r := computed(t)
	c := r.Sets[0].Cancellations()
	require.Equal(t, "hybrid: 1 of 3 removals raise sF1 (C!), 1 beyond the interval (!): errors cancel.", c[0].String())
	require.False(t, c[0].Passed())
	for _, write := range []func(io.Writer) error{r.WriteText, r.WriteMarkdown, r.WriteHTML} {
		require.Contains(t, written(t, write), c[0].String())
	}
	require.Equal(t, "x: none of 2 removals raises macro-F1, so no errors are seen to cancel.",
		Cancellation{Of: "x", Metric: metrics.MacroF1, Removals: 2}.String())
	require.Equal(t, "x: 1 of 2 removals raise sF1 (D), none beyond its interval: errors may cancel.",
		Cancellation{Of: "x", Metric: metrics.SF1, Removals: 2, Raised: 1, Stages: []string{"D"}}.String())
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()
	a, b := computed(t), computed(t)
	for i, write := range []func(*Report, io.Writer) error{(*Report).WriteText, (*Report).WriteJSON, (*Report).WriteMarkdown, (*Report).WriteHTML} {
		var one, two bytes.Buffer
		require.NoError(t, write(a, &one))
		require.NoError(t, write(b, &two))
		require.Equal(t, one.String(), two.String(), "writer %d", i)
	}
}

func TestTextFitsATerminal(t *testing.T) {
	t.Parallel()
	for line := range strings.SplitSeq(written(t, computed(t).WriteText), "\n") {
		if strings.Contains(line, "  ") { // tables; sentences wrap by themselves
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		}
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	page := written(t, computed(t).WriteHTML)
	require.NotRegexp(t, regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//|@import|url\(|<script`), page)
	require.NotContains(t, page, "ZgotmplZ", "the template distrusts a value")
	require.NotContains(t, page, "%!", "a figure was written wrongly")
	for _, plot := range []string{"hybrid without a stage: sF1", "Confusion matrix of hybrid", "Distribution of labels", "prefers-color-scheme: dark"} {
		require.Contains(t, page, plot)
	}
}

func TestWhatIsNoStudyIsRefused(t *testing.T) {
	t.Parallel()
	item := metrics.Item{Question: "a", Step: "1", Gold: schema.GapNone, Pred: schema.GapNone}
	for want, set := range map[string]Set{
		"can't be a key":   {Name: "a b", Systems: []System{{Name: "x"}}},
		"no system":        {Name: "a"},
		"stands twice":     {Name: "a", Systems: []System{{Name: "x", Items: []metrics.Item{item}}, {Name: "x", Items: []metrics.Item{item}}}},
		"y beside x":       {Name: "a", Systems: []System{{Name: "x", Items: []metrics.Item{item}}, {Name: "y"}}},
		"was not measured": {Name: "a", Systems: []System{{Name: "x", Of: "y", Without: schema.StageQuote}}},
	} {
		_, err := Compute(t.Context(), Study{Sets: []Set{set}}, quick)
		require.ErrorContains(t, err, want)
	}
	twice := Set{Name: "a", Systems: []System{{Name: "x", Items: []metrics.Item{item}}}}
	_, err := Compute(t.Context(), Study{Sets: []Set{twice, twice}}, quick)
	require.ErrorContains(t, err, "set a stands twice")
}
