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
func realScorer(t testing.TB) *onnx.Scorer {
	t.Helper()
	model, library := os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if model == "" || library == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	s, err := onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, nli.BatcherOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}
