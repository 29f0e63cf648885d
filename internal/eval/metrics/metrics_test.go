package metrics

import (
	"encoding/json"
	"testing"

	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const (
	ok = schema.GapNone
	cc = schema.GapContradicted
	ie = schema.GapIrrelevant
	mb = schema.GapMissingBridge
	un = schema.GapUngraded
)

func tally(t require.TestingT, items ...Item) *Tally {
	s, err := NewSample(items)
	require.NoError(t, err)
	total := s.Total()
	return &total
}

func number(t *testing.T, v Value) float64 {
	t.Helper()
	x, ok := v.Get()
	require.True(t, ok, "undefined: %s", v.Reason())
	return x
}

func TestAnUngradedStepIsMissedAndNeverAFalseAlarm(t *testing.T) {
	t.Parallel()
	whole := []Item{{"a", "1", ok, ok}, {"a", "2", cc, cc}, {"b", "3", ie, mb}, {"b", "4", ok, ok}}
	before := tally(t, whole...)

	lost := append([]Item{{"c", "5", ok, un}, {"c", "6", mb, un}}, whole...)
	after := tally(t, lost...)
	require.Equal(t, number(t, Precision.Of(before)), number(t, Precision.Of(after)), "precision")
	require.InDelta(t, 2.0/3, number(t, Recall.Of(after)), 1e-15)
	require.InDelta(t, (2.0/3+2.0/3)/2, number(t, BalancedAccuracy.Of(after)), 1e-15)
	require.InDelta(t, 4.0/6, number(t, Coverage.Of(after)), 1e-15)
	require.Equal(t, [2][2]int{{0, 0}, {1, 2}}, after.Questions, "question c truly has a gap, which nobody saw")

	s := Summarise(after)
	require.Equal(t, 2, s.Ungraded)
	require.Equal(t, 3, s.Questions)
	require.Equal(t, 1, s.Confusion[0][4])
	require.Equal(t, 2, s.Predicted[un].N)
	require.NotContains(t, s.Gold, un)
}

func TestUndefinedMetricsSayWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		items  []Item
		metric Metric
		want   Undefined
	}{
		{"no steps", nil, SF1, Empty},
		{"no steps", nil, MacroF1, Empty},
		{"no gap anywhere", []Item{{"a", "1", ok, ok}}, SF1, Absent},
		{"no gap in gold", []Item{{"a", "1", ok, cc}}, Recall, NotInGold},
		{"no gap predicted", []Item{{"a", "1", cc, ok}}, Precision, NeverPredicted},
		{"no gap in gold", []Item{{"a", "1", ok, cc}}, BalancedAccuracy, OneClass},
		{"one label on both sides", []Item{{"a", "1", mb, mb}}, Kappa, OneClass},
		{"a label that is nowhere", []Item{{"a", "1", ok, ok}}, F1Irrelevant, Absent},
		{"a name that is no metric", []Item{{"a", "1", ok, ok}}, Metric("auc"), UnknownMetric},
	} {
		v := c.metric.Of(tally(t, c.items...))
		_, ok := v.Get()
		require.False(t, ok, "%s: %s", c.name, c.metric)
		require.Equal(t, c.want, v.Reason(), "%s: %s", c.name, c.metric)
		b, err := json.Marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, `{"value":null,"reason":"`+string(c.want)+`"}`, string(b))
		var back Value
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, v.Reason(), back.Reason())
	}
	_, err := json.Marshal(Summarise(&Tally{}))
	require.NoError(t, err, "an empty set has a summary")
}

func TestWhatIsNoItemIsRefused(t *testing.T) {
	t.Parallel()
	for want, items := range map[string][]Item{
		"has no id":            {{"a", "", ok, ok}},
		"names no question":    {{"", "1", ok, ok}},
		`gold label "ungraded`: {{"a", "1", un, ok}},
		"which is no label":    {{"a", "1", ok, "gap"}},
		"stands twice":         {{"a", "1", ok, ok}, {"b", "1", ok, ok}},
	} {
		_, err := NewSample(items)
		require.ErrorContains(t, err, want)
	}
}

func TestPairedTakesTheSameStepsAndGold(t *testing.T) {
	t.Parallel()
	a := []Item{{"a", "1", ok, ok}, {"a", "2", cc, ok}}
	require.NoError(t, Paired(a, []Item{{"a", "2", cc, un}, {"a", "1", ok, ie}}))
	require.ErrorContains(t, Paired(a, []Item{{"a", "1", ok, ok}, {"a", "2", ie, ok}}), "different sets")
	require.ErrorContains(t, Paired(a, []Item{{"a", "1", ok, ok}, {"a", "3", cc, ok}}), "not judged by the first")
	require.ErrorContains(t, Paired(a, a[:1]), "2 steps")
}

func items() *rapid.Generator[[]Item] {
	return rapid.Custom(func(t *rapid.T) []Item {
		n := rapid.IntRange(0, 30).Draw(t, "steps")
		out := make([]Item, n)
		for i := range out {
			out[i] = Item{
				Question: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "question"),
				Step:     string(rune('A' + i)),
				Gold:     rapid.SampledFrom([]schema.Gap{ok, cc, ie, mb}).Draw(t, "gold"),
				Pred:     rapid.SampledFrom(schema.Gaps()).Draw(t, "pred"),
			}
		}
		return out
	})
}

func TestTalliesDoNotKnowOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := items().Draw(t, "items")
		a, err := NewSample(list)
		require.NoError(t, err)
		b, err := NewSample(rapid.Permutation(list).Draw(t, "other order"))
		require.NoError(t, err)
		require.Equal(t, a, b)
	})
}

func TestAGradedStepNeverHurtsByBecomingRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := items().Filter(func(l []Item) bool { return len(l) > 0 }).Draw(t, "items")
		before := tally(t, list...)
		i := rapid.IntRange(0, len(list)-1).Draw(t, "step")
		list[i].Pred = list[i].Gold
		after := tally(t, list...)
		for _, m := range []Metric{SF1, BalancedAccuracy, MacroF1, Accuracy, Coverage} {
			was, defined := m.Of(before).Get()
			now, still := m.Of(after).Get()
			if defined && still {
				require.GreaterOrEqual(t, now, was-1e-12, "%s", m)
			}
		}
	})
}
