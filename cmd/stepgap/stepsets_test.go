package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func runSets(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := newRoot("test")
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(append([]string{"eval", "sets"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSetsBuildAndCheck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sets")
	out, err := runSets(t, "build", "--only", "own", "--out", dir)
	require.NoError(t, err)
	require.Contains(t, out, "own.jsonl: ")
	again, err := runSets(t, "check", filepath.Join(dir, "own.jsonl"))
	require.NoError(t, err)
	require.Equal(t, out, again, "what is built reads back the same")

	bad := filepath.Join(dir, "bad.jsonl")
	require.NoError(t, os.WriteFile(bad, []byte(`{"id":"a","label":"CC"}`), 0o644))
	_, err = runSets(t, "check", bad)
	require.ErrorContains(t, err, `bad.jsonl:1: the key "label" is not part of the format`)
	_, err = runSets(t, "build", "--only", "nothing", "--data", dir, "--out", dir)
	require.ErrorContains(t, err, `no step set is called "nothing"`)
}

func TestSetsList(t *testing.T) {
	t.Parallel()
	out, err := runSets(t, "list")
	require.NoError(t, err)
	for _, name := range []string{"own", "musique", "hotpotqa", "wice", "fm2", "halueval", "steps_dev"} {
		require.Contains(t, out, name)
	}
}
