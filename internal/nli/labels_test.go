package nli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseLabels(t *testing.T) {
	t.Parallel()
	two := func(entailed, not int) LabelOrder { return LabelOrder{entailed, not, -1} }
	for _, c := range []struct {
		in   map[int]string
		want LabelOrder
		err  string
	}{
		{map[int]string{0: "entailment", 1: "neutral", 2: "contradiction"}, LabelOrder{0, 1, 2}, ""},
		{map[int]string{2: "ENTAILMENT", 1: "NEUTRAL", 0: "CONTRADICTION"}, LabelOrder{2, 1, 0}, ""},
		{map[int]string{0: "Contradiction", 1: "Entailment", 2: "Neutral"}, LabelOrder{1, 2, 0}, ""},
		{map[int]string{0: "SUPPORTS", 1: "REFUTES", 2: "NOT_ENOUGH_INFO"}, LabelOrder{0, 2, 1}, ""},
		{map[int]string{0: "entailment", 1: "not_entailment"}, two(0, 1), ""},
		{map[int]string{0: "Not-Supported", 1: "Supported"}, two(1, 0), ""},
		{map[int]string{0: "hallucinated", 1: "consistent"}, two(1, 0), ""},
		{map[int]string{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, LabelOrder{}, "says nothing"},
		{map[int]string{0: "LABEL_0", 1: "LABEL_1"}, LabelOrder{}, `{"labels": {"0": "not_entailment", "1": "entailment"}}`},
		{map[int]string{0: "LABEL_0"}, LabelOrder{}, "one output"},
		{map[int]string{0: "entailment", 1: "contradiction"}, LabelOrder{}, "of two the other is not_entailment"},
		{map[int]string{0: "entailment", 1: "neutral", 2: "unsupported"}, LabelOrder{}, "of three the others"},
		{map[int]string{0: "neutral", 1: "contradiction", 2: "not entailed"}, LabelOrder{}, "of three the others"},
		{map[int]string{0: "not_entailment", 1: "unsupported"}, LabelOrder{}, "twice"},
		{map[int]string{0: "entailment", 1: "entails", 2: "neutral"}, LabelOrder{}, "twice"},
		{map[int]string{0: "entailment", 1: "neutral", 7: "contradiction"}, LabelOrder{}, "ids 0 to 2"},
		{map[int]string{1: "entailment", 2: "not_entailment"}, LabelOrder{}, "ids 0 to 1"},
		{map[int]string{0: "a", 1: "b", 2: "c", 3: "d"}, LabelOrder{}, "4 classes"},
		{nil, LabelOrder{}, "missing"},
	} {
		got, err := ParseLabels(c.in)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%v", c.in)
			continue
		}
		require.NoError(t, err, "%v", c.in)
		require.Equal(t, c.want, got, "%v", c.in)
		require.Equal(t, len(c.in), got.Classes(), "%v", c.in)
		require.Equal(t, len(c.in) == 3, got.CanContradict(), "%v", c.in)
	}
}

func TestTwoWayScoresLeaveContradictionOut(t *testing.T) {
	t.Parallel()
	order := LabelOrder{Entailment: 1, Neutral: 0, Contradiction: -1}
	require.Equal(t, "not_entailment, entailment", order.String())
	s, err := Probabilities(order.Logits([]float32{-1, 2}))
	require.NoError(t, err)
	require.Zero(t, s.Contradiction)
	require.InDelta(t, 1, s.Entailment+s.Neutral, 1e-12)
	require.InDelta(t, 0.9526, s.Entailment, 1e-4) // 1 / (1 + e^-3)
}
