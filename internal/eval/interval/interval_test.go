package interval

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"testing"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

func of(t *testing.T, items ...metrics.Item) map[metrics.Metric]Estimate {
	t.Helper()
	got, err := Of(t.Context(), must(metrics.NewSample(items)), metrics.All(), Options{})
	require.NoError(t, err)
	return got
}

func step(question, id string, gold, pred schema.Gap) metrics.Item {
	return metrics.Item{Question: question, Step: id, Gold: gold, Pred: pred}
}

func TestWhatCannotBeSaidIsNullWithAReason(t *testing.T) {
	t.Parallel()
	const ok, cc = schema.GapNone, schema.GapContradicted

	empty := of(t)
	require.Equal(t, Estimate{Reason: metrics.Empty}, empty[metrics.SF1])

	alone := of(t, step("a", "1", ok, ok), step("a", "2", cc, ok))
	require.InDelta(t, 0.5, *alone[metrics.BalancedAccuracy].Value, 0)
	require.Nil(t, alone[metrics.BalancedAccuracy].Low)
	require.Equal(t, OneQuestion, alone[metrics.BalancedAccuracy].Reason)

	class := of(t, step("a", "1", ok, ok), step("b", "2", ok, cc), step("c", "3", ok, ok))
	require.Equal(t, metrics.OneClass, class[metrics.BalancedAccuracy].Reason)
	require.Nil(t, class[metrics.BalancedAccuracy].Value)
	require.Equal(t, metrics.NotInGold, class[metrics.Recall].Reason)

	perfect := of(t, step("a", "1", ok, ok), step("a", "2", cc, cc), step("b", "3", ok, ok), step("b", "4", cc, cc))
	require.Equal(t, Percentile, perfect[metrics.SF1].Method)
	require.Equal(t, Constant, perfect[metrics.SF1].Fallback)
	require.InDelta(t, 1, *perfect[metrics.SF1].Low, 0)

	// A third of the draws lack the one question with a gap.
	rare := of(t, step("a", "1", cc, cc), step("b", "2", ok, ok), step("c", "3", ok, ok))
	require.Equal(t, UndefinedDraws, rare[metrics.Recall].Reason)
	require.InDelta(t, 1, *rare[metrics.Recall].Value, 0)
	require.Nil(t, rare[metrics.Recall].High)
	require.InDelta(t, 10_000*8.0/27, rare[metrics.Recall].Undefined, 200)

	// With the one question left out that has a gap, there is no recall.
	var items []metrics.Item
	for i, q := range []string{"a", "b", "c", "d", "e"} {
		items = append(items, step(q, q+"1", cc, []schema.Gap{cc, ok}[i%2]), step(q, q+"2", ok, ok))
	}
	require.Equal(t, BCa, of(t, items...)[metrics.SF1].Method)

	for _, got := range []map[metrics.Metric]Estimate{empty, alone, class, perfect, rare} {
		_, err := json.Marshal(got)
		require.NoError(t, err, "no NaN may stand anywhere")
	}
}

func TestFallbacks(t *testing.T) {
	t.Parallel()
	value := metrics.Number(0.5)
	spread := []float64{0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9}
	left := []float64{0.4, 0.5, 0.6, 0.7}
	copyOf := func(v []float64) []float64 { return append([]float64(nil), v...) }

	require.Equal(t, BCa, estimate(value, copyOf(spread), left, 0.95).Method)
	require.Equal(t, OneSided, estimate(metrics.Number(0.95), copyOf(spread), left, 0.95).Fallback)
	require.Equal(t, OneSided, estimate(metrics.Number(0.05), copyOf(spread), left, 0.95).Fallback)
	require.Equal(t, Jackknife, estimate(value, copyOf(spread), []float64{0.5, 0.5, 0.5}, 0.95).Fallback)
	require.Equal(t, Jackknife, estimate(value, copyOf(spread), []float64{0.5, math.NaN(), 0.6}, 0.95).Fallback)
	steepLeft := make([]float64, 4000) // one question moves everything
	steepLeft[0] = -1
	require.Equal(t, Extreme, estimate(metrics.Number(0.65), copyOf(spread), steepLeft, 1-1e-9).Fallback)

	got := estimate(value, copyOf(spread), []float64{0.5, 0.5, 0.5}, 0.5)
	require.Equal(t, Percentile, got.Method)
	require.InDelta(t, 0.275, *got.Low, 1e-12)
	require.InDelta(t, 0.725, *got.High, 1e-12)
	require.False(t, got.Above(0.3))
	require.True(t, got.Above(0.2))
	require.True(t, got.Below(0.8))
	require.False(t, Estimate{}.Above(0) || Estimate{}.Below(0))
}

func TestADifferenceOfEqualsIsNothing(t *testing.T) {
	t.Parallel()
	s := world{clusters: 30, noise: 0.3}.sample(1)
	got, err := Difference(t.Context(), s, s, metrics.Main(), Options{Draws: 500})
	require.NoError(t, err)
	for m, e := range got {
		require.Zero(t, *e.Value, "%s", m)
		require.Zero(t, *e.Low, "%s", m)
		require.Zero(t, *e.High, "%s", m)
	}
	_, err = Difference(t.Context(), s, world{clusters: 31, noise: 0.3}.sample(1), metrics.Main(), Options{})
	require.ErrorContains(t, err, "different questions")
}

func TestPairsAreNarrowerThanTheirParts(t *testing.T) {
	t.Parallel()
	items := world{clusters: 100, noise: 0.4}.items(3)
	better := append([]metrics.Item(nil), items...)
	for i := range better {
		if i%10 == 0 {
			better[i].Pred = better[i].Gold
		}
	}
	a, b := must(metrics.NewSample(items)), must(metrics.NewSample(better))
	list := []metrics.Metric{metrics.SF1}
	delta, err := Difference(t.Context(), a, b, list, Options{})
	require.NoError(t, err)
	alone, err := Of(t.Context(), a, list, Options{})
	require.NoError(t, err)
	width := func(e Estimate) float64 { return *e.High - *e.Low }
	require.True(t, delta[metrics.SF1].Above(0), "%v", delta)
	require.Less(t, width(delta[metrics.SF1]), width(alone[metrics.SF1])/2)
}

// TestCoresDoNotMatter is not parallel, as it sets how many there are.
func TestCoresDoNotMatter(t *testing.T) {
	s := world{clusters: 40, noise: 0.3}.sample(2)
	run := func(cores int, seed uint64) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		got, err := Of(t.Context(), s, metrics.All(), Options{Draws: 3000, Seed: seed})
		require.NoError(t, err)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		return string(b)
	}
	first := run(1, 5)
	require.Equal(t, first, run(2, 5))
	require.Equal(t, first, run(7, 5))
	require.NotEqual(t, first, run(2, 6))
}

func TestOptionsAndCancelling(t *testing.T) {
	t.Parallel()
	s := world{clusters: 10, noise: 0.3}.sample(1)
	for _, o := range []Options{{Draws: -1}, {Level: 1}, {Level: math.NaN()}} {
		_, err := Of(t.Context(), s, metrics.Main(), o)
		require.ErrorContains(t, err, "can't be made")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Of(ctx, s, metrics.Main(), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// BenchmarkIntervals is 10,000 draws of all metrics over 300 questions.
func BenchmarkIntervals(b *testing.B) {
	s := world{clusters: 300, noise: 0.3}.sample(1)
	for b.Loop() {
		if _, err := Of(b.Context(), s, metrics.All(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
