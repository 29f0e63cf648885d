package nliworker_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/internal/judge/llm/stagetest"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

func TestLLM_Suite(t *testing.T) {
	t.Parallel()
	stagetest.Suite(t, stagetest.Stage{
		Spec: nliworker.PromptSpec(),
		Ask: func(ctx context.Context, setup llm.Setup, text string) (string, judge.Meta, error) {
			j, err := nliworker.NewLLM(setup, "scripted")
			if err != nil {
				return "", judge.Meta{}, err
			}
			pair := nli.Pair{Premise: text, Hypothesis: text}
			session := j.Begin()
			got, err := session.Score(ctx, []nli.Pair{pair, pair})
			verdict := "none"
			if err == nil && got[0] == got[1] {
				verdict = map[schema.Scores]string{{Entailment: 1}: "entailed", {Contradiction: 1}: "contradicted", {Neutral: 1}: "open"}[got[0]]
			}
			return verdict, session.Meta(pair), err
		},
		Good: `{"says":"he was born in Odder","verdict":"contradicted"}`, Verdict: "contradicted",
		Bad: []string{
			`{"says":"x","verdict":"neutral"}`, `{"says":"x","verdict":"Entailed"}`, `{"verdict":"open"}`, `{"says":"x"}`,
			`{"says":1,"verdict":"open"}`, `{"says":"x","verdict":true}`, `{"says":"x","verdict":"open","label":"none"}`,
		},
	})
}

// verdictOn answers as want says, by what a request holds; else open.
func verdictOn(want map[string]string) llmtest.Reply {
	return func(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
		verdict := "open"
		for part, v := range want {
			if strings.Contains(string(c.Fields["messages"]), part) {
				verdict = v
			}
		}
		llmtest.Text(`{"says":"x","verdict":"`+verdict+`"}`)(w, r, c)
	}
}

func TestLLMJudgesAStepInDsPlace(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. He was born in Hull. He kept bees in York.", 3)
	for name, c := range map[string]struct {
		claim   string
		verdict string
		want    schema.Gap
	}{
		"entailed":     {"Orrin Vale was born in Hull.", "entailed", schema.GapNone},
		"contradicted": {"Orrin Vale was born in Leeds.", "contradicted", schema.GapContradicted},
		"open":         {"Orrin Vale had a dog.", "open", schema.GapMissingBridge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, verdictOn(map[string]string{"was born in Hull.": c.verdict}))
			j, err := nliworker.NewLLM(stagetest.Setup(t, srv), "scripted")
			require.NoError(t, err)
			d, err := nliworker.NewLocal(j, nliworker.Defaults())
			require.NoError(t, err)
			got, err := d.Decide(t.Context(), &tree.Item{Step: step(c.claim, vale), Quotes: []schema.Quote{quoteOf(vale, "He was born in Hull.")}})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Gap)
			require.Equal(t, "llm", got.Entry.Judge)
			require.Equal(t, "scripted", got.Entry.Model)
			require.Equal(t, j.PromptVersion(), got.Entry.Prompt)
			require.Nil(t, got.Entry.Scores, "a verdict is no probability")
			require.NotEmpty(t, got.Entry.Premise)
			require.Equal(t, len(srv.Calls()), got.Entry.Calls)
			require.Equal(t, 120*len(srv.Calls()), got.Entry.TokensIn)

			again, err := d.Decide(t.Context(), &tree.Item{Step: step(c.claim, vale), Quotes: []schema.Quote{quoteOf(vale, "He was born in Hull.")}})
			require.NoError(t, err)
			require.Equal(t, got.Entry.Calls, again.Entry.Calls, "one decision's bill is not another's")
		})
	}
}

func TestLLMFailureIsTypedAndCarriesTheWholeBill(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. He was born in Hull. He kept bees in York. Orrin Vale kept a dog in Hull.", 3)
	for name, c := range map[string]struct {
		reply     llmtest.Reply
		reason    schema.Reason
		temporary bool
	}{
		"refused":   {llmtest.Status(400, "no"), schema.ReasonJudgeError, false},
		"down":      {llmtest.Status(503, "down"), schema.ReasonJudgeError, true},
		"malformed": {llmtest.Text("certainly"), schema.ReasonJudgeMalformed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, llmtest.Text(`{"says":"","verdict":"open"}`), c.reply)
			j, err := nliworker.NewLLM(stagetest.Setup(t, srv), "scripted")
			require.NoError(t, err)
			d, err := nliworker.NewLocal(j, nliworker.Defaults())
			require.NoError(t, err)
			_, err = d.Decide(t.Context(), &tree.Item{Step: step("Orrin Vale had a dog in York.", vale), Quotes: []schema.Quote{quoteOf(vale, "He kept bees in York.")}})
			je := judge.AsError(err)
			require.NotNil(t, je, "%v", err)
			require.Equal(t, c.reason, je.Reason)
			require.Equal(t, c.temporary, je.Temporary)
			require.Equal(t, len(srv.Calls()), je.Meta.Calls)
			require.Equal(t, judge.KindLLM, je.Meta.Judge)
			require.ErrorContains(t, err, "step 3")
		})
	}
}

func TestLLMInEsPlaceAsksOnceAllLabelsStand(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale founded Harrow Mill.", 1)
	srv := llmtest.New(t, verdictOn(map[string]string{"founded Harrow Mill": "entailed"}))
	j, err := nliworker.NewLLM(stagetest.Setup(t, srv), "scripted")
	require.NoError(t, err)
	d, err := nliworker.NewCross(j, nliworker.Defaults())
	require.NoError(t, err)
	s := step("Orrin Vale founded Harrow Mill.", vale)
	s.Kind, s.History = schema.KindConclusion, []schema.Prior{{Index: 1}, {Index: 2}}
	first := &schema.Label{Label: schema.GapNone, Quotes: []schema.Quote{quoteOf(vale, vale.Text)}}
	got, err := d.Decide(t.Context(), &tree.Item{Step: s, Earlier: map[int]*schema.Label{1: first}})
	require.NoError(t, err)
	require.True(t, got.Wait)
	require.Empty(t, srv.Calls(), "what a wait has cost would be on no bill")
	got, err = d.Decide(t.Context(), &tree.Item{Step: s, Earlier: map[int]*schema.Label{1: first, 2: {Label: schema.GapIrrelevant}}})
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, got.Gap, "%+v", got)
	require.Equal(t, len(srv.Calls()), got.Entry.Calls)
	require.NotZero(t, got.Entry.Calls)
}
