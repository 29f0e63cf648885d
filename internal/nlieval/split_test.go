package nlieval

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// dataFolder is the data set's, or the test is skipped.
func dataFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("STEPGAP_DATA")
	if folder == "" {
		t.Skip("STEPGAP_DATA is not set")
	}
	return folder
}

// The training's rule in Python gives these answers; see test_train.py.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	for premise, want := range map[string]bool{
		"A dog runs.": false, "The ferry sank in 1938.": false, "Premise 17": false, "Premise 27": true, "  PREMISE 27 ": true,
	} {
		require.Equal(t, want, leftOut(premise), "%q", premise)
	}
}

func TestUnseenDropsTrainedPremisesAndRepeats(t *testing.T) {
	t.Parallel()
	held := []Pair{
		{Premise: "A.", Hypothesis: "B."},
		{Premise: "C.", Hypothesis: "B."},
		{Premise: " c. ", Hypothesis: "b."},
		{Premise: "C.", Hypothesis: "D."},
	}
	require.Equal(t, []Pair{held[1], held[3]}, unseen(held, map[string]bool{"a.": true}))
}

func TestSetsAreThoseOfTheSplit(t *testing.T) {
	t.Parallel()
	sets, err := Sets(dataFolder(t)) // checks every digest
	require.NoError(t, err)
	require.Len(t, sets, 7)
}

func TestAnotherVersionOfASetIsRefused(t *testing.T) {
	t.Parallel()
	hand, err := Hand()
	require.NoError(t, err)
	hand.Pairs = hand.Pairs[1:]
	require.ErrorContains(t, checkSplit(hand), "another version")
	hand.Name = "other"
	require.ErrorContains(t, checkSplit(hand), "not in split.json")
}

func TestHandPairs(t *testing.T) {
	t.Parallel()
	hand, err := Hand()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(hand.Pairs), 200)
	kinds := map[string]map[Label]int{}
	for _, p := range hand.Pairs {
		if kinds[p.Kind] == nil {
			kinds[p.Kind] = map[Label]int{}
		}
		kinds[p.Kind][p.Label]++
		require.NotEmpty(t, p.Premise)
		require.NotEmpty(t, p.Hypothesis)
	}
	// A kind of changes has unchanged claims too, so that saying
	// "contradiction" to everything is no success.
	for _, kind := range []string{"number", "date", "name", "negation", "quantity", "unit", "role", "entity"} {
		require.Positive(t, kinds[kind][Entailment], kind)
		require.Positive(t, kinds[kind][Contradiction], kind)
	}
}
