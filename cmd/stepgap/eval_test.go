package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// runEval runs `stepgap eval` as the program does, apart from the environment
// of whoever runs the tests.
func runEval(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := evalCommand()
	var out, errOut bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	cmd.SilenceUsage = true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// few writes the first lines of our own set to a file.
func few(t *testing.T, rollouts int) string {
	t.Helper()
	dir := t.TempDir()
	_, err := runSets(t, "build", "--only", "own", "--out", dir)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "own.jsonl"))
	require.NoError(t, err)
	path := filepath.Join(dir, "few.jsonl")
	require.NoError(t, os.WriteFile(path, bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:rollouts], nil), 0o644))
	return path
}

func TestEvalRunAndCompare(t *testing.T) {
	t.Parallel()
	set, out := few(t, 20), t.TempDir()
	text, err := runEval(t, "run", "--set", set, "--judge", "rules-only", "--out", out, "--draws", "500", "-q")
	require.NoError(t, err)
	require.Contains(t, text, "rules-only")
	require.Contains(t, text, "flag-all")
	_, err = runEval(t, "run", "--set", set, "--judge", "rules-only", "--judge-quote", "off", "--name", "no-C", "--out", out, "--draws", "500", "-q")
	require.NoError(t, err)

	a, b := filepath.Join(out, "few", "rules-only.jsonl"), filepath.Join(out, "few", "no-C.jsonl")
	text, err = runEval(t, "compare", a, b, "--list", "--draws", "500")
	require.NoError(t, err)
	require.Contains(t, text, "only rules-only")
	text, err = runEval(t, "wrong", a)
	require.NoError(t, err)
	require.Contains(t, text, "question")
	text, err = runEval(t, "wrong", a, "--gold", "cc", "--pred", "OK", "--json")
	require.NoError(t, err)
	require.NotContains(t, text, `"gold":"none"`)
	_, err = runEval(t, "wrong", a, "--gold", "bad")
	require.ErrorContains(t, err, "is no label")
	_, err = runEval(t, "compare", a, set)
	require.ErrorContains(t, err, "stepgap eval run writes them")
	_, err = runEval(t, "run", "--set", "nowhere.jsonl", "--judge", "rules-only", "--out", out)
	require.ErrorContains(t, err, "nowhere.jsonl")
}

func TestEvalMatrixIsMadeOnceAndGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	if os.Getenv("STEPGAP_NLI_MODEL") == "" || os.Getenv("STEPGAP_ORT_LIB") == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	set, out := few(t, 4), filepath.Join(t.TempDir(), "report", "eval")
	args := []string{"matrix", "--set", set, "--judge", "local", "--out", out, "--draws", "500", "-q"}
	_, err := runEval(t, args...)
	require.NoError(t, err)
	first := reports(t, out)
	var report struct {
		Sets      map[string]map[string]json.RawMessage
		Ablations []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(first[".json"], &report))
	for _, name := range []string{"hybrid", "rules-only", "nli-only", "flag-all", "flag-none", "length", "position", "word-overlap", "hypothesis-only", "hybrid-no-C", "rules-only-no-E"} {
		require.Contains(t, report.Sets["few"], name)
	}
	require.Len(t, report.Ablations, 10)

	_, err = runEval(t, args...)
	require.NoError(t, err)
	require.Equal(t, first, reports(t, out))
}

func reports(t *testing.T, base string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, ext := range []string{".json", ".md", ".html"} {
		text, err := os.ReadFile(base + ext)
		require.NoError(t, err)
		all[ext] = text
	}
	return all
}

func TestEvalFlipsAndCalibrateRefuseWhatTheyCannotDo(t *testing.T) {
	t.Parallel()
	_, err := runEval(t, "flips", "--store", t.TempDir(), "--judge", "rules-only")
	require.ErrorContains(t, err, "--store")
	_, err = runEval(t, "calibrate", "--objective", "auc")
	require.ErrorContains(t, err, `no metric "auc"`)
}
