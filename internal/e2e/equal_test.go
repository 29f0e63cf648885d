package e2e

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/check"
)

// input is a file of rollouts: the real ones where the data set is at hand,
// else the project's own examples. Only the first n are used; 0 means all.
func input(t *testing.T) string {
	t.Helper()
	if data := os.Getenv("STEPGAP_DATA"); data != "" {
		return filepath.Join(data, "rollouts", "normalized.jsonl")
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "rollouts.jsonl"))
	require.NoError(t, err)
	return path
}

// requireEqual compares what the pipeline said, not when or where it said it.
func requireEqual(t *testing.T, want, got map[string]*check.Result) {
	t.Helper()
	diff := cmp.Diff(want, got,
		cmpopts.IgnoreFields(check.Result{}, "Run", "Rollout"),
		cmpopts.IgnoreFields(check.StepResult{}, "Trail"),
		cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-4 }),
		cmpopts.EquateEmpty())
	if len(diff) > 4000 {
		diff = diff[:4000] + "..."
	}
	require.Empty(t, diff, "the same labels, repairs, stages, quotes, reasons and rewards")
}
