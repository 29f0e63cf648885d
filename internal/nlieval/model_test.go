package nlieval

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

// letters counts a token a letter.
type letters struct{}

func (letters) CountTokens(text string) (int, error) { return utf8.RuneCountInString(text), nil }

func TestDivideKeepsEveryWordInOrderAndEveryPieceShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	endless := strings.Repeat("x", 500)
	p := Pair{Sentences: []string{"One.", "", "Two.", long, endless, "Three."}}
	pieces, err := divide(p, letters{})
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(strings.Join(p.Sentences, ""), " ", ""), strings.ReplaceAll(strings.Join(pieces, ""), " ", ""))
	require.True(t, strings.HasPrefix(pieces[0], "One. Two."))
	for _, piece := range pieces {
		require.LessOrEqual(t, utf8.RuneCountInString(piece), pieceTokens+len(p.Sentences), "%q", piece)
	}
	_, err = divide(Pair{Sentences: []string{""}}, letters{})
	require.ErrorContains(t, err, "no text")
}

// realModel opens the default model, or skips where make didn't set it.
func realModel(t *testing.T) Scorer {
	t.Helper()
	model, library := os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if model == "" || library == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	s, err := onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, nli.BatcherOptions{MaxRows: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return Scorer{File: "model.onnx", Scorer: s}
}

// faulty is a scorer with a fault that nothing but its figures shows.
type faulty struct {
	nli.Scorer
	pair   func(nli.Pair) nli.Pair
	scores func(schema.Scores) schema.Scores
}

func (f faulty) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	asked := make([]nli.Pair, len(pairs))
	for i, p := range pairs {
		asked[i] = f.pair(p)
	}
	scores, err := f.Scorer.Score(ctx, asked)
	out := make([]schema.Scores, len(scores))
	for i, s := range scores {
		out[i] = f.scores(s)
	}
	return out, err
}

// A floor on hand-written pairs of the kinds that the default model is good at.
// It does not clear it with premise and hypothesis or with two labels exchanged.
func TestTheFloorShowsSwappedPairsAndLabels(t *testing.T) {
	t.Parallel()
	model := realModel(t)
	hand, err := Hand()
	require.NoError(t, err)
	hand.Pairs = slices.DeleteFunc(hand.Pairs, func(p Pair) bool {
		return !slices.Contains([]string{"name", "date", "paraphrase", "bridge", "unstated"}, p.Kind)
	})
	right := func(s nli.Scorer) float64 {
		predicted, err := alone(t.Context(), s, hand)
		require.NoError(t, err)
		return measure(hand.Pairs, predicted).MacroF1.Value
	}
	samePair := func(p nli.Pair) nli.Pair { return p }
	sameScores := func(s schema.Scores) schema.Scores { return s }
	const floor = 0.65
	require.Greater(t, right(model), floor)
	for name, f := range map[string]faulty{
		"premise and hypothesis": {model, func(p nli.Pair) nli.Pair { return nli.Pair{Premise: p.Hypothesis, Hypothesis: p.Premise} }, sameScores},
		"entailment and contradiction": {model, samePair, func(s schema.Scores) schema.Scores {
			s.Entailment, s.Contradiction = s.Contradiction, s.Entailment
			return s
		}},
		"entailment and neutral": {model, samePair, func(s schema.Scores) schema.Scores {
			s.Entailment, s.Neutral = s.Neutral, s.Entailment
			return s
		}},
		"neutral and contradiction": {model, samePair, func(s schema.Scores) schema.Scores {
			s.Neutral, s.Contradiction = s.Contradiction, s.Neutral
			return s
		}},
	} {
		got := right(f)
		t.Logf("%s exchanged: macro-F1 %.3f", name, got)
		require.Less(t, got, floor, name)
	}
}

func TestTheSameFiguresTwice(t *testing.T) {
	t.Parallel()
	model := realModel(t)
	hand, err := Hand()
	require.NoError(t, err)
	hand.Pairs = hand.Pairs[:20]
	first, err := evaluate(t.Context(), model, hand)
	require.NoError(t, err)
	second, err := evaluate(t.Context(), realModel(t), hand)
	require.NoError(t, err)
	require.Equal(t, first, second)
}
