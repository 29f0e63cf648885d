package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const labelledStep = `{"id":"a","question_id":"mill","question":"Who built the mill?","source":"hand","steps":[` +
	`{"kind":"search","query":"mill builder","claim":"Ada Lunt built the mill.","passages":[{"title":"Mill","text":"The mill was built by Ada Lunt."}],"label":"none","quote":"The mill was built by Ada Lunt."}]}` + "\n"

func export(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot("test")
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"distill", "export"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestDistillExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := filepath.Join(dir, "set.jsonl")
	require.NoError(t, os.WriteFile(set, []byte(labelledStep), 0o600))
	labels := filepath.Join(dir, "labels.jsonl")
	require.NoError(t, os.WriteFile(labels, []byte(`{"run":"r","rollout":"a","source":"a","question":"Who built the mill?","steps":[{"index":1,"label":"missing_bridge"}]}`+"\n"), 0o600))

	said, err := export(t, "--out", filepath.Join(dir, "sft"), "--splits", "train=1", set)
	require.NoError(t, err)
	require.Contains(t, said, "1 of 1 steps of 1 questions")
	require.Contains(t, said, "train: OK 1")
	require.FileExists(t, filepath.Join(dir, "sft", "sft-train.jsonl"))
	require.FileExists(t, filepath.Join(dir, "sft", "prompts", "single-llm.txt"))
	require.FileExists(t, filepath.Join(dir, "sft", "manifest.json"))

	said, err = export(t, "--out", filepath.Join(dir, "student"), "--splits", "train=1", "--encoder", "--labels", labels, set)
	require.NoError(t, err)
	require.Contains(t, said, "train: MB 1", "the teacher's label, not the set's own")
	require.FileExists(t, filepath.Join(dir, "student", "encoder.jsonl"))

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nowhere to write":    {[]string{set}, "--out"},
		"no such file":        {[]string{"--out", dir, filepath.Join(dir, "absent.jsonl")}, "absent.jsonl"},
		"shares":              {[]string{"--out", dir, "--splits", "train=0.5", set}, "add up to 0.5"},
		"two teachers":        {[]string{"--out", dir, "--run", "r", "--labels", labels, set}, "not both"},
		"nothing is sure":     {[]string{"--out", dir, "--min-confidence", "0.5", "--labels", labels, set}, "no step is left"},
		"labels of something": {[]string{"--out", dir, "--labels", set, set}, "neither a label nor a reward"},
	} {
		_, err := export(t, c.args...)
		require.ErrorContains(t, err, c.want, name)
	}
}
