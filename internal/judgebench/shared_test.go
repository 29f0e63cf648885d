package judgebench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSharedLimit_FindsWhatTheEndpointAllows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	t.Parallel()
	share429, throughput, err := SharedLimit(t.Context())
	require.NoError(t, err)
	t.Logf("429 on %.2f%% of the calls, %.3f of what the endpoint allows", 100*share429, throughput)
	require.Less(t, share429, 0.02)
	// How much of it is used is time on a busy machine: `make bench-judge` says.
	require.Positive(t, throughput)
	require.LessOrEqual(t, throughput, 1.01)
}
