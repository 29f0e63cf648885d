package rewardagg

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/pkg/schema"
)

// genActs draws a rollout: any labels, queries that repeat at times, claims of
// up to three sentences, retractions, conclusions. Contradictions come from the
// NLI stage: a wrong aim is mended by any right one, so there a further step
// may mend a gap, which is no padding.
func genActs(t *rapid.T) []act {
	n := rapid.IntRange(1, 7).Draw(t, "steps")
	acts := make([]act, n)
	for i := range acts {
		a := &acts[i]
		a.gap = rapid.SampledFrom(schema.Gaps()).Draw(t, "gap")
		if a.gap == schema.GapUngraded {
			a.reason = schema.ReasonJudgeError
			a.noFacts = rapid.Bool().Draw(t, "no facts")
		}
		a.query = fmt.Sprintf("topic%s approach", rapid.SampledFrom(letters()).Draw(t, "query"))
		for range rapid.IntRange(0, 3).Draw(t, "sentences") {
			a.claim += fmt.Sprintf("Alba %s went to %s. ", rapid.SampledFrom(letters()).Draw(t, "who"), rapid.SampledFrom(letters()).Draw(t, "where"))
		}
		a.text = a.claim
		a.source = rapid.SampledFrom(letters()).Draw(t, "source")
		if rapid.Bool().Draw(t, "takes back") {
			a.text = backWords + a.claim
		}
		a.entities = []string{"topic" + rapid.SampledFrom(letters()).Draw(t, "entity")}
		a.abstains = rapid.IntRange(0, 5).Draw(t, "abstains") == 0
		if i == n-1 && rapid.Bool().Draw(t, "concludes") {
			a.kind, a.query, a.answer = schema.KindConclusion, "", "Alba"
		}
	}
	return acts
}

func letters() []string {
	return []string{"Kappa", "Lambda", "Sigma", "Omega", "Theta", "Delta", "Gamma", "Upsilon"}
}

func sumOf(r schema.Reward) float64 {
	total := 0.0
	for _, s := range r.Steps {
		if s.Reward != nil {
			total += *s.Reward
		}
	}
	return total
}

func TestPropertySumIsConservedAndFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := profile(t, rapid.SampledFrom(Profiles()).Draw(rt, "profile"))
		acts := genActs(rt)
		r := compute(p, acts...)
		require.NoError(rt, r.Validate())
		require.Len(rt, r.Steps, len(acts))
		require.Equal(rt, len(acts), r.Graded+r.Ungraded)
		if r.Process == nil {
			require.Equal(rt, schema.ReasonTooFewGraded, r.Reason)
			require.Zero(rt, sumOf(r))
			return
		}
		require.InDelta(rt, sumOf(r), *r.Process, 1e-12)
		for i, s := range r.Steps {
			require.Equal(rt, acts[i].gap, s.Label)
			if !s.Label.Graded() {
				require.Nil(rt, s.Reward)
				continue
			}
			parts := 0.0
			for _, v := range []*float64{s.Base, s.Shape} {
				if v != nil {
					parts += *v
				}
			}
			require.InDelta(rt, parts, *s.Reward, 1e-12)
			require.Equal(rt, s.Shape != nil, s.ShapeStep != 0)
		}
	})
}

func TestPropertyNoStepBeatsAnHonestNone(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	rapid.Check(t, func(rt *rapid.T) {
		acts := genActs(rt)
		r := compute(p, acts...)
		if r.Process == nil {
			return
		}
		most := p.Base.None.Value / float64(len(acts))
		for _, s := range r.Steps {
			if s.Reward != nil {
				require.LessOrEqual(rt, *s.Reward, most+1e-12)
			}
		}
		require.LessOrEqual(rt, *r.Process, p.Base.None.Value+1e-12)
		// Bounded below too, however long the rollout.
		worst := p.Base.Irrelevant.Value + p.Shape.Ignored.Value
		require.GreaterOrEqual(rt, *r.Process, 5*worst)
	})
}

// Cutting an honest step in two, or putting in a step that does nothing, never
// raises the rollout's reward.
func TestPropertySplittingAndPaddingEarnNothing(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	rapid.Check(t, func(rt *rapid.T) {
		acts := genActs(rt)
		r := compute(p, acts...)
		if r.Process == nil {
			return
		}
		i := rapid.IntRange(0, len(acts)-1).Draw(rt, "at")
		if first, second, can := halves(acts[i]); can {
			switch rapid.SampledFrom([]string{"none", "same", "other"}).Draw(rt, "second query") {
			case "none":
				second.query = ""
			case "other":
				if r.Steps[i].Base == nil || *r.Steps[i].Base <= 0 {
					return // asking anew may well earn what asking again did not
				}
				second.query = "unheard number1"
			}
			split := compute(p, slices.Concat(acts[:i], []act{first, second}, acts[i+1:])...)
			if split.Process != nil {
				require.LessOrEqual(rt, *split.Process, *r.Process+1e-9, "step %d split", i+1)
			}
		}
		noop := act{gap: schema.GapNone, reason: schema.ReasonNoClaim}
		if rapid.Bool().Draw(rt, "repeats a query") && !acts[i].noFacts {
			noop.query = acts[i].query
		}
		padded := compute(p, slices.Concat(acts[:i+1], []act{noop}, acts[i+1:])...)
		if padded.Process != nil {
			require.LessOrEqual(rt, *padded.Process, *r.Process+1e-9, "no-op after step %d", i+1)
		}
	})
}

func TestPropertyProfilesWithoutANumberAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := *profile(t, "stepgap")
		fields := []*float64{
			&p.Base.None.Value, &p.Base.Contradicted.Value, &p.Base.Irrelevant.Value, &p.Base.Missing.Value,
			&p.Shape.Repaired.Value, &p.Shape.Ignored.Value, &p.Shape.NearDuplicate.Value,
			&p.MinGradedShare.Value, &p.NearDuplicateQuery.Value, &p.RepeatedClaim.Value,
		}
		*fields[rapid.IntRange(0, len(fields)-1).Draw(rt, "field")] = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(rt, "value")
		var pe *ProfileError
		require.ErrorAs(rt, p.validate(), &pe)
	})
}
