package single_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/internal/judge/llm/stagetest"
	"github.com/stepgap/stepgap/internal/judge/single"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

func step() *schema.Step {
	return &schema.Step{
		Run: "r", Rollout: "o", Index: 2, Kind: schema.KindSearch, Question: "Who is the mayor of the city where Ada Brandt lives?",
		Query: "mayor of\nLund", Text: "I think that the mayor of Lund is Bo Ek. His age is not mentioned.",
		History: []schema.Prior{{Index: 1, Query: "Ada Brandt home", Claim: "Ada Brandt lives in Lund."}},
		Passages: []schema.Passage{
			{Digest: "a", Title: "Ada Brandt", Text: "Ada Brandt lives in Lund.", ByStep: 1},
			{Digest: "b", Title: "Lund", Text: "Lund is a city. Its mayor is Bo Ek.", ByStep: 2},
		},
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	stagetest.Suite(t, stagetest.Stage{
		Spec: single.PromptSpec(),
		Ask: func(ctx context.Context, setup llm.Setup, text string) (string, judge.Meta, error) {
			j, err := single.New(setup)
			if err != nil {
				return "", judge.Meta{}, err
			}
			got, err := j.Decide(ctx, &tree.Item{Step: &schema.Step{
				Run: "r", Rollout: "o", Index: 2, Kind: schema.KindSearch, Question: text, Query: text, Text: text, Claim: text,
				History:  []schema.Prior{{Index: 1, Query: text, Claim: text}},
				Passages: []schema.Passage{{Title: text, Text: text, ByStep: 2}},
			}})
			meta := judge.Meta{
				Judge: judge.Kind(got.Entry.Judge), Model: got.Entry.Model, Prompt: got.Entry.Prompt, Calls: got.Entry.Calls,
				TokensIn: got.Entry.TokensIn, TokensOut: got.Entry.TokensOut, TokensCached: got.Entry.TokensCached,
			}
			return string(got.Gap), meta, err
		},
		Good: `{"quote":"","label":"missing_bridge"}`, Verdict: "missing_bridge",
		Bad: []string{
			`{"quote":"","label":"ungraded"}`, `{"quote":"","label":"None"}`, `{"label":"none"}`, `{"quote":""}`,
			`{"quote":1,"label":"none"}`, `{"quote":null,"label":"none"}`, `{"quote":"","label":"none","why":"x"}`,
		},
	})
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer, quote string
		want          schema.Gap
		dropped       bool
	}{
		"with its quote":          {`{"quote":"Its mayor is Bo Ek.","label":"none"}`, "Its mayor is Bo Ek.", schema.GapNone, false},
		"a quote that is no text": {`{"quote":"The mayor of Lund is Bo Ek, I know.","label":"contradicted_claim"}`, "", schema.GapContradicted, true},
		"without":                 {`{"quote":"","label":"irrelevant_evidence"}`, "", schema.GapIrrelevant, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, llmtest.Text(c.answer))
			j, err := single.New(stagetest.Setup(t, srv))
			require.NoError(t, err)
			got, err := j.Decide(t.Context(), &tree.Item{Step: step()})
			require.NoError(t, err)
			require.Equal(t, tree.HopDone, got.Next)
			require.Equal(t, c.want, got.Gap)
			require.Equal(t, schema.StageEntity, got.Entry.Stage)
			require.Equal(t, string(c.want), got.Entry.Outcome)
			require.Equal(t, c.dropped, got.Entry.Detail != "")
			require.Len(t, srv.Calls(), 1)
			if c.quote == "" {
				require.Empty(t, got.Quotes)
			} else {
				require.Equal(t, c.quote, got.Quotes[0].Text)
				require.Equal(t, "b", got.Quotes[0].Passage)
			}
		})
	}
}

func TestPromptShowsWhatTheTreeSees(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"quote":"","label":"none"}`))
	j, err := single.New(stagetest.Setup(t, srv))
	require.NoError(t, err)
	_, err = j.Decide(t.Context(), &tree.Item{Step: step()})
	require.NoError(t, err)
	messages := srv.Calls()[0].Messages(t)
	user := messages[len(messages)-1]
	for _, part := range []string{
		"Who is the mayor of the city where Ada Brandt lives?", "step 1 looked for: Ada Brandt home; found: Ada Brandt lives in Lund.",
		"looked for: mayor of Lund\n", "The mayor of Lund is Bo Ek.", "His age is not mentioned.",
		"[1] Lund\nLund is a city. Its mayor is Bo Ek.", "[2] Ada Brandt",
	} {
		require.Contains(t, user, part)
	}

	bare := step()
	bare.Query, bare.Passages, bare.History, bare.Kind = "", nil, nil, schema.KindConclusion
	_, err = j.Decide(t.Context(), &tree.Item{Step: bare})
	require.NoError(t, err)
	messages = srv.Calls()[1].Messages(t)
	require.Contains(t, messages[len(messages)-1], "concludes from what was found")
}
