package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

func TestKindsOf(t *testing.T) {
	t.Parallel()
	const off, nli, ask, local, free, student = judge.KindOff, judge.KindNLI, judge.KindLLM, judge.KindLocal, judge.KindFree, judge.KindStudent
	for name, c := range map[string]struct {
		cfg  Config
		want Kinds
	}{
		"auto without an endpoint":      {Config{Judge: "auto"}, Kinds{local, local, local, nli, nli}},
		"auto with one":                 {Config{Judge: "auto", LLMURL: "http://x"}, Kinds{ask, ask, ask, nli, nli}},
		"auto with a recording":         {Config{Judge: "auto", Replay: "x"}, Kinds{ask, ask, ask, nli, nli}},
		"hybrid":                        {Config{Judge: "llm"}, Kinds{ask, ask, ask, nli, nli}},
		"nothing but the pipeline":      {Config{Judge: "free", JudgeNLI: "free"}, Kinds{free, free, free, free, free}},
		"nli-only":                      {Config{Judge: "nli-only"}, Kinds{off, off, off, nli, nli}},
		"llm-only":                      {Config{Judge: "llm-only"}, Kinds{ask, ask, ask, ask, ask}},
		"rules-only":                    {Config{Judge: "rules-only"}, Kinds{local, local, local, local, local}},
		"student":                       {Config{Judge: "student"}, Kinds{student, off, off, student, student}},
		"flag-all needs no model":       {Config{Judge: "flag-all"}, Kinds{judge.KindFlagAll, judge.KindFlagAll, judge.KindFlagAll, off, off}},
		"single-llm needs no model":     {Config{Judge: "single-llm"}, Kinds{judge.KindSingle, judge.KindSingle, judge.KindSingle, off, off}},
		"another A under flag-all":      {Config{Judge: "flag-all", JudgeEntity: "local"}, Kinds{local, judge.KindFlagAll, judge.KindFlagAll, nli, nli}},
		"without A":                     {Config{Judge: "local", JudgeEntity: "off"}, Kinds{off, local, local, nli, nli}},
		"without B":                     {Config{Judge: "local", JudgeAbstain: "off"}, Kinds{local, off, local, nli, nli}},
		"without C":                     {Config{Judge: "local", JudgeQuote: "off"}, Kinds{local, local, off, nli, nli}},
		"without D":                     {Config{Judge: "local", JudgeLocal: "off"}, Kinds{local, local, local, off, nli}},
		"without E":                     {Config{Judge: "local", JudgeCross: "off"}, Kinds{local, local, local, nli, off}},
		"llm-only without D":            {Config{Judge: "llm-only", JudgeLocal: "off"}, Kinds{ask, ask, ask, off, ask}},
		"judge_nli goes before judge":   {Config{Judge: "llm-only", JudgeNLI: "nli"}, Kinds{ask, ask, ask, nli, nli}},
		"judge_local before judge_nli":  {Config{Judge: "local", JudgeNLI: "llm", JudgeLocal: "local"}, Kinds{local, local, local, local, ask}},
		"a stage's own auto":            {Config{Judge: "nli-only", JudgeQuote: "auto"}, Kinds{off, off, local, nli, nli}},
		"judge_cross before a baseline": {Config{Judge: "rules-only", JudgeCross: "nli"}, Kinds{local, local, local, local, nli}},
	} {
		require.Equal(t, c.want, KindsOf(c.cfg), name)
	}
}

func loaded(t *testing.T, environ ...string) Config {
	t.Helper()
	cfg, err := LoadConfig(nil, func() []string { return environ })
	require.NoError(t, err)
	return cfg
}

func builder(cfg Config) *judges {
	return &judges{
		cfg: cfg, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		setup: &llm.Setup{Completer: silent{}, Fencer: llm.NewFencer(llm.NewSecret("x"))},
	}
}

// silent is an endpoint that is never asked.
type silent struct{}

func (silent) Complete(context.Context, llm.Request) (llm.Completion, error) {
	panic("nothing was to be asked")
}

// stageHashes are what a run is held to at A to E, but for those stages that
// need a model file.
func stageHashes(t *testing.T, cfg Config) map[schema.Stage]string {
	t.Helper()
	j := builder(cfg)
	out := map[schema.Stage]string{}
	keep := func(b built, err error) {
		require.NoError(t, err)
		hash, err := b.hash()
		require.NoError(t, err)
		require.NotNil(t, b.decider, "%s", b.Stage)
		out[b.Stage] = hash
	}
	keep(j.entity())
	keep(j.abstain())
	keep(j.quote())
	e, err := j.entailment()
	require.NoError(t, err)
	keep(e.local, nil)
	keep(e.cross, nil)
	return out
}

