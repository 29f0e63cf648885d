package soak_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/nli/soak"
)

// small is a model that runs thousands of pairs a second.
func small(t *testing.T) (dir, library string) {
	t.Helper()
	library = os.Getenv("STEPGAP_ORT_LIB")
	if library == "" {
		t.Skip("STEPGAP_ORT_LIB is not set (make test sets it)")
	}
	dir = filepath.Join("..", "onnx", "testdata", "deberta-tiny")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the small model is not there")
	}
	return dir, library
}

// TestMemoryStaysFlat is the short form of `make soak-nli`: thousands of
// different pairs of random lengths through tokenizer, batcher and session.
func TestMemoryStaysFlat(t *testing.T) {
	dir, library := small(t)
	scorer, err := onnx.OpenScorer(onnx.Options{Dir: dir, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, nli.BatcherOptions{CacheSize: 1000})
	require.NoError(t, err)
	pairs := 30_000
	if testing.Short() {
		pairs = 6_000
	}
	r, err := soak.Run(t.Context(), scorer, soak.Options{Pairs: pairs, Callers: 32, Batch: 4, Words: 40, Samples: 20, Seed: 1})
	require.NoError(t, err)
	require.NoError(t, scorer.Close())
	require.Zero(t, scorer.Tensors(), "tensors leaked")
	require.LessOrEqual(t, r.MostTensors, 64, "tensors pile up")
	require.Equal(t, uint64(pairs), scorer.Stats().Pairs)
	half := r.Samples[len(r.Samples)/2-1].RSS
	largest := 0.0
	for _, s := range r.Samples[len(r.Samples)/2:] {
		largest = max(largest, s.RSS)
	}
	// A tensor that leaked with every batch, or memory kept for every shape,
	// would be tens of times this.
	require.LessOrEqual(t, largest, half+16, "MiB resident: %+v", r.Samples)
	t.Logf("%d pairs, %.0f a second, padding %.3f, %.1f MiB after half, then at most %.1f", pairs, r.PairsASec, r.Padding, half, largest)
}

func TestReportFindsALeak(t *testing.T) {
	t.Parallel()
	r := soak.Summarise([]soak.Sample{{Pairs: 100_000, RSS: 300}, {Pairs: 200_000, RSS: 310}, {Pairs: 300_000, RSS: 320}, {Pairs: 400_000, RSS: 330, Tensors: 7}})
	require.InDelta(t, 100, r.PerMillion, 1e-6)
	require.Equal(t, 330.0, r.LargestRSS)
	require.Equal(t, 100_000, r.WarmPairs)
	require.Equal(t, 7, r.MostTensors)
}
