package nliworker_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// TestTinyDebertaLabels takes the project's own DeBERTa-v2 from its folder to
// labels: load, encode, batch, decide. It memorized these pairs.
func TestTinyDebertaLabels(t *testing.T) {
	t.Parallel()
	library := os.Getenv("STEPGAP_ORT_LIB")
	if library == "" {
		t.Skip("STEPGAP_ORT_LIB is not set (make test sets it)")
	}
	dir := filepath.Join("..", "..", "internal", "nli", "onnx", "testdata", "deberta-tiny")
	data, err := os.ReadFile(filepath.Join(dir, "pairs.json"))
	require.NoError(t, err)
	var pairs []struct{ Premise, Hypothesis, Gold string }
	require.NoError(t, json.Unmarshal(data, &pairs))
	opts := nliworker.Defaults()
	opts.Guard = false // the label is to be the model's
	want := map[string]schema.Gap{"entailment": schema.GapNone, "neutral": schema.GapMissingBridge, "contradiction": schema.GapContradicted}
	for _, file := range []string{"model.onnx", "model_tt.onnx", "model_fp16.onnx", "model_int8.onnx"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s, err := onnx.OpenScorer(onnx.Options{Dir: dir, File: file, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, nli.BatcherOptions{})
			require.NoError(t, err)
			defer s.Close()
			d, err := nliworker.NewLocal(s, opts)
			require.NoError(t, err)
			for _, p := range pairs {
				evidence := passage("", p.Premise, 3)
				got, err := d.Decide(t.Context(), &tree.Item{Step: step(p.Hypothesis, evidence), Quotes: []schema.Quote{quoteOf(evidence, p.Premise)}})
				require.NoError(t, err)
				require.Equal(t, want[p.Gold], got.Gap, "%q => %q: %+v", p.Premise, p.Hypothesis, got.Entry.Scores)
				require.Equal(t, s.Info().Short(), got.Entry.Model)
			}
		})
	}
}

// turned asks its model every pair the wrong way round.
type turned struct{ nli.Scorer }

func (s turned) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	swapped := make([]nli.Pair, len(pairs))
	for i, p := range pairs {
		swapped[i] = nli.Pair{Premise: p.Hypothesis, Hypothesis: p.Premise}
	}
	return s.Scorer.Score(ctx, swapped)
}

// TestSwappedPairsChangeLabels: claims that hold one way only tell whether D
// hands premise and hypothesis over in that order.
func TestSwappedPairsChangeLabels(t *testing.T) {
	t.Parallel()
	s := realScorer(t)
	opts := nliworker.Defaults()
	opts.Guard = false
	label := func(s nli.Scorer, premise, claim string) schema.Gap {
		d, err := nliworker.NewLocal(s, opts)
		require.NoError(t, err)
		evidence := passage("", premise, 3)
		got, err := d.Decide(t.Context(), &tree.Item{Step: step(claim, evidence), Quotes: []schema.Quote{quoteOf(evidence, premise)}})
		require.NoError(t, err)
		return got.Gap
	}
	for _, p := range [][2]string{
		{"The painter Ana Ruel was born in Porto and died in Lyon in 1931.", "Ana Ruel died in Lyon."},
		{"Harrow Mill was built in 1790 by Josiah Pell, a miller from Kent.", "Josiah Pell built Harrow Mill."},
		{"Pavel Orlov, who played the violin, taught at the conservatory until 1954.", "Pavel Orlov played the violin."},
	} {
		require.Equal(t, schema.GapNone, label(s, p[0], p[1]), p)
		require.NotEqual(t, schema.GapNone, label(turned{s}, p[0], p[1]), p)
		require.NotEqual(t, schema.GapNone, label(s, p[1], p[0]), p)
	}
}

// twoWay is a scorer over a model of two labels.
type twoWay struct{ rules }

func (s *twoWay) Info() nli.Info {
	i := s.rules.Info()
	i.TwoWay = true
	return i
}

func TestTwoLabelModelsSayThatTheyCannotContradict(t *testing.T) {
	t.Parallel()
	s := &twoWay{rules{rules: []rule{{premise: "Hull", hypothesis: "Hull", entail: 0.9}}}}
	vale := passage("Orrin Vale", "Orrin Vale was born in Hull.", 3)
	opts := nliworker.Defaults()
	d, err := nliworker.NewLocal(s, opts)
	require.NoError(t, err)
	for claim, want := range map[string]schema.Gap{
		"Orrin Vale was born in Hull.": schema.GapNone,
		"Orrin Vale had a sister.":     schema.GapMissingBridge,
	} {
		got, err := d.Decide(t.Context(), &tree.Item{Step: step(claim, vale), Quotes: []schema.Quote{quoteOf(vale, vale.Text)}})
		require.NoError(t, err)
		require.Equal(t, want, got.Gap, claim)
		require.Contains(t, got.Entry.Flags, "no_contradiction", claim)
	}
}
