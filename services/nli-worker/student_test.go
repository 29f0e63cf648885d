package nliworker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// pupil is a student that gives fixed probabilities to pairs of at most so many
// words.
type pupil struct {
	p     []float64
	limit int
	err   error
	asked []nli.Pair
}

func (p *pupil) Info() nli.Info { return nli.Info{Name: "pupil", Hash: "0123456789abcdef"} }

func (p *pupil) Classify(_ context.Context, pair nli.Pair) ([]float64, error) {
	p.asked = append(p.asked, pair)
	if n := len(strings.Fields(pair.Premise + " " + pair.Hypothesis)); p.limit > 0 && n > p.limit {
		return nil, fmt.Errorf("%d words: %w", n, nli.ErrTooLong)
	}
	return p.p, p.err
}

func TestStudentInput(t *testing.T) {
	t.Parallel()
	s := step("Orrin Vale was born in Hull.",
		passage("Flour", "Flour is milled from wheat. Most of it is white.", 3),
		passage("Orrin Vale", "He kept bees. He was born in Hull.", 3))
	s.Query = "birthplace of\n Orrin Vale"
	s.Text = "I see that Orrin Vale was born in Hull. His death is not mentioned."
	premise, hypothesis := nliworker.StudentInput(s)
	require.Equal(t, "Where was Orrin Vale born? | birthplace of Orrin Vale | Orrin Vale was born in Hull. His death is not mentioned.", hypothesis)
	require.True(t, strings.HasPrefix(premise, "Orrin Vale was born in Hull. Orrin Vale kept bees."), "%s", premise)

	s.Query, s.Claim, s.Text = "", "", ""
	_, hypothesis = nliworker.StudentInput(s)
	require.Equal(t, "Where was Orrin Vale born? |  | ", hypothesis)

	s.Passages = []schema.Passage{{Title: "Orrin Vale", Text: " \n", ByStep: 3}}
	premise, _ = nliworker.StudentInput(s)
	require.Empty(t, premise)
}

func TestStudentInputIsBoundedAndPaddingCannotMoveIt(t *testing.T) {
	t.Parallel()
	const fact = "Orrin Vale was born in Hull in 1790."
	rapid.Check(t, func(t *rapid.T) {
		// The last word is no abbreviation, after which a sentence would go on.
		sentence := rapid.StringMatching(`[A-Z][a-z]{2,9}( [a-z]{1,12}){0,40} indeed\.`)
		padding := strings.Join(rapid.SliceOfN(sentence, 0, 60).Draw(t, "padding"), " ")
		before := rapid.Bool().Draw(t, "before")
		text := fact + " " + padding
		if before {
			text = padding + " " + fact
		}
		s := step("Orrin Vale was born in Hull in 1790.", passage("Orrin Vale", text, 3))
		premise, _ := nliworker.StudentInput(s)
		require.True(t, strings.HasPrefix(premise, fact), "the telling sentence comes first")
		require.LessOrEqual(t, len(evidence.Words(premise)), 160)
		again, _ := nliworker.StudentInput(s)
		require.Equal(t, premise, again)
	})
}

