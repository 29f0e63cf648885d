package quoteextract

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

func (s *scripted) Extract(_ context.Context, in Input) (Verdict, error) {
	s.asked = append(s.asked, in)
	return s.verdict, s.err
}

func step() *schema.Step {
	return &schema.Step{
		Run: "r", Rollout: "o", Index: 2, Kind: schema.KindSearch,
		Question: "When did the Oakham mill burn?",
		Query:    "Oakham mill fire",
		Text:     "The Oakham mill burned in 1911.",
		Passages: []schema.Passage{
			{Digest: "old", ByStep: 1, Title: "Lund", Text: "Lund is a city. It has a mill."},
			{Digest: "own", ByStep: 2, Title: "Oakham", Text: "Oakham is a town. The mill burned in 1902. It was rebuilt."},
		},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	relevant := func(quotes ...string) Verdict { return Verdict{Relevant: true, Quotes: quotes} }
	silent := func(s *schema.Step) { s.Text = "I need to search for the fire." }
	conclusion := func(s *schema.Step) { s.Kind, s.Claim = schema.KindConclusion, "The Oakham mill burned in 1911." }
	tests := []struct {
		name       string
		change     func(*schema.Step)
		abstaining bool
		verdict    Verdict
		next       tree.Hop
		gap        schema.Gap
		reason     schema.Reason
		outcome    string
		quote      string
		match      schema.QuoteMatch
	}{
		{name: "irrelevant", verdict: Verdict{}, gap: schema.GapIrrelevant, outcome: OutcomeIrrelevant},
		{name: "irrelevant, although it claims nothing", change: silent, verdict: Verdict{}, gap: schema.GapIrrelevant, outcome: OutcomeIrrelevant},
		{name: "a quote", verdict: relevant("The mill burned in 1902."), next: tree.HopLocal, outcome: OutcomeQuoted, quote: "The mill burned in 1902.", match: schema.MatchExact},
		{name: "an invented quote, then a real one", verdict: relevant("The mill never burned.", "the mill  burned in 1902", "The mill burned in 1902"),
			next: tree.HopLocal, outcome: OutcomeQuoted, quote: "The mill burned in 1902.", match: schema.MatchNear},
		{name: "an invented quote", verdict: relevant("The mill burned in 1911."), next: tree.HopLocal, outcome: OutcomeNoQuote,
			quote: "Oakham is a town. The mill burned in 1902. It was rebuilt.", match: schema.MatchWindow},
		{name: "no quote", verdict: relevant(), next: tree.HopLocal, outcome: OutcomeNoQuote,
			quote: "Oakham is a town. The mill burned in 1902. It was rebuilt.", match: schema.MatchWindow},
		{name: "a conclusion without a quote", change: conclusion, verdict: relevant(), next: tree.HopCross, outcome: OutcomeNoQuote},
		{name: "a conclusion with a quote", change: conclusion, verdict: relevant("The mill burned in 1902."), next: tree.HopLocal, outcome: OutcomeQuoted, quote: "The mill burned in 1902.", match: schema.MatchExact},
		{name: "no claim", change: silent, verdict: relevant("The mill burned in 1902."), gap: schema.GapNone, reason: schema.ReasonNoClaim, outcome: OutcomeNoClaim},
		{name: "a justified abstention", change: func(s *schema.Step) { s.Text = "The passages do not mention the fire." }, abstaining: true,
			verdict: relevant(), gap: schema.GapNone, reason: schema.ReasonAbstainOK, outcome: OutcomeAbstained},
		{name: "a justified abstention beside a claim", abstaining: true, verdict: relevant("The mill burned in 1902."), next: tree.HopLocal, outcome: OutcomeQuoted, quote: "The mill burned in 1902.", match: schema.MatchExact},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := step()
			if tt.change != nil {
				tt.change(s)
			}
			d, err := New(&scripted{verdict: tt.verdict}).Decide(t.Context(), &tree.Item{Step: s, Abstaining: tt.abstaining})
			require.NoError(t, err)
			require.Equal(t, tt.next, d.Next)
			require.Equal(t, tt.gap, d.Gap)
			require.Equal(t, tt.reason, d.Reason)
			require.Equal(t, tt.outcome, d.Entry.Outcome)
			require.Equal(t, tt.abstaining, d.Abstaining)
			if tt.quote == "" {
				require.Empty(t, d.Quotes)
			} else {
				require.Len(t, d.Quotes, 1)
				require.Equal(t, tt.quote, d.Quotes[0].Text)
				require.Equal(t, tt.match, d.Quotes[0].Match)
				require.Equal(t, "own", d.Quotes[0].Passage)
			}
		})
	}
}

func TestNoPassagesNeedNoCall(t *testing.T) {
	t.Parallel()
	s := step()
	s.Passages = nil
	j := &scripted{verdict: Verdict{Relevant: true}}
	d, err := New(j).Decide(t.Context(), &tree.Item{Step: s, Abstaining: true})
	require.NoError(t, err)
	require.Equal(t, schema.GapIrrelevant, d.Gap)
	require.Equal(t, OutcomeNoPassages, d.Entry.Outcome)
	gap, _, entry, err := Relevance(t.Context(), j, s)
	require.NoError(t, err)
	require.Equal(t, schema.GapIrrelevant, gap)
	require.Equal(t, schema.StageLiveText, entry.Stage)
	require.Empty(t, j.asked)
}

func TestInputHasOwnPassagesFirst(t *testing.T) {
	t.Parallel()
	j := &scripted{}
	_, err := New(j).Decide(t.Context(), &tree.Item{Step: step()})
	require.NoError(t, err)
	require.Equal(t, "own", j.asked[0].Passages[0].Digest)
	require.Equal(t, []string{"The Oakham mill burned in 1911."}, j.asked[0].Claims)
}

func TestErrorsAreNoVerdicts(t *testing.T) {
	t.Parallel()
	cause := &judge.Error{Reason: schema.ReasonJudgeMalformed, Err: errors.New("not JSON")}
	j := &scripted{err: cause}
	_, err := New(j).Decide(t.Context(), &tree.Item{Step: step()})
	require.Same(t, cause, judge.AsError(err))
	require.ErrorContains(t, err, "run r rollout o step 2")
	gap, _, _, err := Relevance(t.Context(), j, step())
	require.Same(t, cause, judge.AsError(err))
	require.Empty(t, gap)
}

func TestRelevance(t *testing.T) {
	t.Parallel()
	s := step()
	s.Text = ""
	gap, detail, entry, err := Relevance(t.Context(), &scripted{verdict: Verdict{Relevant: true}}, s)
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, gap)
	require.Equal(t, OutcomeRelevant, entry.Outcome)
	require.NotEmpty(t, detail)

	gap, detail, entry, err = Relevance(t.Context(), &scripted{}, s)
	require.NoError(t, err)
	require.Equal(t, schema.GapIrrelevant, gap)
	require.Equal(t, schema.StageLiveText, entry.Stage)
	require.Contains(t, detail, "Oakham mill fire")
}
