package interval

import (
	"testing"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stretchr/testify/require"
)

// TestIntervalsCover draws studies of 100 questions from a world whose true
// values are known from a very large sample, and counts how many intervals hold
// them: as many as they promise, within 2 points. An interval that takes steps
// for independent holds them clearly less often.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const (
		studies = 1000
		naive   = 150 // of the same studies; a cluster a step takes longer
		level   = 0.95
	)
	list := []metrics.Metric{metrics.SF1, metrics.BalancedAccuracy, metrics.MacroF1, metrics.Kappa}
	w := world{clusters: 100, noise: 0.35}
	truth := w
	truth.clusters = 300_000
	total := truth.sample(1).Total()

	covered, coveredNaive := map[metrics.Metric]int{}, map[metrics.Metric]int{}
	count := func(into map[metrics.Metric]int, s metrics.Sample, seed uint64) {
		got, err := Of(t.Context(), s, list, Options{Draws: 1000, Seed: seed, Level: level})
		require.NoError(t, err)
		for _, m := range list {
			require.Equal(t, BCa, got[m].Method, "%s", m)
			x, ok := m.Of(&total).Get()
			require.True(t, ok)
			if *got[m].Low <= x && x <= *got[m].High {
				into[m]++
			}
		}
	}
	for i := range uint64(studies) {
		items := w.items(1000 + i)
		count(covered, must(metrics.NewSample(items)), i)
		if i < naive {
			count(coveredNaive, single(items), i)
		}
	}
	for _, m := range list {
		byQuestion, byStep := float64(covered[m])/studies, float64(coveredNaive[m])/naive
		t.Logf("%-9s covered by question %.3f, by step %.3f", m.Name(), byQuestion, byStep)
		require.InDelta(t, level, byQuestion, 0.02, "%s", m)
		require.Less(t, byStep, level-0.05, "%s", m)
	}
}

// TestDifferencesCover does the same for the paired difference of two systems
// that share a question's difficulty.
func TestDifferencesCover(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const studies = 600
	list := []metrics.Metric{metrics.SF1, metrics.MacroF1}
	w := world{clusters: 100, noise: 0.35}
	truth := w
	truth.clusters = 300_000
	of := func(items []metrics.Item) (a, b metrics.Sample) {
		other := make([]metrics.Item, len(items))
		for i, it := range items {
			if i%3 == 0 { // the second system never doubts every third step
				it.Pred = it.Gold
			}
			other[i] = it
		}
		return must(metrics.NewSample(items)), must(metrics.NewSample(other))
	}
	a, b := of(truth.items(1))
	total := pair{a.Total(), b.Total()}
	covered := map[metrics.Metric]int{}
	for i := range uint64(studies) {
		a, b := of(w.items(5000 + i))
		got, err := Difference(t.Context(), a, b, list, Options{Draws: 1000, Seed: i})
		require.NoError(t, err)
		for _, m := range list {
			x, ok := difference(m, &total).Get()
			require.True(t, ok)
			if *got[m].Low <= x && x <= *got[m].High {
				covered[m]++
			}
		}
	}
	for _, m := range list {
		t.Logf("%-9s covered %.3f", m.Name(), float64(covered[m])/studies)
		require.InDelta(t, 0.95, float64(covered[m])/studies, 0.02, "%s", m)
	}
}