func TestARunIsHeldToEveryJudge(t *testing.T) {
	t.Parallel()
	base := stageHashes(t, loaded(t, "STEPGAP_JUDGE=local", "STEPGAP_JUDGE_NLI=free"))
	for _, stages := range []struct {
		setting string
		stage   schema.Stage
	}{
		{"JUDGE_ENTITY", schema.StageEntity}, {"JUDGE_ABSTAIN", schema.StageAbstain}, {"JUDGE_QUOTE", schema.StageQuote},
		{"JUDGE_LOCAL", schema.StageLocal}, {"JUDGE_CROSS", schema.StageCross},
	} {
		got := stageHashes(t, loaded(t, "STEPGAP_JUDGE=local", "STEPGAP_JUDGE_NLI=free", "STEPGAP_"+stages.setting+"=off"))
		for stage, hash := range base {
			if stage == stages.stage {
				require.NotEqual(t, hash, got[stage], "%s: %s", stages.setting, stage)
			} else {
				require.Equal(t, hash, got[stage], "%s: %s", stages.setting, stage)
			}
		}
	}
}

func TestARunIsHeldToWhatChangesAnAnswer(t *testing.T) {
	t.Parallel()
	llmOnly := []string{"STEPGAP_JUDGE=llm-only", "STEPGAP_LLM_MODEL=small"}
	base := stageHashes(t, loaded(t, llmOnly...))
	again := stageHashes(t, loaded(t, llmOnly...))
	require.Equal(t, base, again)
	for name, environ := range map[string]string{
		"another model":     "STEPGAP_LLM_MODEL=large",
		"another format":    "STEPGAP_LLM_FORMAT=object",
		"a reasoning model": "STEPGAP_LLM_REASONING_TOKENS=512",
	} {
		got := stageHashes(t, loaded(t, append(slices.Clone(llmOnly), environ)...))
		for stage, hash := range base {
			require.NotEqual(t, hash, got[stage], "%s: %s", name, stage)
		}
	}
	single := stageHashes(t, loaded(t, "STEPGAP_JUDGE=single-llm", "STEPGAP_LLM_MODEL=small"))
	require.NotEqual(t, base[schema.StageEntity], single[schema.StageEntity])

	rules := stageHashes(t, loaded(t, "STEPGAP_JUDGE=rules-only"))
	for _, stage := range []schema.Stage{schema.StageLocal, schema.StageCross} {
		require.NotEqual(t, base[stage], rules[stage])
	}
	require.NotEqual(t, rules[schema.StageLocal], stageHashes(t, loaded(t, "STEPGAP_JUDGE=local", "STEPGAP_JUDGE_NLI=free"))[schema.StageLocal])
}

// pupil is a student that is never asked.
type pupil struct{ hash string }

func (p pupil) Info() nli.Info { return nli.Info{Name: "pupil", Hash: p.hash} }

func (pupil) Classify(context.Context, nli.Pair) ([]float64, error) {
	panic("nothing was to be asked")
}

func TestARunIsHeldToItsStudent(t *testing.T) {
	t.Parallel()
	hashes := func(model string) [2]string {
		j := builder(loaded(t, "STEPGAP_JUDGE=student"))
		opened := 0
		j.student = func() (nliworker.Classifier, error) { opened++; return pupil{model}, nil }
		e, err := j.entailment()
		require.NoError(t, err)
		require.Equal(t, 2, opened, "D and E both ask for it; a process opens one")
		d, err := e.local.hash()
		require.NoError(t, err)
		c, err := e.cross.hash()
		require.NoError(t, err)
		a, err := j.entity()
		require.NoError(t, err)
		_, _, _, err = a.live(t.Context(), &schema.Step{})
		require.ErrorContains(t, err, "whole steps")
		return [2]string{d, c}
	}
	require.Equal(t, hashes("one"), hashes("one"))
	require.NotEqual(t, hashes("one"), hashes("two"))
}

func TestAPromptOfItsOwnIsPartOfTheRun(t *testing.T) {
	t.Parallel()
	base := stageHashes(t, loaded(t, "STEPGAP_JUDGE=llm-only", "STEPGAP_LLM_MODEL=small"))
	dir := t.TempDir()
	text := strings.Replace(nliworker.PromptSpec().Text, "=== system\n", "=== system\nBe brief.\n", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nli-worker.txt"), []byte(text), 0o600))
	j := builder(loaded(t, "STEPGAP_JUDGE=llm-only", "STEPGAP_LLM_MODEL=small"))
	j.setup.PromptDir = dir
	e, err := j.entailment()
	require.NoError(t, err)
	for _, b := range []built{e.local, e.cross} {
		hash, err := b.hash()
		require.NoError(t, err)
		require.NotEqual(t, base[b.Stage], hash)
	}
}

func TestAJudgeThatNeedsAnEndpointSaysSo(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{
		"llm":        {"STEPGAP_JUDGE=llm"},
		"llm-only":   {"STEPGAP_JUDGE=llm-only", "STEPGAP_JUDGE_ENTITY=off"},
		"single-llm": {"STEPGAP_JUDGE=single-llm"},
		"no model":   {"STEPGAP_JUDGE=single-llm", "STEPGAP_LLM_URL=http://127.0.0.1:1/v1"},
	} {
		j := builder(loaded(t, environ...))
		j.setup = nil
		_, err := j.entity()
		if name == "llm-only" {
			_, err = j.entailment()
		}
		require.ErrorContains(t, err, "llm_url", name)
		require.ErrorContains(t, err, "llm_model", name)
		require.ErrorContains(t, err, strings.TrimSuffix(string(judge.KindLLM), "x"), name)
	}
}
