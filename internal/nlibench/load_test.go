package nlibench

import (
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stretchr/testify/require"
)

func TestLoadHasNoPairTwice(t *testing.T) {
	t.Parallel()
	a, b, c := nli.Pair{Premise: "a", Hypothesis: "x"}, nli.Pair{Premise: "b", Hypothesis: "x"}, nli.Pair{Premise: "a [SEP] b", Hypothesis: "x"}
	l := NewLoad(Comparable([][]nli.Pair{{a, b, a}, {b}, {c}, {{Premise: "c", Hypothesis: "y"}}}), 7)
	require.Equal(t, [][][2]string{{{"a", "x"}, {"b", "x"}}, {{"c", "y"}}}, l.Requests, "repeats and special tokens are left out, and what is then empty")
	require.Len(t, l.Gaps, 2)
	require.Equal(t, l, NewLoad([][]nli.Pair{{a, b}, {{Premise: "c", Hypothesis: "y"}}}, 7), "the seed alone decides the arrivals")

	file := filepath.Join(t.TempDir(), "load.json")
	require.NoError(t, l.Write(file))
	read, err := ReadLoad(file)
	require.NoError(t, err)
	require.Equal(t, l, read)
	require.Equal(t, 1, l.First(1))
	require.Equal(t, 2, l.First(3))
	require.Equal(t, 2, l.First(99))
	require.Equal(t, 3, l.Pairs(2))
}

func TestInterleave(t *testing.T) {
	t.Parallel()
	one := func(name string) []nli.Pair { return []nli.Pair{{Premise: name}} }
	require.Equal(t, [][]nli.Pair{one("a1"), one("b1"), one("a2"), one("a3")},
		interleave([][][]nli.Pair{{one("a1"), one("a2"), one("a3")}, {one("b1")}, nil}))
	require.Empty(t, interleave(nil))
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	values := []float64{4, 1, 3, 2}
	require.InDelta(t, 2.5, median(values), 1e-12)
	require.InDelta(t, 1.0, quantile(values, 0), 1e-12)
	require.InDelta(t, 4.0, quantile(values, 1), 1e-12)
	require.Equal(t, []float64{4, 1, 3, 2}, values, "the rounds stay in their order")
}

func TestLastOf(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]int{"0\n": 0, "\t0-3\n": 3, "0-3,8": 8, "0,2-5": 5} {
		got, err := lastOf(list)
		require.NoError(t, err, list)
		require.Equal(t, want, got, list)
	}
	_, err := lastOf("\n")
	require.Error(t, err)
}
