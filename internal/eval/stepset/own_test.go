package stepset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

func ownSet(t *testing.T) stepset.Set {
	t.Helper()
	set, err := stepset.Own()
	require.NoError(t, err)
	return set
}

func TestOwnSetIsLargeAndVaried(t *testing.T) {
	t.Parallel()
	set := ownSet(t)
	c := set.Count()
	require.GreaterOrEqual(t, c.Questions, 60)
	require.GreaterOrEqual(t, c.Steps, 150)
	share := func(n int) float64 { return 100 * float64(n) / float64(c.Steps) }
	require.InDelta(t, 45, share(c.Labels[schema.GapNone]), 4)
	require.InDelta(t, 22, share(c.Labels[schema.GapContradicted]), 4)
	require.InDelta(t, 15, share(c.Labels[schema.GapMissingBridge]), 4)
	require.InDelta(t, 18, share(c.Labels[schema.GapIrrelevant]), 4)
	require.InDelta(t, 33, share(c.Splits[stepset.SplitHeld]), 5)
	require.Equal(t, c.Steps, c.Splits[stepset.SplitDev]+c.Splits[stepset.SplitHeld])
	require.GreaterOrEqual(t, c.Kinds[schema.KindConclusion], 50)
	require.GreaterOrEqual(t, c.Abstains, 20)
	for _, kind := range []string{"name_alike", "namesake", "number", "date", "negation", "role_swap", "paraphrase", "comparison",
		"yes_no", "several_claims", "unit", "arithmetic", "memory", "abstain_justified", "abstain_unjustified"} {
		require.Positive(t, c.Perturbed[kind], kind)
	}
}

func TestOwnSetKeepsItsRules(t *testing.T) {
	t.Parallel()
	set := ownSet(t)
	questions := map[string]string{}
	for it := range set.Items() {
		s := it.Step
		require.NotEmpty(t, s.Why, it.ID)
		require.NotZero(t, s.Sure, it.ID)
		if first, ok := questions[it.Rollout.Question]; ok {
			require.Equal(t, first, it.Rollout.QuestionID, "two ids for %q", it.Rollout.Question)
		}
		questions[it.Rollout.Question] = it.Rollout.QuestionID
		if s.Abstains {
			require.Empty(t, s.Claim, it.ID)
		}
		if s.Kind == schema.KindConclusion {
			require.NotEqual(t, schema.GapMissingBridge, s.Label, "%s: the rubric gives a conclusion none, CC or IE", it.ID)
		}
		if s.Label == schema.GapContradicted && s.Kind == schema.KindSearch {
			require.NotEmpty(t, s.Quote, "%s: something must stand against it", it.ID)
		}
	}
	for got, err := range set.Transcripts() {
		require.NoError(t, err)
		require.Empty(t, got.Warnings, got.ID)
	}
}

// A label must not be told from the length of a claim, from where a step
// stands, from how much was fetched, or from words alone.
func TestTrivialBaselinesDoNotCrackTheOwnSet(t *testing.T) {
	t.Parallel()
	set := ownSet(t)
	for name, ba := range trivial(&set) {
		require.Less(t, ba, 62.0, name)
	}
}
