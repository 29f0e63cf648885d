package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/models"
)

// run runs a command of the program and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot("test")
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func builtModel(t *testing.T) (dir, library string) {
	t.Helper()
	dir, library = os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if dir == "" || library == "" {
		t.Skip("needs the default model and ONNX Runtime: STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB, as make sets them")
	}
	return dir, library
}

// A real model is pulled from a real web server, opened, damaged and refused.
func TestModelsPullVerifyListOnARealModel(t *testing.T) {
	t.Parallel()
	dir, library := builtModel(t)
	server := httptest.NewServer(http.StripPrefix("/nli/minilm", http.FileServer(http.Dir(dir))))
	defer server.Close()
	folder := t.TempDir()
	store := []string{"--models", folder}

	out, err := run(t, append([]string{"models", "pull", server.URL + "/nli/minilm", "--file", "model_int8.onnx"}, store...)...)
	require.NoError(t, err)
	require.Contains(t, out, "--nli-model minilm")
	require.Contains(t, out, "SHA256SUMS")

	found, file, err := app.ModelFolder(app.Config{NLIModel: "minilm", NLIFile: "model.onnx", Models: folder})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "minilm"), found)
	require.Equal(t, "model_int8.onnx", file, "the file it was pulled with")

	verify := append([]string{"models", "verify", "minilm", "--json", "--ort-lib", library}, store...)
	out, err = run(t, verify...)
	require.NoError(t, err)
	var all []verified
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Len(t, all, 1)
	require.True(t, all[0].Opened && all[0].Parity)

	var list []models.Entry
	out, err = run(t, append([]string{"models", "list", "--json"}, store...)...)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Equal(t, models.StateVerified, list[len(list)-1].State)
	out, err = run(t, append([]string{"models", "list"}, store...)...)
	require.NoError(t, err)
	require.Regexp(t, `minilm +verified`, out)

	config := filepath.Join(folder, "minilm", "config.json")
	b, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, bytes.ReplaceAll(b, []byte("entailment"), []byte("entailMENT")), 0o644))
	out, err = run(t, "models", "verify", "--hashes-only", "--models", folder)
	require.ErrorIs(t, err, models.ErrMismatch)
	require.ErrorContains(t, err, "config.json: sha256 ")
	require.ErrorContains(t, err, ", expected ")
	require.Contains(t, out, "NOT right")
}

// Right hashes are not a right model: one whose labels are in the wrong order
// fails its reference vectors.
func TestModelsVerifyOpensTheModel(t *testing.T) {
	t.Parallel()
	dir, library := builtModel(t)
	swapped := t.TempDir()
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "config.json", "model.onnx"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(swapped, name), b, 0o644))
	}
	reference, err := os.ReadFile(filepath.Join(dir, "reference.json"))
	require.NoError(t, err)
	var pairs []map[string]any
	require.NoError(t, json.Unmarshal(reference, &pairs))
	for _, p := range pairs {
		p["logits"].([]any)[0] = 9.5
	}
	reference, err = json.Marshal(pairs)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(swapped, "reference.json"), reference, 0o644))

	_, err = run(t, "models", "verify", swapped, "--ort-lib", library)
	require.ErrorContains(t, err, "refused")
	_, err = run(t, "models", "verify", swapped, "--hashes-only")
	require.ErrorContains(t, err, "nothing to compare")
}

func TestAModelThatIsNotThereIsNamedWithItsPull(t *testing.T) {
	t.Parallel()
	_, _, err := app.ModelFolder(app.Config{NLIModel: "deberta-v3-base", NLIFile: "model.onnx", Models: t.TempDir()})
	require.ErrorContains(t, err, "stepgap models pull deberta-v3-base")
	_, err = run(t, "models", "verify", "--models", t.TempDir())
	require.ErrorContains(t, err, "stepgap models pull NAME")
}

// A lock file is a file like any other: what stands in it may be anything.
func TestListPrintsALockFileWithAnOddCommit(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	dir := filepath.Join(folder, "mine")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range map[string]string{
		"config.json":   `{}`,
		models.LockFile: `{"format": 1, "name": "mine", "source": "me/mine", "commit": "v2", "model": "model.onnx"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	out, err := run(t, "models", "list", "--models", folder)
	require.NoError(t, err)
	require.Contains(t, out, "me/mine@v2")
}

func TestPullReportWritesPlainLinesWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := newPullReport(&out)
	r.Begin("model.onnx", 2_000_000, 500_000)
	r.Advance(1000)
	r.End("model.onnx")
	r.Note("a word")
	require.Equal(t, "model.onnx: 500.0 kB of 2.0 MB\nmodel.onnx: done\na word\n", out.String())
}

// A container's user often has no home; a model in a folder needs none.
func TestAModelInAFolderNeedsNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o644))
	found, file, err := app.ModelFolder(app.Config{NLIModel: dir, NLIFile: "model.onnx"})
	require.NoError(t, err)
	require.Equal(t, []string{dir, "model.onnx"}, []string{found, file})
	_, _, err = app.ModelFolder(app.Config{NLIModel: "deberta-v3-base", NLIFile: "model.onnx"})
	require.ErrorContains(t, err, "STEPGAP_MODELS")
}
