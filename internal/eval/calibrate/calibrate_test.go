package calibrate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

var base = nliworker.Thresholds{Entailment: 0.5, Contradiction: 0.5}

// few are the thresholds of the runs.
func few() []nliworker.Thresholds {
	return []nliworker.Thresholds{base, {Entailment: 0.3, Contradiction: 0.3}, {Entailment: 0.75, Contradiction: 0.75}, {Entailment: 0.9, Contradiction: 0.9}}
}

// runs are made-up ones of steps with one pair each: a step is truly fine where
// its entailment is 0.7 or more, and the labels are those under the anchors.
func runs(questions int) SetRuns {
	r := rand.New(rand.NewPCG(4, 4))
	set := stepset.Set{Name: "made"}
	scores := map[string]float64{}
	for q := range questions {
		p := stepset.Rollout{ID: fmt.Sprint("r", q), QuestionID: fmt.Sprint("q", q)}
		for i := range 3 {
			x := r.Float64()
			label := schema.GapMissingBridge
			if x >= 0.7 {
				label = schema.GapNone
			}
			p.Steps = append(p.Steps, stepset.Step{Kind: schema.KindSearch, Claim: "The tower is tall.", Label: label})
			scores[p.StepID(i+1)] = x
		}
		set.Rollouts = append(set.Rollouts, p)
	}
	out := SetRuns{Set: set}
	for _, t := range few() {
		f := &predict.File{}
		for i := range set.Rollouts {
			source := &set.Rollouts[i]
			p := predict.Rollout{Rollout: source.ID, Question: source.QuestionID}
			for j := range source.Steps {
				id := source.StepID(j + 1)
				s := predict.Step{Step: id, Gold: source.Steps[j].Label, Pred: schema.GapMissingBridge, Stage: schema.StageLocal}
				if scores[id] >= t.Entailment {
					s.Pred = schema.GapNone
				}
				s.Trail = []schema.TrailEntry{{
					Stage: schema.StageLocal, Calls: 1, Premise: "The tower is tall.", Hypothesis: "The tower is tall.",
					Scores: &schema.Scores{Entailment: scores[id], Neutral: 1 - scores[id]},
				}}
				p.Steps = append(p.Steps, s)
			}
			f.Rollouts = append(f.Rollouts, p)
		}
		out.Anchors = append(out.Anchors, Anchor{Thresholds: t, File: f})
	}
	return out
}

func TestTheRightThresholdIsFound(t *testing.T) {
	t.Parallel()
	set := runs(60)
	r, err := Choose(t.Context(), []SetRuns{set}, Grid(base), metrics.BalancedAccuracy, interval.Options{Draws: 500})
	require.NoError(t, err)
	require.InDelta(t, 0.7, r.Chosen.Entailment, 0.1001, "0.6 or 0.75")
	require.Len(t, r.Folds, 5)
	n := 0
	for _, f := range r.Folds {
		require.InDelta(t, 0.7, f.Chosen.Entailment, 0.1001)
		n += f.Questions
	}
	require.Equal(t, 60, n, "every question is judged once")
	require.True(t, r.Gains())
	delta := r.Sets["made"].Delta[metrics.BalancedAccuracy]
	require.True(t, delta.Above(0), "%+v", delta)
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	require.Contains(t, text.String(), "chosen by all questions")
	require.NoError(t, r.WriteJSON(&text))
}

func TestWhereThresholdsDoNotMatterTheyStay(t *testing.T) {
	t.Parallel()
	set := runs(30)
	for _, a := range set.Anchors {
		for i := range a.File.Rollouts {
			for j := range a.File.Rollouts[i].Steps { // decided before D
				a.File.Rollouts[i].Steps[j].Stage = schema.StageQuote
				a.File.Rollouts[i].Steps[j].Pred = schema.GapIrrelevant
			}
		}
	}
	r, err := Choose(t.Context(), []SetRuns{set}, Grid(base), metrics.MacroF1, interval.Options{Draws: 100})
	require.NoError(t, err)
	require.Equal(t, base, r.Chosen)
	require.False(t, r.Gains())
}

func TestAPairThatTrailsDoNotSufficeForIsLeftOut(t *testing.T) {
	t.Parallel()
	set := runs(30)
	for _, a := range set.Anchors {
		for i := range a.File.Rollouts {
			for j := range a.File.Rollouts[i].Steps { // several pairs: the others' scores are not in the trail
				a.File.Rollouts[i].Steps[j].Trail[0].Calls = 5
			}
		}
	}
	r, err := Choose(t.Context(), []SetRuns{set}, Grid(base), metrics.BalancedAccuracy, interval.Options{Draws: 100})
	require.NoError(t, err)
	left := 0
	for _, g := range r.Grid {
		if g.Value == nil {
			left++
			require.Positive(t, g.Unknown)
		}
	}
	require.Positive(t, left)
	known, err := set.Known(nliworker.Thresholds{Entailment: 0.6, Contradiction: 0.3})
	require.NoError(t, err)
	require.False(t, known)
	known, err = set.Known(base)
	require.NoError(t, err)
	require.True(t, known)
	known, err = SetRuns{Set: set.Set}.Known(base)
	require.NoError(t, err)
	require.False(t, known, "there is no run yet")
	require.NotNil(t, r.Grid[0].Value, "the base is known from its own run")

	_, err = Choose(t.Context(), nil, Grid(base), metrics.BalancedAccuracy, interval.Options{})
	require.ErrorContains(t, err, "takes a set")
	set.Anchors[0].File.Rollouts = set.Anchors[0].File.Rollouts[:3]
	_, err = Choose(t.Context(), []SetRuns{set}, Grid(base), metrics.BalancedAccuracy, interval.Options{})
	require.ErrorContains(t, err, "3 rollouts")
}
