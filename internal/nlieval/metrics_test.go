package nlieval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeasure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		truth, predicted string
		accuracy, f1     float64
	}{
		"all right": {"encenc", "encenc", 1, 1},
		"all wrong": {"enc", "nce", 0, 0},
		// e: 1 of 2 found, 1 of 2 right: F1 0.5; c: the same. Neutral does not
		// occur, so that its F1 has no part in the mean.
		"two labels":         {"eecc", "ecec", 0.5, 0.5},
		"a label never used": {"eenc", "eeee", 0.5, (4.0 / 6) / 3},
	} {
		pairs, predicted := worded(c.truth, c.predicted)
		q := measure(pairs, predicted)
		require.InDelta(t, c.accuracy, q.Accuracy.Value, 1e-12, name)
		require.InDelta(t, c.f1, q.MacroF1.Value, 1e-12, name)
		require.LessOrEqual(t, q.Accuracy.Low, q.Accuracy.Value, name)
		require.GreaterOrEqual(t, q.Accuracy.High, q.Accuracy.Value, name)
		require.Equal(t, q, measure(pairs, predicted), name)
	}
}

// worded makes a pair a letter (e, n, c), each with a premise of its own.
func worded(truth, predicted string) ([]Pair, []Label) {
	pairs, out := make([]Pair, len(truth)), make([]Label, len(truth))
	for i := range truth {
		pairs[i] = Pair{Premise: fmt.Sprint("premise ", i), Hypothesis: "h", Label: Label(strings.IndexByte("enc", truth[i]))}
		out[i] = Label(strings.IndexByte("enc", predicted[i]))
	}
	return pairs, out
}

// Pairs of one premise are resampled together, which widens the interval.
func TestIntervalsAreByPremise(t *testing.T) {
	t.Parallel()
	pairs, predicted := worded(strings.Repeat("ec", 200), strings.Repeat("ee", 200))
	apart := measure(pairs, predicted).Accuracy
	for i := range pairs {
		pairs[i].Premise = fmt.Sprint("premise ", i%2*20+i/2%20)
	}
	together := measure(pairs, predicted).Accuracy
	require.Equal(t, apart.Value, together.Value)
	require.Greater(t, together.High-together.Low, 2*(apart.High-apart.Low))
}

func TestBaselinesFindWhatASetGivesAway(t *testing.T) {
	t.Parallel()
	var given, overlapping []Pair
	for i := range 100 {
		p := Pair{Premise: fmt.Sprintf("Mill %d stood by the river.", i), Label: Label(i % 2 * 2)}
		p.Hypothesis = []string{"The mill was large.", "The mill was never large."}[i%2]
		given = append(given, p)
		p.Hypothesis = []string{"The mill stood by the river.", "A castle burnt down yesterday."}[i%2]
		overlapping = append(overlapping, p)
	}
	b := baselines(given)
	require.InDelta(t, 0.5, b.Majority, 1e-12)
	require.InDelta(t, 1, b.Hypothesis, 1e-12)
	require.InDelta(t, 1, baselines(overlapping).Overlap, 1e-12)
}

func TestTables(t *testing.T) {
	t.Parallel()
	figure := Figure{Value: 0.5, Low: 0.25, High: 0.75}
	q := Quality{Accuracy: figure, MacroF1: figure}
	r := Report{
		Models: []Model{{Name: "m", File: "model.onnx", Hash: "aa"}, {Name: "m", File: "model_int8.onnx", Hash: "bb"}},
		Sets: []SetReport{
			{Name: "A", Part: "test", N: 7, Files: map[string]Result{"model.onnx": {Alone: q, Stage: q}, "model_int8.onnx": {Alone: q, Stage: q}}},
			{Name: "B", Part: "dev", N: 8, TwoWay: true, Files: map[string]Result{"model.onnx": {Alone: q, Stage: q}, "model_int8.onnx": {Alone: q, Stage: q}}},
		},
		Kinds:   []KindCount{{Kind: "date", N: 4, Alone: 1, Stage: 3}},
		Missing: map[string]string{"sets": "no folder"},
	}
	var text strings.Builder
	require.NoError(t, r.Print(&text))
	for _, table := range []string{text.String(), r.Markdown()} {
		require.Contains(t, table, "50.0 (25.0–75.0)")
		require.Contains(t, table, "B †")
		require.Contains(t, table, "3 (75 %)")
		require.Contains(t, table, "Not measured: sets: no folder")
		require.NotContains(t, table, "trained on these")
	}
	// Every row of a Markdown table has as many cells as its head.
	cells := 0
	for line := range strings.Lines(r.Markdown()) {
		switch n := strings.Count(line, "|"); {
		case n == 0:
			cells = 0
		case cells == 0:
			cells = n
		default:
			require.Equal(t, cells, n, "%q", line)
		}
	}
}
