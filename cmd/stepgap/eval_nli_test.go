package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/nlieval"
)

func TestEvalWithoutDataMeasuresTheHandWrittenPairsAndSaysSo(t *testing.T) {
	t.Parallel()
	sets, missing, err := evalSets("")
	require.NoError(t, err)
	require.Len(t, sets, 1)
	require.Contains(t, missing, "the hand-written pairs stand alone")
	_, _, err = evalSets(t.TempDir())
	require.ErrorContains(t, err, "mnli_dev.csv")
}

func TestTheCardsTableIsRenewedInPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "card.md")
	r := nlieval.Report{Models: []nlieval.Model{{Name: "m", File: "model.onnx", Hash: "0123456789abcdef"}}}
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o600))
	require.ErrorContains(t, writeCardTable(path, r), "has no lines")

	require.NoError(t, os.WriteFile(path, []byte("before\n<!-- eval-nli: begin -->\nold\n<!-- eval-nli: end -->\nafter\n"), 0o600))
	require.NoError(t, writeCardTable(path, r))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "model `m@0123456789ab`")
	require.NotContains(t, string(text), "old")
	require.Regexp(t, `(?s)^before\n.*\nafter\n$`, string(text))
}

// A model named by its name in the models folder, with no file named, is
// measured under the names of the files that were opened.
func TestEvalNamesTheFilesThatItOpened(t *testing.T) {
	t.Parallel()
	dir, store := os.Getenv("STEPGAP_NLI_MODEL"), t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(store, "mine"), os.DirFS(dir)))
	for _, cfg := range []app.Config{{NLIModel: dir}, {NLIModel: "mine", Models: store}} {
		cfg.ORTLib, cfg.LogLevel = os.Getenv("STEPGAP_ORT_LIB"), "error"
		models, closeAll, err := openForEval(newRoot("test"), cfg, nil)
		require.NoError(t, err)
		require.Equal(t, "model.onnx", models[0].File)
		require.NoError(t, closeAll())
	}
}

// bench-nli finds a model as the other commands do, and refuses a file that its
// peers would not open.
func TestBenchTakesAModelByNameAndItsUsualFileAlone(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(store, "mine"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(store, "mine", "config.json"), []byte("{}"), 0o600))
	cfg := app.Config{NLIModel: "mine", Models: store, ORTLib: "lib.so"}
	model, library, err := benchModel(cfg)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(store, "mine"), "lib.so"}, []string{model, library})
	cfg.NLIFile = "model_int8.onnx"
	_, _, err = benchModel(cfg)
	require.ErrorContains(t, err, "model_int8.onnx")
}

func TestBenchRefusesAPeerThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	only, err := onlyRivals("bare_ort,infinity")
	require.NoError(t, err)
	require.True(t, only("infinity") && !only("crossencoder"))
	_, err = onlyRivals("bare_ort,inifnity")
	require.ErrorContains(t, err, "inifnity")
}
