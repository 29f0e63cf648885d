package onnx_test

import (
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"
)

// variedPairs are pairs of many lengths, none like another.
func variedPairs(n int) []nli.Pair {
	rng := rand.New(rand.NewPCG(7, 9))
	words := strings.Fields("the mill river bridge was built opened sold in 1790 1845 2004 by a miller widow from Kent Porto Lyon and its tallest pier is 343 metres long never before")
	text := func(most int) string {
		var b strings.Builder
		for range 2 + rng.IntN(most) {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return strings.TrimSpace(b.String()) + "."
	}
	pairs := make([]nli.Pair, n)
	for i := range pairs {
		pairs[i] = nli.Pair{Premise: text(60), Hypothesis: text(12)}
	}
	return pairs
}

func bits(l nli.Logits) [3]uint32 {
	return [3]uint32{math.Float32bits(l.Entailment), math.Float32bits(l.Neutral), math.Float32bits(l.Contradiction)}
}

// TestFloatLogitsAreTheSameBitsInAnyBatch draws batches at random: the fp32
// logits of a pair must be the very bits that it gets alone, with one thread
// and with several.
func TestFloatLogitsAreTheSameBitsInAnyBatch(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	pairs := variedPairs(24)
	for _, threads := range []int{1, 2} {
		m := open(t, onnx.Options{Dir: model, Library: library, Device: "cpu", Threads: threads})
		encs := make([]nli.Encoding, len(pairs))
		alone := make([]nli.Logits, len(pairs))
		for i, p := range pairs {
			var err error
			encs[i], err = m.Encode(p)
			require.NoError(t, err)
			rows, err := m.Run(t.Context(), encs[i:i+1])
			require.NoError(t, err)
			alone[i] = rows[0]
		}
		checked := 0
		rapid.Check(t, func(t *rapid.T) {
			if checked++; checked > 25 { // each costs up to a second of compute
				return
			}
			chosen := rapid.SliceOfN(rapid.IntRange(0, len(pairs)-1), 2, 9).Draw(t, "batch")
			batch := make([]nli.Encoding, len(chosen))
			for k, i := range chosen {
				batch[k] = encs[i]
			}
			rows, err := m.Run(t.Context(), batch)
			require.NoError(t, err)
			for k, i := range chosen {
				require.Equal(t, bits(alone[i]), bits(rows[k]), "pair %d (%d tokens) with %d threads: alone %+v, in the batch %+v", i, encs[i].Len(), threads, alone[i], rows[k])
			}
		})
	}
}

func int8Model(t *testing.T) (dir, library string) {
	t.Helper()
	dir, library = paths(t)
	if _, err := os.Stat(filepath.Join(dir, "model_int8.onnx")); err != nil {
		t.Skip("the model folder has no model_int8.onnx")
	}
	return dir, library
}

// scoreAll scores every pair twice over: in one request, and from many callers
// at once, with pairs of different lengths beside each other.
func scoreAll(t *testing.T, s *onnx.Scorer, pairs []nli.Pair) [][]schema.Scores {
	t.Helper()
	one, err := s.Score(t.Context(), pairs)
	require.NoError(t, err)
	many := make([]schema.Scores, len(pairs))
	var group errgroup.Group
	for i := range pairs {
		group.Go(func() error {
			got, err := s.Score(t.Context(), pairs[i:i+1])
			if err == nil {
				many[i] = got[0]
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	return [][]schema.Scores{one, many}
}

// TestQuantisedScoresDoNotDependOnTheBatch: an int8 model whose logits move with
// the batch runs its pairs one at a time, by itself.
func TestQuantisedScoresDoNotDependOnTheBatch(t *testing.T) {
	t.Parallel()
	dir, library := int8Model(t)
	pairs := variedPairs(24)
	m := open(t, onnx.Options{Dir: dir, File: "model_int8.onnx", Library: library, Device: "cpu", Threads: 1})
	want := make([]schema.Scores, len(pairs))
	for i, p := range pairs {
		e, err := m.Encode(p)
		require.NoError(t, err)
		rows, err := m.Run(t.Context(), []nli.Encoding{e})
		require.NoError(t, err)
		want[i], err = nli.Probabilities(rows[0])
		require.NoError(t, err)
	}
	for _, mode := range []string{"", "on"} {
		var log strings.Builder
		s, err := onnx.OpenScorer(onnx.Options{Dir: dir, File: "model_int8.onnx", Library: library, Device: "cpu", Deterministic: mode,
			Log: slog.New(slog.NewTextHandler(&log, nil))}, nli.BatcherOptions{CacheSize: -1, MaxPadding: 0.9})
		require.NoError(t, err)
		require.Contains(t, log.String(), "run one at a time")
		for _, got := range scoreAll(t, s, pairs) {
			require.Equal(t, want, got)
		}
		require.NoError(t, s.Close())
	}
}

// TestQuantisedScoresMoveWithTheBatchIfAllowed shows that the fault that the
// default guards against is there.
func TestQuantisedScoresMoveWithTheBatchIfAllowed(t *testing.T) {
	t.Parallel()
	dir, library := int8Model(t)
	m := open(t, onnx.Options{Dir: dir, File: "model_int8.onnx", Library: library, Device: "cpu"})
	var encs []nli.Encoding
	for _, p := range variedPairs(8) {
		e, err := m.Encode(p)
		require.NoError(t, err)
		encs = append(encs, e)
	}
	together, err := m.Run(t.Context(), encs)
	require.NoError(t, err)
	moved := 0
	for i := range encs {
		alone, err := m.Run(t.Context(), encs[i:i+1])
		require.NoError(t, err)
		if bits(alone[0]) != bits(together[i]) {
			moved++
		}
	}
	require.Positive(t, moved)
}

func TestFloatModelIsBatched(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	var log strings.Builder
	s, err := onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Device: "cpu", Deterministic: "on", Log: slog.New(slog.NewTextHandler(&log, nil))}, nli.BatcherOptions{CacheSize: -1})
	require.NoError(t, err)
	require.NotContains(t, log.String(), "one at a time", "fp32 batches keep every bit, so `on` costs nothing")
	got := scoreAll(t, s, variedPairs(24))
	require.Equal(t, got[0], got[1])
	require.Less(t, s.Stats().Batches, s.Stats().Pairs)
	require.NoError(t, s.Close())
	require.Zero(t, s.Tensors())
	_, err = onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Deterministic: "maybe"}, nli.BatcherOptions{})
	require.ErrorContains(t, err, "none of auto, on, off")
}
