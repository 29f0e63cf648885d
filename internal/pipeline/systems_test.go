package pipeline

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// rollout is one of four steps, each for a stage of its own: a query that is
// off for A, an abstention for B, passages about something else for C, a claim
// that its passage contradicts for D; and a conclusion for E that nothing
// supports.
func rollout() []*schema.Step {
	const question = "Where was the director of the film Silent Harbour born?"
	steps := []*schema.Step{
		{Kind: schema.KindSearch, Query: "population of the Bergen Shipping Company", Claim: "The Bergen Shipping Company has 300 people.",
			Passages: []schema.Passage{{Title: "Bergen Shipping Company", Text: "The Bergen Shipping Company has 300 people."}}},
		{Kind: schema.KindSearch, Query: "director of the film Silent Harbour", Text: "The director of the film Silent Harbour is not mentioned in the passages.",
			Passages: []schema.Passage{{Title: "Silent Harbour", Text: "Silent Harbour is a Danish film. The director of the film Silent Harbour is Ole Vinter."}}},
		{Kind: schema.KindSearch, Query: "director of the film Silent Harbour", Claim: "Silent Harbour was directed by Ole Vinter.",
			Passages: []schema.Passage{{Title: "Flour", Text: "Flour is milled from wheat. Most flour is white."}}},
		{Kind: schema.KindSearch, Query: "director of the film Silent Harbour", Claim: "Silent Harbour was released in 1931.",
			Passages: []schema.Passage{{Title: "Silent Harbour", Text: "Silent Harbour was released in 1958."}}},
		{Kind: schema.KindConclusion, Claim: "The director of the film Silent Harbour was born in Odder.", Answer: "Odder"},
	}
	for i, s := range steps {
		s.Run, s.Rollout, s.Index, s.Question = "r", "o", i+1, question
		for k := range s.Passages {
			s.Passages[k].ByStep = s.Index
		}
		for _, before := range steps[:i] {
			s.History = append(s.History, schema.Prior{Index: before.Index, Query: before.Query, Claim: before.Claim})
		}
	}
	return steps
}

// labelled sends steps, the rollout o of run r, through a pipeline under cfg.
func labelled(t *testing.T, url string, steps []*schema.Step, change ...func(*app.Config)) []*schema.Label {
	t.Helper()
	p := started(t, url, change...)
	end := &schema.RolloutEnd{Run: "r", Rollout: "o", Question: steps[0].Question, Answer: "Odder", Gold: []string{"Odder"}, DeadlineMS: time.Minute.Milliseconds()}
	for _, s := range steps {
		ref, err := p.Client.PublishStep(t.Context(), s, client.Deadline(time.Minute))
		require.NoError(t, err)
		end.Steps = append(end.Steps, ref)
	}
	require.NoError(t, p.Client.PublishEnd(t.Context(), end))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := p.Client.WaitReward(ctx, schema.RolloutID{Run: "r", Rollout: "o"})
	require.NoError(t, err)
	var out []*schema.Label
	for _, s := range steps {
		out = append(out, p.label(t, schema.StepID{Run: "r", Rollout: "o", Index: s.Index}))
	}
	return out
}

// gaps are the labels in short, and the stage that gave each.
func gaps(labels []*schema.Label) []string {
	var out []string
	for _, l := range labels {
		out = append(out, l.Stage.Letter()+" "+l.Label.Short())
	}
	return out
}

// asked lists the judges that the trails name, each once, by stage.
func asked(labels []*schema.Label) map[string][]string {
	out := map[string][]string{}
	for _, l := range labels {
		for _, e := range l.Trail {
			if at := e.Stage.Letter(); e.Judge != "" && !slices.Contains(out[at], e.Judge) {
				out[at] = append(out[at], e.Judge)
			}
		}
	}
	return out
}

func TestEveryStageCanBeTakenOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*app.Config)
		want []string
	}{
		"none":      {func(*app.Config) {}, []string{"A CC", "B CC", "C IE", "D OK", "E OK"}},
		"A":         {func(c *app.Config) { c.JudgeEntity = "off" }, []string{"D OK", "B CC", "C IE", "D OK", "E OK"}},
		"B":         {func(c *app.Config) { c.JudgeAbstain = "off" }, []string{"A CC", "C OK", "C IE", "D OK", "E OK"}},
		"C":         {func(c *app.Config) { c.JudgeQuote = "off" }, []string{"A CC", "B CC", "D OK", "D OK", "E OK"}},
		"all three": {func(c *app.Config) { c.Judge, c.JudgeNLI = "nli-only", "free" }, []string{"D OK", "C OK", "D OK", "D OK", "E OK"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := labelled(t, "", rollout(), func(c *app.Config) { c.Judge = "local" }, c.set)
			require.Equal(t, c.want, gaps(got))
		})
	}
	t.Run("D and E", func(t *testing.T) {
		t.Parallel()
		got := labelled(t, "", rollout(), func(c *app.Config) { c.Judge, c.JudgeNLI = "local", "off" })
		require.Equal(t, []string{"A CC", "B CC", "C IE", "D OK", "E OK"}, gaps(got))
		require.Equal(t, map[string][]string{"A": {"local"}, "B": {"local"}, "C": {"local"}, "D": {"off"}, "E": {"off"}}, asked(got))
		require.Contains(t, got[3].Detail, "D is off")
		require.Contains(t, got[4].Detail, "E is off")
	})
}

func TestTheTrivialBaselinesNeedNoModel(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"flag-all": "A CC", "flag-none": "A OK"} {
		got := labelled(t, "", rollout(), func(c *app.Config) { c.Judge, c.JudgeNLI, c.NLIModel = kind, "", "/nowhere" })
		require.Equal(t, []string{want, want, want, want, want}, gaps(got))
	}
}

// sensibleToo also answers what single-llm, D and E ask.
func sensibleToo(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
	switch body := string(c.Fields["response_format"]); {
	case strings.Contains(body, `"nli_worker`):
		verdict := "open"
		if strings.Contains(string(c.Fields["messages"]), "1931") {
			verdict = "contradicted"
		}
		llmtest.Text(`{"says":"","verdict":"`+verdict+`"}`)(w, r, c)
	case strings.Contains(body, `"single_llm`):
		llmtest.Text(`{"quote":"Silent Harbour was released in 1958.","label":"missing_bridge"}`)(w, r, c)
	default:
		sensible(w, r, c)
	}
}

func TestEveryBaselineIsOneSetting(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, sensibleToo)
	for kind, c := range map[string]struct {
		want   []string
		judges map[string][]string
	}{
		"llm-only":   {[]string{"D OK", "C OK", "D MB", "D CC", "E IE"}, map[string][]string{"A": {"llm"}, "B": {"llm"}, "C": {"llm"}, "D": {"llm"}}},
		"single-llm": {[]string{"A MB", "A MB", "A MB", "A MB", "A MB"}, map[string][]string{"A": {"llm"}}},
		"rules-only": {[]string{"A CC", "B CC", "C IE", "D CC", "E IE"}, map[string][]string{"A": {"local"}, "B": {"local"}, "C": {"local"}, "D": {"local"}, "E": {"local"}}},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			got := labelled(t, srv.URL, rollout(), func(cfg *app.Config) { cfg.Judge, cfg.JudgeNLI, cfg.NLIModel = kind, "", "/nowhere" })
			for _, l := range got {
				require.NotEqual(t, schema.GapUngraded, l.Label, "%s", l.Detail)
			}
			require.Equal(t, c.want, gaps(got))
			for stage, names := range c.judges {
				require.Equal(t, names, asked(got)[stage], stage)
			}
			if kind == "single-llm" {
				require.Empty(t, got[0].Quotes, "of another step's passage")
				require.Equal(t, "Silent Harbour was released in 1958.", got[3].Quotes[0].Text)
				require.Equal(t, schema.MatchExact, got[3].Quotes[0].Match)
			}
		})
	}
}

