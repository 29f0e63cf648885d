package rewardagg

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// father is a two-hop rollout: a search that misses, its re-search, a bridge
// and a conclusion.
func father() []act {
	return []act{
		gap(schema.GapIrrelevant, "Caroline Jones painter", "Caroline Jones is an Australian presenter."),
		ok("father of Caroline J. Smith", "Her father was John B. Smith."),
		ok("John B. Smith death", "John B. Smith died in 1929."),
		conclude(schema.GapNone, "Therefore her father died in 1929.", "1929"),
	}
}

func TestComputePlacesBaseAndShape(t *testing.T) {
	t.Parallel()
	end, labels := rolloutOf(father()...)
	end.Answer, end.Gold, end.Group, end.GroupSize = "1929", []string{"1929"}, "q7", 4
	p := profile(t, "stepgap")
	r := Compute(end, labels, p)
	require.NoError(t, r.Validate())
	require.Empty(t, r.Reason)
	require.True(t, r.Complete)
	require.Equal(t, 4, r.Graded)
	require.Equal(t, []any{"q7", 4, "stepgap", p.Hash()}, []any{r.Group, r.GroupSize, r.Profile, r.ProfileHash})
	require.Equal(t, ptr(1), r.Outcome.EM)

	first := r.Steps[0]
	require.InDelta(t, -0.10/4, *first.Base, 1e-12)
	require.Equal(t, &schema.Span{Kind: schema.SpanClaim, Start: 120, End: 130}, first.BaseAt)
	require.Equal(t, schema.ShapeReSearched, first.ShapeReason)
	require.InDelta(t, 0.10/4, *first.Shape, 1e-12)
	require.Equal(t, 2, first.ShapeStep)
	require.Equal(t, &schema.Span{Kind: schema.SpanAction, Start: 210, End: 220}, first.ShapeAt, "the repairing step's query earns the shape")
	require.InDelta(t, 0, *first.Reward, 1e-12)
	require.InDelta(t, 0.20/4, *r.Steps[1].Base, 1e-12)
	require.Nil(t, r.Steps[1].Shape)
	require.Equal(t, &schema.Span{Kind: schema.SpanClaim, Start: 420, End: 430}, r.Steps[3].BaseAt)
	require.InDelta(t, 3*0.20/4, *r.Process, 1e-12)
}

func TestComputeUnderPaperIsThePlainSum(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	require.InDelta(t, -0.10+0.10+3*0.20, reward(t, p, father()...), 1e-12)
	// Contradicted and ignored; a missing bridge with nothing after it.
	require.InDelta(t, 0.05-0.10-0.05, reward(t, p,
		gap(schema.GapContradicted, "a", "Ada was born in 1820."),
		gap(schema.GapMissingBridge, "b", "Ada met Babbage.")), 1e-12)
	// No claim is paid as its label says.
	require.InDelta(t, 0.20, reward(t, p, act{gap: schema.GapNone, reason: schema.ReasonNoClaim, query: "a"}), 1e-12)
}

func TestUnpaidSteps(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	paid := ok("Ada Lovelace birth", "Ada Lovelace was born in London in 1815.")
	paid.source = "p1"
	sourced := func(passage string) act {
		a := ok("mathematician countess", "She was a countess.")
		a.source = passage
		return a
	}
	for name, c := range map[string]struct {
		step act
		want Rule
	}{
		"a claim":                 {ok("Ada Lovelace death", "She died in 1852."), ""},
		"no claim":                {ok("Ada Lovelace death", ""), RuleNoClaim},
		"no claim, by reason":     {act{gap: schema.GapNone, reason: schema.ReasonNoClaim, query: "x", claim: "She lived."}, RuleNoClaim},
		"justified abstention":    {act{gap: schema.GapNone, reason: schema.ReasonAbstainOK, query: "x"}, RuleAbstention},
		"abstains":                {act{gap: schema.GapNone, abstains: true, query: "x", claim: "She died."}, RuleAbstention},
		"same claim":              {ok("Lovelace birthplace", "Ada Lovelace was born in London in 1815."), RuleRepeatedClaim},
		"part of a claim":         {ok("Lovelace birthplace", "Ada Lovelace was born in London."), RuleRepeatedClaim},
		"reordered claim":         {ok("Lovelace birthplace", "In 1815, in London, Ada Lovelace was born."), RuleRepeatedClaim},
		"other year":              {ok("Lovelace birthplace", "Ada Lovelace was born in London in 1816."), ""},
		"negated":                 {ok("Lovelace birthplace", "Ada Lovelace was not born in London in 1815."), ""},
		"other name":              {ok("Byron birthplace", "Byron was born in London."), ""},
		"repeats and adds":        {ok("Lovelace life", "Ada Lovelace was born in London. She died in 1852."), ""},
		"same query":              {ok("birth Ada Lovelace", "She was a countess."), RuleRepeatedQuery},
		"no query":                {ok("", "She was a countess."), RuleRepeatedQuery},
		"other passage":           {sourced("p2"), ""},
		"same passage":            {sourced("p1"), RuleRepeatedSource},
		"conclusion":              {conclude(schema.GapNone, "Therefore she was English.", "English"), ""},
		"conclusion that repeats": {conclude(schema.GapNone, "Therefore Ada Lovelace was born in 1815.", "1815"), RuleRepeatedClaim},
		"answer without a claim":  {conclude(schema.GapNone, "", "Marylebone"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := compute(p, paid, c.step)
			require.Equal(t, string(c.want), r.Steps[1].BaseNote)
			if c.want != "" {
				require.Zero(t, *r.Steps[1].Base)
				return
			}
			require.InDelta(t, 0.10, *r.Steps[1].Base, 1e-12)
		})
	}
	t.Run("second conclusion", func(t *testing.T) {
		t.Parallel()
		r := compute(p, paid, conclude(schema.GapNone, "Therefore she was English.", "English"), conclude(schema.GapNone, "So the answer is Middlesex.", "Middlesex"))
		require.Equal(t, string(RuleSecondConclusion), r.Steps[2].BaseNote)
	})
	t.Run("negative base stays", func(t *testing.T) {
		t.Parallel()
		r := compute(p, paid, act{gap: schema.GapIrrelevant, query: "birth Ada Lovelace"})
		require.Negative(t, *r.Steps[1].Base)
		require.Empty(t, r.Steps[1].BaseNote)
	})
}

