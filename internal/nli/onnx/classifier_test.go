package onnx_test

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stretchr/testify/require"
)

var fourLabels = []string{"none", "contradicted_claim", "irrelevant_evidence", "missing_bridge"}

func four(names ...string) folder {
	return folder{configOf(names...), "deberta-tiny", map[string]string{"model.onnx": "four_labels.onnx"}, ""}
}

func openFour(t *testing.T, f folder) (*onnx.Classifier, error) {
	t.Helper()
	_, library := paths(t)
	return onnx.OpenClassifier(onnx.Options{Dir: f.write(t), Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, fourLabels, onnx.ClassifierOptions{})
}

func TestClassifierGivesProbabilitiesByName(t *testing.T) {
	t.Parallel()
	pair := nli.Pair{Premise: "The mill was built in 1790.", Hypothesis: "Who built it? | the mill | Orrin Vale built the mill."}
	given, err := openFour(t, four(fourLabels...))
	require.NoError(t, err)
	defer given.Close()
	enc, err := given.Encode(pair)
	require.NoError(t, err)
	logits := graphLogits(enc, 4)
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(l)
	}
	got, err := given.Classify(t.Context(), pair)
	require.NoError(t, err)
	for i := range got {
		require.InDelta(t, math.Exp(logits[i])/sum, got[i], 1e-4)
	}
	require.InDelta(t, 1, got[0]+got[1]+got[2]+got[3], 1e-12)

	other, err := openFour(t, four("MISSING_BRIDGE", "none", "irrelevant_evidence", "contradicted_claim"))
	require.NoError(t, err)
	defer other.Close()
	require.NotEqual(t, given.Info().Hash, other.Info().Hash)
	moved, err := other.Classify(t.Context(), pair)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{got[1], got[3], got[2], got[0]}, moved, 1e-12)
}

func TestClassifierIsTheSameWhateverRunsBesideIt(t *testing.T) {
	t.Parallel()
	c, err := openFour(t, four(fourLabels...))
	require.NoError(t, err)
	pair := func(i int) nli.Pair {
		return nli.Pair{Premise: strings.Repeat("The mill was built. ", 1+i%7), Hypothesis: strings.Repeat("a", 1+i)}
	}
	alone := make([][]float64, 40)
	for i := range alone {
		alone[i], err = c.Classify(t.Context(), pair(i))
		require.NoError(t, err)
	}
	require.NoError(t, c.Close())
	again, err := openFour(t, four(fourLabels...))
	require.NoError(t, err)
	var together sync.WaitGroup
	for i := range alone {
		together.Go(func() {
			got, err := again.Classify(t.Context(), pair(i))
			if err != nil || !equal(got, alone[i]) {
				t.Errorf("pair %d: %v, %v alone: %v", i, got, alone[i], err)
			}
		})
	}
	together.Wait()
	require.NoError(t, again.Close())
	require.Zero(t, again.Tensors())
	_, err = again.Classify(t.Context(), nli.Pair{Premise: "new", Hypothesis: "new"})
	require.ErrorIs(t, err, nli.ErrClosed)
}

func equal(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestClassifierNeverCutsAPair(t *testing.T) {
	t.Parallel()
	c, err := openFour(t, four(fourLabels...))
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Classify(t.Context(), nli.Pair{Premise: strings.Repeat("The mill was built. ", 200), Hypothesis: "x"})
	require.ErrorIs(t, err, nli.ErrTooLong)
}

func TestClassifiersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		folder folder
		want   []string
	}{
		"an NLI model":     {folder{three(), "deberta-tiny", map[string]string{"model.onnx": "plain.onnx"}, ""}, []string{"3 classes", "4 labels are expected", "missing_bridge"}},
		"another label":    {four("none", "contradicted_claim", "irrelevant_evidence", "bridge"), []string{`"bridge"`, "missing_bridge"}},
		"a label twice":    {four("none", "none", "irrelevant_evidence", "missing_bridge"), []string{"two classes", `"none"`}},
		"three outputs":    {folder{configOf(fourLabels...), "deberta-tiny", map[string]string{"model.onnx": "plain.onnx"}, ""}, []string{"shape (batch, 4)"}},
		"names say naught": {four("LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3"), []string{"LABEL_0", "none"}},
	} {
		_, err := openFour(t, c.folder)
		require.Error(t, err, name)
		for _, want := range c.want {
			require.ErrorContains(t, err, want, name)
		}
	}
}

func TestClassifierIsHeldToItsReference(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	dir := four(fourLabels...).write(t)
	open := func() (*onnx.Classifier, error) {
		return onnx.OpenClassifier(onnx.Options{Dir: dir, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, fourLabels, onnx.ClassifierOptions{})
	}
	c, err := open()
	require.NoError(t, err)
	pair := nli.Pair{Premise: "The mill was built.", Hypothesis: "a mill"}
	enc, err := c.Encode(pair)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for name, wrong := range map[string]float64{"right": 0, "wrong": 0.01} {
		logits := graphLogits(enc, 4)
		logits[2] += wrong
		data, err := json.Marshal([]map[string]any{{"premise": pair.Premise, "hypothesis": pair.Hypothesis, "ids": enc.IDs, "logits": logits}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "reference.json"), data, 0o600))
		c, err := open()
		if wrong != 0 {
			require.ErrorContains(t, err, "differ from", name)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, c.Info().Reference)
		require.NoError(t, c.Close())
	}
}
