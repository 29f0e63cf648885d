package quoteextract

import (
	"context"
	"fmt"
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
			got, err := j.Extract(ctx, Input{
				Question: text, Kind: schema.KindSearch, Query: text, Claim: text, Claims: []string{text},
				Passages: []schema.Passage{{Title: text, Text: text, ByStep: 1}},
			})
			return fmt.Sprint(got.Relevant, got.Quotes), got.Meta, err
		},
		Good: `{"about":"yes","sentences":[1,99]}`, Verdict: "true [Lund]",
		Bad: []string{
			`{"about":"partly","sentences":[]}`, `{"about":"yes"}`, `{"sentences":[]}`, `{"about":"yes","sentences":1}`,
			`{"about":"yes","sentences":["1"]}`, `{"about":"yes","sentences":[1.5]}`, `{"about":"yes","sentences":null}`,
			`{"about":true,"sentences":[]}`, `{"about":"yes","sentences":[],"label":"none"}`,
		},
	})
}

func TestLLM_Prompt(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"about":"no","sentences":[2,4,1,3]}`))
	j, err := NewLLM(stagetest.Setup(t, srv))
	require.NoError(t, err)
	got, err := j.Extract(t.Context(), Input{
		Question: "Who is the mayor of Lund?", Query: "mayor of Lund",
		Passages: []schema.Passage{{Title: "Lund", Text: "Lund is a city.\nIt is old. It has a cathedral. It has a mayor."}},
	})
	require.NoError(t, err)
	require.False(t, got.Relevant)
	require.Equal(t, []string{"Lund is a city.\nIt is old.", "It has a mayor."}, got.Quotes, "three sentences, as the schema allows, and neighbours as one")
	messages := srv.Calls()[0].Messages(t)
	user := messages[len(messages)-1]
	require.Contains(t, user, "\n[1] Lund\n(1) Lund is a city.\n(2) It is old.\n")
	require.Regexp(t, `<<claim\n\(none\)\n`, user)
}