func TestNoStepIsWorthMoreThanAnHonestNone(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	contradicted := gap(schema.GapContradicted, "Ada birth", "Ada was born in 1820.")
	back := ok("Ada Lovelace baptism", "She was baptised in 1815.")
	back.text = "Actually, that was wrong: she was baptised in 1815."
	r := compute(p, contradicted, back)
	require.Equal(t, schema.ShapeRetracted, r.Steps[0].ShapeReason)
	require.Less(t, *r.Steps[0].Reward, *r.Steps[1].Reward)

	// In a rollout that earns less, the repaired gap is worth no more than the
	// average of its other steps.
	idle := ok("", "")
	r = compute(p, contradicted, back, idle, idle, idle)
	require.Equal(t, noteCapped, r.Steps[0].BaseNote)
	require.InDelta(t, 0.20/4/5, *r.Steps[0].Reward, 1e-12)
	require.Positive(t, *r.Steps[0].Base)
	require.InDelta(t, 2, *r.Steps[0].Shape / *r.Steps[0].Base, 1e-9, "base and shape give way pro rata")
	require.InDelta(t, 0.20/4, *r.Process, 1e-12)
}

func TestPromise_P2_UngradedContributesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range Profiles() {
		p := profile(t, name)
		acts := father()
		acts[1] = act{gap: schema.GapUngraded, reason: schema.ReasonJudgeTimeout, noFacts: true}
		acts[2].absent = true
		r := compute(p, acts...)
		require.NotNil(t, r.Process)
		require.Equal(t, []int{2, 2}, []int{r.Graded, r.Ungraded})
		require.False(t, r.Complete)
		for i, reason := range map[int]schema.Reason{1: schema.ReasonJudgeTimeout, 2: schema.ReasonMissing} {
			s := r.Steps[i]
			require.Equal(t, schema.GapUngraded, s.Label)
			require.Equal(t, reason, s.Reason)
			require.Nil(t, s.Base)
			require.Nil(t, s.Shape)
			require.Nil(t, s.Reward)
		}
		// Whether the first step's gap was repaired can't be known.
		require.Nil(t, r.Steps[0].Shape)
		require.Empty(t, r.Steps[0].ShapeReason)
		require.NoError(t, r.Validate())
	}
}

