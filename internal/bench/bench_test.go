package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The figures are for `make bench`; here only that both sides do the whole
// work, and that what is reported was measured.
func TestBothSidesDoTheSameWork(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), Options{Steps: 200, Window: 16, Workers: 4})
	require.NoError(t, err)
	require.InDelta(t, 4, r.MessagesPerStep, 1e-9, "steps, quote, local and the label")
	require.Greater(t, r.BytesPerStep, 3*2048.0)
	require.Positive(t, r.Ratio)
	require.Len(t, r.Rounds, rounds)
}
