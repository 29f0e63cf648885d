package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/annotate"
	"github.com/stepgap/stepgap/internal/eval/stepset"
)

const annotated = "../../examples/rollouts.jsonl"

// annotateAll runs the command as a person does, chooses on every step, and
// ends it.
func annotateAll(t *testing.T, folder, name string, choose func(annotate.Task) annotate.Choice) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	root := newRoot("test")
	root.SetOut(in)
	root.SetArgs([]string{"annotate", annotated, "--limit", "2", "--as", name, "--journal", folder})
	done := make(chan error, 1)
	go func() {
		err := root.ExecuteContext(ctx)
		done <- err
		in.CloseWithError(err)
	}()
	lines := bufio.NewScanner(out)
	url := ""
	for url == "" && lines.Scan() {
		if strings.HasPrefix(lines.Text(), "http://127.0.0.1:") {
			url = lines.Text()
		}
	}
	require.NotEmpty(t, url, "the page's address is printed")
	n := 0
	view := askPage(t, http.MethodGet, url+"api/step", nil)
	for ; view.Task != nil; n++ {
		view = askPage(t, http.MethodPost, url+"api/decide", annotate.Decision{Step: view.Task.Step, Digest: view.Task.Digest, Choice: choose(*view.Task)})
	}
	cancel()
	require.NoError(t, <-done)
	return n
}

func askPage(t *testing.T, method, url string, body any) annotate.View {
	t.Helper()
	sent, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(sent))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var v annotate.View
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&v))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return v
}

func runAnnotateCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot("test")
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"annotate"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestTwoAnnotatorsAgreeAndMakeASet(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	gap := func(label annotate.Choice) func(annotate.Task) annotate.Choice {
		return func(task annotate.Task) annotate.Choice {
			if task.Kind == "conclusion" {
				return label
			}
			return "none"
		}
	}
	n := annotateAll(t, folder, "ann", gap("missing_bridge"))
	require.Greater(t, n, 3)
	assert.Equal(t, n, annotateAll(t, folder, "ben", gap("irrelevant_evidence")))
	assert.Zero(t, annotateAll(t, folder, "ann", gap("none")), "what was decided stays so")

	out, err := runAnnotateCommand(t, "agree", annotated, "--limit", "2", "--journal", folder)
	require.NoError(t, err)
	assert.Contains(t, out, "ann and ben:")
	assert.Contains(t, out, "kappa")

	set := filepath.Join(t.TempDir(), "set.jsonl")
	disputes := filepath.Join(t.TempDir(), "disputes.jsonl")
	out, err = runAnnotateCommand(t, "export", annotated, "--limit", "2", "--journal", folder, "--out", set, "--disputes", disputes)
	require.NoError(t, err)
	assert.Contains(t, out, "2 disputed")
	made, err := stepset.Open(set)
	require.NoError(t, err)
	assert.Equal(t, n-2, made.Count().Steps)
	body, err := os.ReadFile(disputes)
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(body), "\n"))

	// The set goes round again, with its labels out of sight.
	labels := filepath.Join(t.TempDir(), "labels.jsonl")
	require.NoError(t, os.WriteFile(labels, []byte(`{"source":"nobody's","steps":[{"index":1,"label":"none"}]}`), 0o644))
	out, err = runAnnotateCommand(t, "agree", annotated, "--limit", "2", "--journal", folder, "--labels", labels, "--json")
	require.NoError(t, err)
	var report struct{ Agreements []annotate.Agreement }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Agreements, 3)
	assert.Equal(t, n, report.Agreements[0].Steps)
	assert.Zero(t, report.Agreements[1].Steps)
}

func TestAnnotateSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for said, args := range map[string][]string{
		`"as" not set`:    {annotated},
		"no such file":    {"nowhere.jsonl", "--as", "ann"},
		"this machine":    {annotated, "--as", "ann", "--listen", "0.0.0.0:0", "--journal", folder},
		"no journals in":  {"export", annotated, "--out", filepath.Join(folder, "x"), "--journal", t.TempDir()},
		"label some step": {"agree", annotated, "--journal", t.TempDir()},
	} {
		_, err := runAnnotateCommand(t, args...)
		assert.ErrorContains(t, err, said, args)
	}
}