func TestPromise_P2_NullRewardsHoldNoNumber(t *testing.T) {
	t.Parallel()
	ungraded := act{gap: schema.GapUngraded, reason: schema.ReasonJudgeError, noFacts: true}
	for name, c := range map[string]struct {
		acts    []act
		edit    func(*schema.RolloutEnd, map[int]*schema.Label)
		want    schema.Reason
		outcome bool
	}{
		"too few graded": {[]act{ok("a", "Ada lived."), ungraded, ungraded}, nil, schema.ReasonTooFewGraded, true},
		"none graded":    {[]act{ungraded}, nil, schema.ReasonTooFewGraded, true},
		"no steps":       {nil, nil, schema.ReasonNoSteps, true},
		"aborted": {father(), func(e *schema.RolloutEnd, _ map[int]*schema.Label) { e.Aborted = true },
			schema.ReasonAborted, false},
		"aborted without steps": {nil, func(e *schema.RolloutEnd, _ map[int]*schema.Label) { e.Aborted, e.AbortReason = true, "tool broke" },
			schema.ReasonAborted, false},
		"other content": {father(), func(_ *schema.RolloutEnd, l map[int]*schema.Label) { l[2].Digest = digestOf(99) },
			schema.ReasonIDReused, true},
		"other content, ungraded": {append(father(), ungraded), func(_ *schema.RolloutEnd, l map[int]*schema.Label) { l[5].Digest = digestOf(99) },
			schema.ReasonIDReused, true},
		"listed twice": {father(), func(e *schema.RolloutEnd, _ map[int]*schema.Label) { e.Steps[1].Index = 1 },
			schema.ReasonMalformed, true},
		"index 0": {father(), func(e *schema.RolloutEnd, _ map[int]*schema.Label) { e.Steps[0].Index = 0 },
			schema.ReasonMalformed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end, labels := rolloutOf(c.acts...)
			end.Answer, end.Gold = "1929", []string{"1929"}
			if c.edit != nil {
				c.edit(end, labels)
			}
			r := Compute(end, labels, profile(t, "stepgap"))
			require.NoError(t, r.Validate())
			require.Equal(t, c.want, r.Reason)
			require.NotEmpty(t, r.Detail)
			require.Nil(t, r.Process)
			require.Len(t, r.Steps, len(end.Steps))
			for _, s := range r.Steps {
				require.Nil(t, s.Base)
				require.Nil(t, s.Shape)
				require.Nil(t, s.Reward)
			}
			require.Equal(t, c.outcome, r.Outcome.EM != nil)
		})
	}
	end, _ := rolloutOf(father()...)
	r := Null(end, profile(t, "stepgap"), schema.ReasonLabelsExpired, "the end is older than the labels' age")
	require.NoError(t, r.Validate())
	require.Nil(t, r.Process)
	require.Equal(t, []int{0, 4, 4}, []int{r.Graded, r.Ungraded, len(r.Steps)})
}

func TestPromise_P2_AGradedLabelWithoutFactsIsNotPaid(t *testing.T) {
	t.Parallel()
	bare := ok("q", "Ada lived.")
	bare.noFacts = true
	r := compute(profile(t, "stepgap"), ok("a", "Ada was a countess."), bare)
	require.Equal(t, noteNoFacts, r.Steps[1].BaseNote)
	require.Nil(t, r.Steps[1].Base)
	require.Nil(t, r.Steps[1].Reward)
	require.Equal(t, 2, r.Graded)
	r = compute(profile(t, "paper"), bare)
	require.Equal(t, ptr(0.20), r.Steps[0].Base, "the paper's rule looks at the label alone")
	require.Nil(t, r.Steps[0].BaseAt)
}

func TestPromise_P2_NoProfileLetsANumberThatIsNoneThrough(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := *profile(t, "paper")
		p.Base.None.Value = bad
		require.Error(t, p.validate())
		r := compute(&p, ok("a", "Ada lived."))
		require.Nil(t, r.Process, "even where a profile was changed after loading")
		require.Equal(t, schema.ReasonInternal, r.Reason)
		require.NoError(t, r.Validate())
	}
}

func TestComputeIsPure(t *testing.T) {
	t.Parallel()
	end, labels := rolloutOf(father()...)
	again, labelsAgain := rolloutOf(father()...)
	p := profile(t, "stepgap")
	first := Compute(end, labels, p)
	require.Empty(t, cmp.Diff(first, Compute(end, labels, p)))
	require.Empty(t, cmp.Diff(again, end))
	require.Empty(t, cmp.Diff(labelsAgain, labels))
	// A span in the reward is no window into a label.
	first.Steps[0].BaseAt.Start = -1
	require.Empty(t, cmp.Diff(labelsAgain, labels))
	// The order in which an end lists its steps doesn't matter.
	end.Steps[0], end.Steps[3] = end.Steps[3], end.Steps[0]
	require.Equal(t, *Compute(again, labels, p).Process, *Compute(end, labels, p).Process)
}

func TestMissingAndSeal(t *testing.T) {
	t.Parallel()
	acts := father()
	acts[0].absent, acts[2].absent = true, true
	end, labels := rolloutOf(acts...)
	require.Equal(t, []int{1, 3}, Missing(end, labels))
	for _, i := range Missing(end, labels) {
		labels[i] = Seal(end, i)
		require.NoError(t, labels[i].Validate())
	}
	require.Empty(t, Missing(end, labels))
	r := Compute(end, labels, profile(t, "stepgap"))
	require.NotNil(t, r.Process)
	require.Equal(t, 2, r.Ungraded)
	require.Equal(t, schema.ReasonMissing, r.Steps[0].Reason)
	end.Aborted = true
	require.Empty(t, Missing(end, nil))
}
