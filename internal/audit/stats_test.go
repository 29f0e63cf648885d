package audit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Worked by hand, and known values of the tests.
func TestStatistics(t *testing.T) {
	t.Parallel()
	low, high := count{10, 100}.interval(sure)
	require.InDelta(t, 0.0552, low, 1e-4)
	require.InDelta(t, 0.1744, high, 1e-4)
	low, high = count{0, 0}.interval(sure)
	require.Equal(t, []float64{0, 1}, []float64{low, high})
	require.InDelta(t, 0.0285, twoShares(count{10, 100}, count{21, 100}), 5e-3)
	require.InDelta(t, 1, twoShares(count{10, 100}, count{10, 100}), 1e-12)
	require.InDelta(t, 1, twoShares(count{0, 0}, count{10, 100}), 1e-12)
	require.InDelta(t, 1, twoShares(count{0, 50}, count{0, 50}), 1e-12)

	var a, b mean
	for i := range 50 {
		a.add(float64(i % 2))
		b.add(1e9 + float64(i%2))
	}
	require.InDelta(t, 12.5, a.above, 1e-9)
	require.InDelta(t, 12.5, b.above, 1e-3)
	require.InDelta(t, 1, twoMeans(a, a), 1e-12)
	require.Less(t, twoMeans(a, b), 1e-9)
	require.InDelta(t, 1, twoMeans(a, mean{}), 1e-12)
}
