package abstaincheck

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

type scripted struct {
	verdict Verdict
	err     error
	asked   []Input
}

func (s *scripted) Stated(_ context.Context, in Input) (Verdict, error) {
	s.asked = append(s.asked, in)
	return s.verdict, s.err
}

func step() *schema.Step {
	return &schema.Step{
		Run: "r", Rollout: "o", Index: 2, Kind: schema.KindSearch,
		Question: "When did the Oakham mill burn?",
		Query:    "Oakham mill fire",
		Text:     "Oakham is a town. The passages do not mention when the Oakham mill burned.",
		Passages: []schema.Passage{
			{Digest: "old", ByStep: 1, Text: "The mill at Oakham burned in 1902."},
			{Digest: "own", ByStep: 2, Text: "Oakham is a town."},
		},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		verdict    Verdict
		next       tree.Hop
		gap        schema.Gap
		abstaining bool
		quotes     int
		outcome    string
	}{
		{"stated", Verdict{Stated: true, Quotes: []string{"The mill at Oakham burned in 1902."}}, tree.HopDone, schema.GapContradicted, false, 1, OutcomeUnjustified},
		{"stated, with an invented quote", Verdict{Stated: true, Quotes: []string{"It burned in 1907, they say"}}, tree.HopDone, schema.GapContradicted, false, 0, OutcomeUnjustified},
		{"stated, without a quote", Verdict{Stated: true}, tree.HopDone, schema.GapContradicted, false, 0, OutcomeUnjustified},
		{"not stated", Verdict{}, tree.HopQuote, "", true, 0, OutcomeJustified},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := &scripted{verdict: tt.verdict}
			d, err := New(j).Decide(t.Context(), &tree.Item{Step: step()})
			require.NoError(t, err)
			require.Equal(t, tt.next, d.Next)
			require.Equal(t, tt.gap, d.Gap)
			require.Equal(t, tt.abstaining, d.Abstaining)
			require.Len(t, d.Quotes, tt.quotes)
			require.Equal(t, tt.outcome, d.Entry.Outcome)
			require.Equal(t, schema.StageAbstain, d.Entry.Stage)
		})
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	j := &scripted{}
	_, err := New(j).Decide(t.Context(), &tree.Item{Step: step()})
	require.NoError(t, err)
	require.Len(t, j.asked, 1)
	in := j.asked[0]
	require.Equal(t, "Oakham mill fire", in.Sought)
	require.Contains(t, in.Abstention, "do not mention when the Oakham mill burned")
	require.Equal(t, "Oakham is a town.", in.Claim)
	require.Equal(t, []string{"own", "old"}, []string{in.Passages[0].Digest, in.Passages[1].Digest}, "own passages first")

	s := step()
	s.Query = ""
	_, err = New(j).Decide(t.Context(), &tree.Item{Step: s})
	require.NoError(t, err)
	require.Equal(t, s.Question, j.asked[1].Sought)
}

func TestNoPassagesNeedNoCall(t *testing.T) {
	t.Parallel()
	s := step()
	s.Passages = nil
	j := &scripted{verdict: Verdict{Stated: true}}
	d, err := New(j).Decide(t.Context(), &tree.Item{Step: s})
	require.NoError(t, err)
	require.Empty(t, j.asked)
	require.Equal(t, tree.HopQuote, d.Next)
	require.True(t, d.Abstaining)
	require.Empty(t, d.Entry.Judge, "code alone decided")
}

func TestErrorsAreNoVerdicts(t *testing.T) {
	t.Parallel()
	cause := &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("refused")}
	_, err := New(&scripted{err: cause}).Decide(t.Context(), &tree.Item{Step: step()})
	require.Same(t, cause, judge.AsError(err))
	require.ErrorContains(t, err, "run r rollout o step 2")
}
