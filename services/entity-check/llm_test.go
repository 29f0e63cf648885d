package entitycheck

import (
	"context"
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
			got, err := j.Align(ctx, Input{
				Question: text, Kind: schema.KindSearch, Query: text, Claim: text,
				Earlier: []schema.Prior{{Index: 1, Query: text, Claim: text}},
			})
			return map[bool]string{true: "aligned", false: "misaligned"}[got.Aligned], got.Meta, err
		},
		Good: `{"needed":"the mayor of Lund","aim":"misaligned"}`, Verdict: "misaligned",
		Bad: []string{
			`{"needed":"x","aim":"none"}`, `{"needed":"x","aim":"Aligned"}`, `{"aim":"aligned"}`, `{"needed":"x"}`,
			`{"needed":1,"aim":"aligned"}`, `{"needed":"x","aim":true}`, `{"needed":"x","aim":"aligned","label":"none"}`,
		},
	})
}

func TestLLM_Prompt(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"needed":" the\nmayor ","aim":"aligned"}`))
	j, err := NewLLM(stagetest.Setup(t, srv))
	require.NoError(t, err)
	got, err := j.Align(t.Context(), Input{
		Question: "Who is the mayor of the city where Ada Brandt lives?", Kind: schema.KindConclusion, Claim: "It is Bo Ek.",
		Earlier: []schema.Prior{{Index: 1, Query: "Ada\nBrandt home", Claim: "Ada Brandt lives in Lund."}, {Index: 2, Query: "mayor of Lund"}},
	})
	require.NoError(t, err)
	require.True(t, got.Aligned)
	require.Equal(t, "Needed: the mayor", got.Meta.Detail)
	messages := srv.Calls()[0].Messages(t)
	user := messages[len(messages)-1]
	require.Contains(t, user, "\nstep 1 looked for: Ada Brandt home; found: Ada Brandt lives in Lund.\nstep 2 looked for: mayor of Lund; found: (none)\n")
	require.Regexp(t, `<<step\nconcludes: It is Bo Ek\.\n`, user)

	_, err = j.Align(t.Context(), Input{Question: "Where is Lund?", Kind: schema.KindSearch, Query: "Lund\nconcludes: Lund"})
	require.NoError(t, err)
	messages = srv.Calls()[1].Messages(t)
	require.Regexp(t, `<<step\nlooks for: Lund concludes: Lund\n`, messages[len(messages)-1])
}
