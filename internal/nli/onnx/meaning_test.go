package onnx_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

// asymmetric are pairs of which each holds one way only: the first entails the
// second, and not the reverse.
var asymmetric = [][2]string{
	{"The painter Ana Ruel was born in Porto and died in Lyon in 1931.", "Ana Ruel died in Lyon."},
	{"Harrow Mill was built in 1790 by Josiah Pell, a miller from Kent.", "Josiah Pell built Harrow Mill."},
	{"Marta Ilves, a chemist, died on 3 May 1929 in Tartu after a short illness.", "Marta Ilves died in 1929."},
	{"Pavel Orlov, who played the violin, taught at the conservatory until 1954.", "Pavel Orlov played the violin."},
	{"The bridge was opened in 2004, is 1,204 metres long and carries two railway tracks.", "The bridge was opened in 2004."},
	{"Greta Lind wrote the novel in Bergen in 1958 and moved to Quito a year later.", "Greta Lind wrote the novel in 1958."},
}

// readsPairs tells whether a scorer takes premise and hypothesis for what they
// are, by asking the asymmetric pairs both ways.
func readsPairs(ctx context.Context, s scorer) error {
	for _, p := range asymmetric {
		for _, way := range []struct {
			pair    nli.Pair
			entails bool
		}{
			{nli.Pair{Premise: p[0], Hypothesis: p[1]}, true},
			{nli.Pair{Premise: p[1], Hypothesis: p[0]}, false},
		} {
			scores, err := s.Score(ctx, []nli.Pair{way.pair})
			if err != nil {
				return err
			}
			if (scores[0].Entailment > 0.5) != way.entails {
				return fmt.Errorf("%q => %q: %+v", way.pair.Premise, way.pair.Hypothesis, scores[0])
			}
		}
	}
	return nil
}

type scorer interface {
	Score(context.Context, []nli.Pair) ([]schema.Scores, error)
}

// swapped is a scorer that was built the wrong way round.
type swapped struct{ scorer }

func (s swapped) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	turned := make([]nli.Pair, len(pairs))
	for i, p := range pairs {
		turned[i] = nli.Pair{Premise: p.Hypothesis, Hypothesis: p.Premise}
	}
	return s.scorer.Score(ctx, turned)
}

func TestSwappedPremiseAndHypothesisAreNoticed(t *testing.T) {
	t.Parallel()
	b := nli.NewBatcher(openDefault(t), nli.BatcherOptions{})
	defer b.Close()
	require.NoError(t, readsPairs(t.Context(), b))
	require.Error(t, readsPairs(t.Context(), swapped{b}))
}

// TestPermutedLabelsAreRefused permutes id2label of the default model and of
// the tiny one in all the wrong ways. The reference knows what its logits mean.
func TestPermutedLabelsAreRefused(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	reference := map[string]string{
		model: filepath.Join("..", "..", "..", "models", "nli-minilm", "reference.json"),
		tiny:  filepath.Join(tiny, "reference.json"),
	}
	for dir, reference := range reference {
		for _, names := range [][3]string{
			{"neutral", "entailment", "contradiction"},
			{"contradiction", "neutral", "entailment"},
			{"entailment", "contradiction", "neutral"},
			{"neutral", "contradiction", "entailment"},
			{"contradiction", "entailment", "neutral"},
		} {
			t.Run(filepath.Base(dir)+"/"+strings.Join(names[:], ","), func(t *testing.T) {
				t.Parallel()
				own := fmt.Sprintf(`{"labels": {"0": %q, "1": %q, "2": %q}}`, names[0], names[1], names[2])
				wrong := withFiles(t, dir, map[string][]byte{"reference.json": read(t, reference), "stepgap.json": []byte(own)})
				m, err := onnx.Open(onnx.Options{Dir: wrong, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)})
				require.ErrorContains(t, err, "the label map is wrong")
				require.Nil(t, m)
			})
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// withFiles is a copy of a model folder in which files are replaced or added;
// nil leaves one out.
func withFiles(t *testing.T, dir string, files map[string][]byte) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	require.NoError(t, os.Mkdir(to, 0o755))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if _, replaced := files[e.Name()]; replaced {
			continue
		}
		abs, err := filepath.Abs(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.NoError(t, os.Symlink(abs, filepath.Join(to, e.Name())))
	}
	for name, data := range files {
		if data != nil {
			require.NoError(t, os.WriteFile(filepath.Join(to, name), data, 0o644))
		}
	}
	return to
}