func TestStudentGivesLabelAndQuoteInOneCall(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "He kept bees in York. He was born in Hull.", 3)
	for i, label := range nliworker.StudentLabels() {
		p := []float64{0.1, 0.1, 0.1, 0.1}
		p[i] = 0.7
		model := &pupil{p: p}
		d := nliworker.NewStudent(model, schema.StageLocal, 0.02)
		got, err := d.Decide(t.Context(), &tree.Item{Step: step("Orrin Vale was born in Hull.", vale)})
		require.NoError(t, err)
		require.Equal(t, tree.HopDone, got.Next)
		require.Equal(t, schema.Gap(label), got.Gap)
		require.Equal(t, "He was born in Hull.", got.Quotes[0].Text)
		require.Equal(t, schema.MatchWindow, got.Quotes[0].Match)
		require.Equal(t, string([]rune(vale.Text)[got.Quotes[0].Start:got.Quotes[0].End]), got.Quotes[0].Text, "verbatim")
		require.Equal(t, []any{"student", "pupil@0123456789ab", 1, label}, []any{got.Entry.Judge, got.Entry.Model, got.Entry.Calls, got.Entry.Outcome})
		require.InDelta(t, 0.7, *got.Entry.Confidence, 0)
		require.Empty(t, got.Entry.Flags)
		premise, hypothesis := nliworker.StudentInput(step("Orrin Vale was born in Hull.", vale))
		require.Equal(t, []nli.Pair{{Premise: premise, Hypothesis: hypothesis}}, model.asked, "what it is asked is what it was trained on")
		require.Equal(t, premise, got.Entry.Premise)
		require.Len(t, got.Entry.Windows, 2)
	}
	near, err := nliworker.NewStudent(&pupil{p: []float64{0.41, 0.4, 0.1, 0.09}}, schema.StageCross, 0.02).Decide(t.Context(), &tree.Item{Step: step("Orrin Vale was born in Hull.", vale)})
	require.NoError(t, err)
	require.Equal(t, []string{schema.FlagNearThreshold}, near.Entry.Flags)
	require.Equal(t, schema.StageCross, near.Entry.Stage)
}

func TestStudentDropsWindowsAndNeverTheClaim(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale kept bees in York. Orrin Vale was born in Hull. Orrin Vale had a dog. Orrin Vale was a miller.", 3)
	s := step("Orrin Vale was born in Hull.", vale)
	_, hypothesis := nliworker.StudentInput(s)
	model := &pupil{p: []float64{1, 0, 0, 0}, limit: len(strings.Fields(hypothesis)) + 13}
	got, err := nliworker.NewStudent(model, schema.StageLocal, 0).Decide(t.Context(), &tree.Item{Step: s})
	require.NoError(t, err)
	last := model.asked[len(model.asked)-1]
	require.Equal(t, hypothesis, last.Hypothesis)
	require.True(t, strings.HasPrefix(last.Premise, "Orrin Vale was born in Hull."))
	require.Len(t, got.Entry.Windows, 2)
	require.Equal(t, last.Premise, got.Entry.Premise)

	model.limit = 5
	_, err = nliworker.NewStudent(model, schema.StageLocal, 0).Decide(t.Context(), &tree.Item{Step: s})
	je := judge.AsError(err)
	require.NotNil(t, je, "%v", err)
	require.Equal(t, []any{schema.ReasonTooLarge, false, judge.KindStudent}, []any{je.Reason, je.Temporary, je.Meta.Judge})
}

func TestStudentThatFailsGivesNoLabel(t *testing.T) {
	t.Parallel()
	s := step("Orrin Vale was born in Hull.", passage("Orrin Vale", "He was born in Hull.", 3))
	for name, model := range map[string]*pupil{
		"broken":     {err: errors.New("broken")},
		"not finite": {err: nli.ErrNotFinite},
		"too few":    {p: []float64{0.5, 0.5}},
	} {
		_, err := nliworker.NewStudent(model, schema.StageLocal, 0).Decide(t.Context(), &tree.Item{Step: s})
		je := judge.AsError(err)
		require.NotNil(t, je, name)
		require.Equal(t, schema.ReasonModelError, je.Reason, name)
	}
}

func TestBeforeStudentCodeSeesThatNothingWasRetrieved(t *testing.T) {
	t.Parallel()
	none, err := nliworker.BeforeStudent().Decide(t.Context(), &tree.Item{Step: step("Orrin Vale was born in Hull.")})
	require.NoError(t, err)
	require.Equal(t, []any{tree.HopDone, schema.GapIrrelevant, ""}, []any{none.Next, none.Gap, none.Entry.Judge})
	s := step("Orrin Vale was born in Hull.", passage("Orrin Vale", "He was born in Hull.", 1))
	s.Kind = schema.KindConclusion
	some, err := nliworker.BeforeStudent().Decide(t.Context(), &tree.Item{Step: s})
	require.NoError(t, err)
	require.Equal(t, tree.HopLocal, some.Next)
	require.Equal(t, "student", some.Entry.Judge)
}
