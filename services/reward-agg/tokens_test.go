package rewardagg

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/pkg/schema"
)

// returns gives every token what follows it: the sum of the rewards anchored at
// the end of its own character or later. Tokens are single characters here, so
// that no tokenizer's cuts get in the way.
func returns(r schema.Reward, length int) []float64 {
	at := make([]float64, length)
	put := func(v *float64, sp *schema.Span) {
		if v != nil && sp != nil {
			at[sp.End-1] += *v
		}
	}
	for _, s := range r.Steps {
		put(s.Base, s.BaseAt)
		put(s.Shape, s.ShapeAt)
	}
	for i := length - 2; i >= 0; i-- {
		at[i] += at[i+1]
	}
	return at
}

// TestSummedOverWhatFollows: the tokens of a repairing query get its shape, and
// those of a claim its base.
func TestSummedOverWhatFollows(t *testing.T) {
	t.Parallel()
	miss := gap(schema.GapIrrelevant, "Ada Lovelace birth", "The Lovelace is a hotel.")
	mend := ok("Countess of Lovelace baptism 1815", "She was born in 1815.")
	for _, name := range Profiles() {
		r := compute(profile(t, name), miss, mend)
		require.Equal(t, schema.ShapeReSearched, r.Steps[0].ShapeReason)
		gapStep, mended := r.Steps[0], r.Steps[1]
		g := returns(r, 300)
		jump := func(sp *schema.Span) float64 { return g[sp.End-1] - g[sp.End] }

		// The repairing query stands in step 2; its every token sees the shape, and
		// the token after it no longer.
		require.Equal(t, schema.Span{Kind: schema.SpanAction, Start: 210, End: 220}, *gapStep.ShapeAt)
		require.InDelta(t, *gapStep.Shape, jump(gapStep.ShapeAt), 1e-12)
		require.Positive(t, *gapStep.Shape)
		for i := gapStep.ShapeAt.Start; i < gapStep.ShapeAt.End; i++ {
			require.InDelta(t, *gapStep.Shape+*mended.Base, g[i], 1e-12, "token %d of the repairing query", i)
		}
		// The claims' tokens see their bases, and what follows.
		require.InDelta(t, *gapStep.Base, jump(gapStep.BaseAt), 1e-12)
		require.InDelta(t, *mended.Base, jump(mended.BaseAt), 1e-12)
		for i := mended.BaseAt.Start; i < mended.BaseAt.End; i++ {
			require.InDelta(t, *mended.Base, g[i], 1e-12, "token %d of the mended claim", i)
		}
		for i := gapStep.BaseAt.Start; i < gapStep.BaseAt.End; i++ {
			require.InDelta(t, *gapStep.Base+*gapStep.Shape+*mended.Base, g[i], 1e-12, "token %d of the claim with the gap", i)
		}
		require.InDelta(t, *r.Process, g[0], 1e-12, "all that is given follows the first token")
		require.Zero(t, g[mended.BaseAt.End], "nothing follows the last claim")
	}
}

// Whatever the rollout, no reward is lost between steps and tokens.
func TestEveryRewardHasAPlace(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	rapid.Check(t, func(t *rapid.T) {
		acts := genActs(t)
		r := compute(p, acts...)
		if r.Process == nil || slices.ContainsFunc(acts, func(a act) bool { return a.noFacts }) {
			return // without a label's facts there is no span
		}
		if g := returns(r, 100*(len(acts)+1)); math.Abs(g[0]-*r.Process) > 1e-9 {
			t.Fatalf("tokens get %v, the steps have %v", g[0], *r.Process)
		}
	})
}
