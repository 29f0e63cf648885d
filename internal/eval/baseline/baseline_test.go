package baseline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

// made is a set of a rollout a question, its steps written by make.
func made(questions int, make func(q, s int) stepset.Step) *stepset.Set {
	set := &stepset.Set{Name: "made"}
	for q := range questions {
		r := stepset.Rollout{ID: fmt.Sprint("r", q), QuestionID: fmt.Sprint("q", q), Question: "Who?", Source: "test"}
		for s := range 3 {
			r.Steps = append(r.Steps, make(q, s))
		}
		set.Rollouts = append(set.Rollouts, r)
	}
	return set
}

func accuracy(t *testing.T, b Baseline, set *stepset.Set) float64 {
	t.Helper()
	s, err := metrics.NewSample(b.Items(set))
	require.NoError(t, err)
	total := s.Total()
	ba, ok := metrics.BalancedAccuracy.Of(&total).Get()
	require.True(t, ok)
	return ba
}

func named(t *testing.T, name string) Baseline {
	t.Helper()
	for _, b := range All() {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no baseline %s", name)
	return Baseline{}
}

func TestEachFindsWhatItLooksAt(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	step := func(gap bool, claim string, passage string) stepset.Step {
		s := stepset.Step{Kind: schema.KindSearch, Query: "q", Claim: claim, Label: schema.GapNone, Passages: []stepset.Passage{{Text: passage}}}
		if gap {
			s.Label = schema.GapMissingBridge
		}
		return s
	}
	for name, set := range map[string]*stepset.Set{
		"length": made(60, func(int, int) stepset.Step {
			if r.IntN(2) == 0 {
				return step(true, "one two three four five six", "")
			}
			return step(false, "one two", "")
		}),
		"position": made(60, func(_, s int) stepset.Step { return step(s == 2, "a b", "") }),
		"word-overlap": made(60, func(q, s int) stepset.Step {
			word := fmt.Sprintf("w%dx%d", q, s)
			if r.IntN(2) == 0 {
				return step(true, word, "other words")
			}
			return step(false, word, word)
		}),
		"hypothesis-only": made(60, func(int, int) stepset.Step {
			if r.IntN(2) == 0 {
				return step(true, "it was wrongly said", "")
			}
			return step(false, "it was rightly said", "")
		}),
	} {
		require.InDelta(t, 1, accuracy(t, named(t, name), set), 0.001, name)
	}
}

// TestNoneSeesItsOwnFold gives every question words of its own that tell the
// label: who had seen the question would know.
func TestNoneSeesItsOwnFold(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	set := made(300, func(q, s int) stepset.Step {
		label := schema.Gaps()[r.IntN(4)]
		return stepset.Step{Kind: schema.KindSearch, Claim: fmt.Sprintf("w%d %s%d", q, label, q), Label: label}
	})
	require.InDelta(t, 0.5, accuracy(t, named(t, "hypothesis-only"), set), 0.06)
}

func TestDegenerateSetsAreJudged(t *testing.T) {
	t.Parallel()
	for _, b := range All() {
		for _, label := range []schema.Gap{schema.GapNone, schema.GapIrrelevant} {
			for _, questions := range []int{1, 30} {
				set := made(questions, func(int, int) stepset.Step { return stepset.Step{Kind: schema.KindSearch, Claim: "a", Label: label} })
				items := b.Items(set)
				require.Len(t, items, 3*questions)
				for _, it := range items {
					require.True(t, it.Pred.Graded(), b.Name)
				}
				require.Equal(t, items, b.Items(set), "%s: the same every time", b.Name)
			}
		}
		require.Empty(t, b.Items(&stepset.Set{}))
	}
}
