package abstaincheck

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/internal/judge/llm/stagetest"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestLLM_Suite(t *testing.T) {
	t.Parallel()
	stagetest.Suite(t, stagetest.Stage{
		Spec: PromptSpec(),
		Ask: func(ctx context.Context, setup llm.Setup, text string) (string, judge.Meta, error) {
			j, err := NewLLM(setup)
			if err != nil {
				return "", judge.Meta{}, err
			}
			got, err := j.Stated(ctx, Input{
				Question: text, Query: text, Sought: text, Abstention: text,
				Passages: []schema.Passage{{Title: text, Text: text, ByStep: 1}},
			})
			verdict := map[bool]string{true: "stated", false: "not stated"}[got.Stated]
			return verdict + " " + strings.Join(got.Quotes, "|"), got.Meta, err
		},
		Good: `{"answer":"Bo Ek","stated":"yes","quote":"The mayor is Bo Ek."}`, Verdict: "stated The mayor is Bo Ek.",
		Bad: []string{
			`{"answer":"","stated":"maybe","quote":""}`, `{"answer":"","stated":"YES","quote":""}`, `{"answer":"x","quote":""}`,
			`{"answer":"x","stated":"no"}`, `{"stated":"no","quote":""}`, `{"answer":"x","stated":"no","quote":[]}`,
			`{"answer":"x","stated":"no","quote":null}`, `{"answer":"x","stated":false,"quote":""}`, `{"answer":"x","stated":"no","quote":"","justified":"yes"}`,
		},
	})
}

func TestLLM_Prompt(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"answer":"not given","stated":"no","quote":"Lund is a city."}`))
	j, err := NewLLM(stagetest.Setup(t, srv))
	require.NoError(t, err)
	got, err := j.Stated(t.Context(), Input{
		Question: "Who is the mayor of Lund?", Query: "mayor of Lund", Sought: "mayor of Lund",
		Abstention: "The results do not mention the mayor.",
		Passages:   []schema.Passage{{Title: "Lund", Text: "Lund is a city."}, {Title: "Bo Ek", Text: "Bo Ek is a singer."}},
	})
	require.NoError(t, err)
	require.False(t, got.Stated)
	require.Empty(t, got.Meta.Detail)
	require.Empty(t, got.Quotes, "a quote of what doesn't state the fact is no quote")
	messages := srv.Calls()[0].Messages(t)
	user := messages[len(messages)-1]
	require.Contains(t, user, "\n[1] Lund\nLund is a city.\n\n[2] Bo Ek\nBo Ek is a singer.\n")
	require.NotContains(t, user, "do not mention", "the abstention argues for itself; the judge isn't shown it")
}

func TestLLM_LongEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"answer":"","stated":"no","quote":""}`))
	setup := stagetest.Setup(t, srv)
	setup.EvidenceRunes = 2000
	j, err := NewLLM(setup)
	require.NoError(t, err)
	const fact = "The mayor of Lund is Bo Ek."
	padding := strings.Repeat("It rained for most of the day. ", 2000)
	_, err = j.Stated(t.Context(), Input{Question: "Who is the mayor of Lund?", Sought: "mayor of Lund", Passages: []schema.Passage{{Title: "Lund", Text: padding + fact + padding}}})
	require.NoError(t, err)
	messages := srv.Calls()[0].Messages(t)
	user := messages[len(messages)-1]
	require.Less(t, len(user), 3000)
	require.Contains(t, user, fact)
}
