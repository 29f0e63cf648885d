package nliworker_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stretchr/testify/require"
)

// realScorer opens the default model, or skips where make didn't set it.
func realScorer(t testing.TB) *nli.Batcher {
	t.Helper()
	model, library := os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if model == "" || library == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	m, err := onnx.Open(onnx.Options{Dir: model, Library: library, Device: "cpu", Threads: 1, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	b := nli.NewBatcher(m, nli.BatcherOptions{Lanes: 2})
	t.Cleanup(func() {
		require.NoError(t, b.Close())
		require.NoError(t, m.Close())
	})
	return b
}
