package nliworker_test

import (
	"testing"

	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

func TestCross(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale founded Harrow Mill.", 1)
	hull := passage("Harrow Mill", "Harrow Mill stands in Hull.", 2)
	first, second := quoteOf(vale, vale.Text), quoteOf(hull, hull.Text)
	window := second
	window.Match = schema.MatchWindow
	label := func(gap schema.Gap, quotes ...schema.Quote) *schema.Label {
		return &schema.Label{Label: gap, Quotes: quotes}
	}
	const claim = "The mill of Orrin Vale stands in Hull."
	byFirst := []rule{{"founded", "Vale", 0.9, 0}}
	bySecond := []rule{{"stands", "Vale", 0.9, 0}}
	byBoth := []rule{{"founded Harrow Mill. Harrow Mill stands", "Vale", 0.9, 0}}
	for _, c := range []struct {
		name    string
		rules   []rule
		earlier map[int]*schema.Label
		final   bool
		want    schema.Gap
		reason  schema.Reason
		wait    bool
	}{
		{name: "joined quotes entail", rules: byBoth, earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapNone, second)}, want: schema.GapNone},
		{name: "nothing entails", earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapMissingBridge, second)}, want: schema.GapIrrelevant},
		{name: "no quotes at all", earlier: map[int]*schema.Label{1: label(schema.GapIrrelevant), 2: label(schema.GapIrrelevant)}, want: schema.GapIrrelevant},
		{name: "waits for a label", rules: byBoth, earlier: map[int]*schema.Label{1: label(schema.GapNone, first)}, wait: true},
		{name: "none at once", rules: byFirst, earlier: map[int]*schema.Label{1: label(schema.GapNone, first)}, want: schema.GapNone},
		{name: "not before an earlier step that may entail first", rules: bySecond, earlier: map[int]*schema.Label{2: label(schema.GapNone, second)}, wait: true},
		{name: "at the deadline what is there may entail", rules: bySecond, earlier: map[int]*schema.Label{2: label(schema.GapNone, second)}, final: true, want: schema.GapNone},
		{name: "a late judge is no gap", earlier: map[int]*schema.Label{1: label(schema.GapNone, first)}, final: true, want: schema.GapUngraded, reason: schema.ReasonUpstream},
		{name: "an ungraded step is no gap", earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapUngraded)}, want: schema.GapUngraded, reason: schema.ReasonUpstream},
		{name: "entailed beside an ungraded step", rules: byFirst, earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapUngraded)}, want: schema.GapNone},
		{name: "an ungraded label's quotes don't count", rules: byFirst, earlier: map[int]*schema.Label{1: label(schema.GapUngraded, first), 2: label(schema.GapNone, second)}, want: schema.GapUngraded, reason: schema.ReasonUpstream},
		{name: "a window is no quote", rules: bySecond, earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapMissingBridge, window)}, want: schema.GapIrrelevant},
		{name: "but a window that entailed is", rules: bySecond, earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapNone, window)}, want: schema.GapNone},
		{name: "contradiction is no outcome of E", rules: []rule{{"", "Vale", 0, 0.99}}, earlier: map[int]*schema.Label{1: label(schema.GapNone, first), 2: label(schema.GapNone, second)}, want: schema.GapIrrelevant},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opts := nliworker.Defaults()
			opts.Guard = false // the rules stand for the model alone
			d, err := nliworker.NewCross(&rules{rules: c.rules}, opts)
			require.NoError(t, err)
			s := step(claim, vale, hull)
			s.Kind, s.History = schema.KindConclusion, []schema.Prior{{Index: 1}, {Index: 2}}
			got, err := d.Decide(t.Context(), &tree.Item{Step: s, Earlier: c.earlier, Final: c.final})
			require.NoError(t, err)
			require.Equal(t, c.wait, got.Wait)
			require.Equal(t, c.want, got.Gap)
			require.Equal(t, c.reason, got.Reason)
			if c.wait {
				return
			}
			require.Equal(t, schema.StageCross, got.Entry.Stage)
			require.Equal(t, claim, got.Entry.Hypothesis)
			if got.Entry.Premise == "" {
				require.Nil(t, got.Entry.Scores, "no premise, no scores")
			} else {
				require.NotNil(t, got.Entry.Scores)
			}
		})
	}
}

func TestCrossWithoutAnyStepBefore(t *testing.T) {
	t.Parallel()
	scorer := &rules{}
	d, err := nliworker.NewCross(scorer, nliworker.Defaults())
	require.NoError(t, err)
	s := step("Orrin Vale was born in Hull.")
	s.Kind, s.Index = schema.KindConclusion, 1
	got, err := d.Decide(t.Context(), &tree.Item{Step: s})
	require.NoError(t, err)
	require.Equal(t, schema.GapIrrelevant, got.Gap)
	require.Empty(t, scorer.asked)
}
