package nliworker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// labelOf is what stage D makes of a claim under t.
func labelOf(t *testing.T, rules *rules, claim string, passages []schema.Passage, quote schema.Quote, th nliworker.Thresholds) *schema.Label {
	t.Helper()
	opts := nliworker.Defaults()
	opts.Entailment, opts.Contradiction = th.Entailment, th.Contradiction
	d, err := nliworker.NewLocal(rules, opts)
	require.NoError(t, err)
	s := step(claim, passages...)
	got, err := d.Decide(t.Context(), &tree.Item{Step: s, Quotes: []schema.Quote{quote}})
	require.NoError(t, err)
	return &schema.Label{
		Run: s.Run, Rollout: s.Rollout, Index: s.Index, Label: got.Gap, Repair: got.Gap.Repair(), Stage: schema.StageLocal,
		Quotes: got.Quotes, Trail: []schema.TrailEntry{got.Entry},
	}
}

// Every claim of every scorer, under every pair of thresholds: what is known of a
// label from its trail is what a fresh run gives, and what is known to be the
// same has the same quotes.
func TestARegradedLabelIsThatOfAFreshRun(t *testing.T) {
	t.Parallel()
	passages := []schema.Passage{
		passage("Orrin Vale", "Orrin Vale was a miller. He was born in Hull. He kept bees in York.", 3),
		passage("Bees", "Bees live in hives. Orrin Vale kept them in York and in Hull.", 3),
	}
	quote := quoteOf(passages[0], "born in Hull")
	claims := []string{
		"Orrin Vale was born in Hull.", "Orrin Vale was born in Leeds.", "Orrin Vale kept bees in York.",
		"Orrin Vale was a miller. Orrin Vale was born in Leeds.", "Orrin Vale was a miller. Orrin Vale kept bees in York.", "He was a tall man.",
	}
	levels := []float64{0.3, 0.5, 0.7, 0.9}
	var all []nliworker.Thresholds
	for _, e := range levels {
		for _, c := range levels {
			all = append(all, nliworker.Thresholds{Entailment: e, Contradiction: c})
		}
	}
	known, total := 0, 0
	for _, p := range scored() {
		for _, claim := range claims {
			given := map[nliworker.Thresholds]*schema.Label{}
			for _, th := range all {
				given[th] = labelOf(t, &rules{rules: p}, claim, passages, quote, th)
			}
			for was, l := range given {
				for now, fresh := range given {
					name := fmt.Sprintf("%v, %q, %+v -> %+v", p, claim, was, now)
					got, err := nliworker.Regrade(l, was, now, false)
					require.NoError(t, err, name)
					if total++; !got.Known {
						continue
					}
					known++
					require.Equal(t, fresh.Label, got.Gap, name)
					if got.Same {
						require.Equal(t, fresh.Quotes, l.Quotes, name)
					}
				}
			}
		}
	}
	t.Logf("%d of %d labels are known from their trails", known, total)
	require.Greater(t, known, total/3)
}

// scored are scorers: each says something else of the pairs.
func scored() [][]rule {
	var out [][]rule
	for _, hull := range [][2]float64{{0.2, 0.2}, {0.4, 0.1}, {0.6, 0.1}, {0.8, 0.1}, {0.1, 0.4}, {0.1, 0.6}, {0.1, 0.8}, {0.4, 0.55}, {0.55, 0.4}} {
		for _, bees := range [][2]float64{{0.1, 0.1}, {0.6, 0.1}, {0.95, 0.01}, {0.1, 0.75}} {
			out = append(out, []rule{
				{premise: "Hull", hypothesis: "born", entail: hull[0], contradict: hull[1]},
				{premise: "bees", hypothesis: "bees", entail: bees[0], contradict: bees[1]},
				{premise: "miller", hypothesis: "miller", entail: 0.65, contradict: 0.2},
			})
		}
	}
	return out
}

func TestRegradeRefusesThresholdsThatTheLabelCantHaveBeenGivenUnder(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. He was born in Hull.", 3)
	low := nliworker.Thresholds{Entailment: 0.5, Contradiction: 0.5}
	high := nliworker.Thresholds{Entailment: 0.9, Contradiction: 0.9}
	l := labelOf(t, &rules{rules: []rule{{premise: "Hull", hypothesis: "Hull", entail: 0.6}}}, "Orrin Vale was born in Hull.", []schema.Passage{vale}, quoteOf(vale, "born in Hull"), low)
	require.Equal(t, schema.GapNone, l.Label)
	_, err := nliworker.Regrade(l, high, high, false)
	require.ErrorContains(t, err, "wasn't given under entailment 0.9")
	require.Error(t, nliworker.Thresholds{Entailment: 0.96, Contradiction: 0.5}.Validate(), "labels lack the entities for it")
	require.Error(t, nliworker.Thresholds{Entailment: 0.5}.Validate())
}

func TestAConclusionIsUnknownOnceWhatItRestsOnIsAnother(t *testing.T) {
	t.Parallel()
	was, now := nliworker.Thresholds{Entailment: 0.5, Contradiction: 0.5}, nliworker.Thresholds{Entailment: 0.5, Contradiction: 0.7}
	cross := func(gap schema.Gap, flags ...string) *schema.Label {
		return &schema.Label{Label: gap, Repair: gap.Repair(), Stage: schema.StageCross, Trail: []schema.TrailEntry{{
			Stage: schema.StageCross, Flags: flags, Scores: &schema.Scores{Entailment: 0.6, Neutral: 0.4}}}}
	}
	known := func(l *schema.Label, now nliworker.Thresholds, changed bool) bool {
		got, err := nliworker.Regrade(l, was, now, changed)
		require.NoError(t, err)
		return got.Known
	}
	higher, lower := nliworker.Thresholds{Entailment: 0.55, Contradiction: 0.5}, nliworker.Thresholds{Entailment: 0.4, Contradiction: 0.5}
	for _, gap := range []schema.Gap{schema.GapNone, schema.GapIrrelevant} {
		require.True(t, known(cross(gap), now, false), "E looks at no contradiction")
		require.False(t, known(cross(gap), now, true))
	}
	require.False(t, known(cross(schema.GapNone), higher, false), "what is asked after an entailment is not in the trail")
	dated := cross(schema.GapNone)
	dated.Facts = &schema.Facts{Answer: "12 May 1929"}
	require.True(t, known(dated, higher, false), "such an answer is never denied")
	require.False(t, known(dated, nliworker.Thresholds{Entailment: 0.7, Contradiction: 0.5}, false))
	require.True(t, known(cross(schema.GapNone), lower, false))
	require.True(t, known(cross(schema.GapIrrelevant), higher, false))
	require.False(t, known(cross(schema.GapIrrelevant), lower, false))
	require.False(t, known(cross(schema.GapIrrelevant, "guard"), higher, false))
	// A label that no model decided stands.
	quote := cross(schema.GapIrrelevant)
	quote.Stage = schema.StageQuote
	require.True(t, known(quote, higher, true))
}