func TestAFailingModelInDsPlaceIsNoLabel(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, func(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
		if strings.Contains(string(c.Fields["response_format"]), `"nli_worker`) {
			llmtest.Text("that is hard to say")(w, r, c)
			return
		}
		sensible(w, r, c)
	})
	got := labelled(t, srv.URL, rollout(), func(cfg *app.Config) { cfg.Judge, cfg.JudgeNLI = "llm-only", "" })
	last := got[3].Trail[len(got[3].Trail)-1]
	require.Equal(t, []any{schema.GapUngraded, schema.ReasonJudgeMalformed, schema.StageLocal}, []any{got[3].Label, got[3].Reason, got[3].Stage})
	require.GreaterOrEqual(t, last.Calls, 2, "the call and its repair are on the bill")
	require.Equal(t, schema.GapUngraded, got[4].Label, "a conclusion from an ungraded step is ungraded")
	require.Equal(t, schema.ReasonUpstream, got[4].Reason)
}

func TestD_AndEAreRecordedAndReplayed(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, sensibleToo)
	file := filepath.Join(t.TempDir(), "verdicts.jsonl")
	for _, kind := range []string{"llm-only", "single-llm"} {
		recorded := labelled(t, srv.URL, rollout(), func(cfg *app.Config) {
			cfg.Judge, cfg.JudgeNLI, cfg.Record = kind, "", file
		})
		before := len(srv.Calls())
		replayed := labelled(t, "", rollout(), func(cfg *app.Config) {
			cfg.Judge, cfg.JudgeNLI, cfg.Replay, cfg.LLMURL, cfg.LLMModel = kind, "", file, "", ""
		})
		require.Len(t, srv.Calls(), before, "nothing is asked")
		require.Equal(t, gaps(recorded), gaps(replayed))
		for i := range recorded {
			require.Equal(t, recorded[i].Quotes, replayed[i].Quotes)
		}
	}
}

// student is a model folder whose graph answers by arithmetic on the ids.
func student(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join("..", "nli", "onnx", "testdata")
	for name, source := range map[string]string{"tokenizer.json": "deberta-tiny/tokenizer.json", "model.onnx": "graphs/four_labels.onnx"} {
		data, err := os.ReadFile(filepath.Join(from, source))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	config := `{"model_type": "bert", "max_position_embeddings": 512, "id2label": {"0": "missing_bridge", "1": "none", "2": "irrelevant_evidence", "3": "contradicted_claim"}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600))
	return dir
}

func TestStudentJudgesTheWholeTree(t *testing.T) {
	t.Parallel()
	if os.Getenv("STEPGAP_ORT_LIB") == "" {
		if _, err := onnx.FindLibrary(); err != nil {
			t.Skip("no ONNX Runtime: make setup")
		}
	}
	dir := student(t)
	steps := rollout()
	steps = append(steps, &schema.Step{Run: "r", Rollout: "o", Index: 6, Kind: schema.KindSearch, Question: steps[0].Question, Query: "nothing", Claim: "Ole Vinter was born in Odder.",
		History: append(append([]schema.Prior{}, steps[4].History...), schema.Prior{Index: 5})})
	for i := range steps[:4] { // the conclusion sees what was found
		steps[4].Passages = append(steps[4].Passages, steps[i].Passages...)
	}
	set := func(c *app.Config) {
		c.Judge, c.JudgeNLI, c.NLIModel, c.StudentModel, c.ORTLib, c.Device = "student", "", "/nowhere", dir, os.Getenv("STEPGAP_ORT_LIB"), "cpu"
	}
	got := labelled(t, "", steps, set)
	for i, l := range got[:5] {
		require.Equal(t, schema.StageLocal, l.Stage, "%s", l.Detail)
		require.True(t, l.Label.Graded())
		last := l.Trail[len(l.Trail)-1]
		require.Equal(t, "student", last.Judge)
		premise, hypothesis := nliworker.StudentInput(steps[i])
		require.Equal(t, []string{premise, hypothesis}, []string{last.Premise, last.Hypothesis})
		require.NotEmpty(t, l.Quotes)
	}
	require.Equal(t, []any{schema.StageEntity, schema.GapIrrelevant}, []any{got[5].Stage, got[5].Label}, "code sees that nothing was retrieved")
	require.Equal(t, gaps(got), gaps(labelled(t, "", steps, set)), "again")
}

func TestStudentNeedsAModel(t *testing.T) {
	t.Parallel()
	cfg, err := app.LoadConfig(nil, func() []string { return []string{"STEPGAP_JUDGE=student"} })
	require.NoError(t, err)
	_, err = Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "student_model")
}
