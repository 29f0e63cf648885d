package entitycheck

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// scripted answers with a fixed verdict and keeps what it was asked.
type scripted struct {
	verdict Verdict
	err     error
	asked   []Input
}

func (s *scripted) Align(_ context.Context, in Input) (Verdict, error) {
	s.asked = append(s.asked, in)
	return s.verdict, s.err
}

func step() *schema.Step {
	return &schema.Step{
		Run: "r", Rollout: "o", Index: 2, Kind: schema.KindSearch,
		Question: "Where was the architect of the Oakham mill born?",
		Plan:     "I am surely on the right track.",
		Query:    "birthplace of Ada Brück",
		Text:     "Ada Brück was born in Lund.",
		History:  []schema.Prior{{Index: 1, Query: "architect of the Oakham mill", Claim: "Ada Brück built the Oakham mill."}},
		Passages: []schema.Passage{{Digest: "a", ByStep: 2, Text: "Ada Brück was born in Lund."}},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	aligned := Verdict{Aligned: true, Meta: judge.Meta{Judge: judge.KindLocal, Model: "m"}}
	conclusion := func(s *schema.Step) {
		s.Kind, s.Query, s.Passages, s.Answer = schema.KindConclusion, "", nil, "Lund"
		s.Text = "Therefore, she was born in Lund."
	}
	tests := []struct {
		name    string
		change  func(*schema.Step)
		verdict Verdict
		next    tree.Hop
		gap     schema.Gap
	}{
		{"misaligned", nil, Verdict{Meta: judge.Meta{Detail: "Off."}}, tree.HopDone, schema.GapContradicted},
		{"aligned", nil, aligned, tree.HopQuote, ""},
		{"abstains", func(s *schema.Step) { s.Text = "The passages do not mention the birthplace of Ada Brück." }, aligned, tree.HopAbstain, ""},
		{"conclusion", conclusion, aligned, tree.HopCross, ""},
		{"conclusion after earlier evidence", func(s *schema.Step) {
			conclusion(s)
			s.Passages = []schema.Passage{{Digest: "a", ByStep: 1, Text: "x"}}
		}, aligned, tree.HopCross, ""},
		{"conclusion with passages of its own", func(s *schema.Step) { conclusion(s); s.Passages = step().Passages }, aligned, tree.HopQuote, ""},
		{"facts before any search", func(s *schema.Step) { s.Query, s.Passages = "", nil }, aligned, tree.HopQuote, ""},
		{"misaligned abstention", func(s *schema.Step) { s.Text = "It is not mentioned." }, Verdict{}, tree.HopDone, schema.GapContradicted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := step()
			if tt.change != nil {
				tt.change(s)
			}
			j := &scripted{verdict: tt.verdict}
			d, err := New(j).Decide(t.Context(), &tree.Item{Step: s})
			require.NoError(t, err)
			require.Equal(t, tt.next, d.Next)
			require.Equal(t, tt.gap, d.Gap)
			require.Equal(t, schema.StageEntity, d.Entry.Stage)
			if tt.gap != "" {
				require.Equal(t, OutcomeMisaligned, d.Entry.Outcome)
				require.NotEmpty(t, d.Detail)
			} else {
				require.Equal(t, OutcomeAligned, d.Entry.Outcome)
				require.Equal(t, "m", d.Entry.Model)
			}
		})
	}
}

func TestInputHoldsNoEvidenceAndNoThought(t *testing.T) {
	t.Parallel()
	j := &scripted{verdict: Verdict{Aligned: true}}
	_, err := New(j).Decide(t.Context(), &tree.Item{Step: step()})
	require.NoError(t, err)
	_, _, _, err = Plan(t.Context(), j, step())
	require.NoError(t, err)
	want := Input{
		Question: "Where was the architect of the Oakham mill born?", Kind: schema.KindSearch,
		Query: "birthplace of Ada Brück", Earlier: step().History,
	}
	require.Equal(t, []Input{want, want}, j.asked, "the plan and the step itself are one question")
}

func TestAStepWithoutQueryIsJudgedByItsClaim(t *testing.T) {
	t.Parallel()
	j := &scripted{verdict: Verdict{Aligned: true}}
	s := step()
	s.Kind, s.Query, s.Passages, s.Answer, s.Text = schema.KindConclusion, "", nil, "Lund", "Therefore, Ada Brück was born in Lund."
	_, err := New(j).Decide(t.Context(), &tree.Item{Step: s})
	require.NoError(t, err)
	require.Equal(t, "Ada Brück was born in Lund.", j.asked[0].Claim)
}

func TestErrorsAreNoVerdicts(t *testing.T) {
	t.Parallel()
	cause := &judge.Error{Reason: schema.ReasonJudgeTimeout, Err: errors.New("slow")}
	j := &scripted{err: cause}
	_, err := New(j).Decide(t.Context(), &tree.Item{Step: step()})
	require.Same(t, cause, judge.AsError(err))
	require.ErrorContains(t, err, "run r rollout o step 2")
	gap, _, _, err := Plan(t.Context(), j, step())
	require.Same(t, cause, judge.AsError(err))
	require.Empty(t, gap)
}

func TestPlan(t *testing.T) {
	t.Parallel()
	s := step()
	s.Text, s.Passages = "", nil
	gap, detail, entry, err := Plan(t.Context(), &scripted{verdict: Verdict{Aligned: true}}, s)
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, gap)
	require.Equal(t, schema.StageLiveAim, entry.Stage)
	require.NotEmpty(t, detail)

	gap, detail, entry, err = Plan(t.Context(), &scripted{}, s)
	require.NoError(t, err)
	require.Equal(t, schema.GapContradicted, gap)
	require.Equal(t, OutcomeMisaligned, entry.Outcome)
	require.Contains(t, detail, "birthplace of Ada Brück")
}
