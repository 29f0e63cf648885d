package systems

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/judge"
)

func settings(t *testing.T, environ ...string) app.Config {
	t.Helper()
	cfg, err := app.LoadConfig(nil, func() []string { return environ })
	require.NoError(t, err)
	return cfg
}

func names(list []System) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

func TestTheMatrixOfWhatThereIs(t *testing.T) {
	t.Parallel()
	list, missing := Matrix(settings(t))
	require.Equal(t, []string{
		"hybrid", "rules-only", "nli-only",
		"hybrid-no-A", "hybrid-no-B", "hybrid-no-C", "hybrid-no-D", "hybrid-no-E",
		"rules-only-no-A", "rules-only-no-B", "rules-only-no-C", "rules-only-no-D", "rules-only-no-E",
	}, names(list))
	require.Len(t, missing, 1)

	list, missing = Matrix(settings(t, "STEPGAP_LLM_URL=http://127.0.0.1:1/v1", "STEPGAP_LLM_MODEL=m", "STEPGAP_STUDENT_MODEL=s"))
	require.Equal(t, []string{"hybrid", "llm-only", "single-llm", "nli-only", "student"}, names(list)[:5])
	require.Empty(t, missing)
	require.Equal(t, "A llm, B llm, C llm, D nli, E nli; model m", list[0].About)

	// Each removal takes out its own stage and no other.
	for _, s := range list {
		if s.Of == "" {
			continue
		}
		k := app.KindsOf(s.Config)
		for letter, kind := range map[string]judge.Kind{"A": k.Entity, "B": k.Abstain, "C": k.Quote, "D": k.Local, "E": k.Cross} {
			require.Equal(t, letter == s.Without.Letter(), kind == judge.KindOff, "%s: %s is %s", s.Name, letter, kind)
		}
	}
}

func TestFingerprintsKnowWhatDecides(t *testing.T) {
	t.Parallel()
	model := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(model, name), []byte(text), 0o644))
	}
	write("model.onnx", "weights")
	write("config.json", "{}")
	write("tokenizer.json", "{}")
	base := settings(t, "STEPGAP_NLI_MODEL="+model, "STEPGAP_JUDGE=local")
	of := func(cfg app.Config) string {
		h, err := NewPrints().Of(cfg)
		require.NoError(t, err)
		return h
	}
	want := of(base)
	change := func(set func(*app.Config)) string {
		cfg := base
		set(&cfg)
		return of(cfg)
	}
	require.Equal(t, want, change(func(c *app.Config) { c.Workers, c.LogLevel, c.LLMModel = 3, "debug", "unused" }))
	require.NotEqual(t, want, change(func(c *app.Config) { c.NLIEntailment = 0.7 }))
	require.NotEqual(t, want, change(func(c *app.Config) { c.JudgeAbstain = "off" }))
	write("thresholds.json", "{}")
	require.NotEqual(t, want, of(base), "another file beside the model")
	require.Equal(t, change(func(c *app.Config) { c.Judge = "flag-all" }), change(func(c *app.Config) { c.Judge, c.NLIModel = "flag-all", "/nowhere" }), "no model is needed")
	_, err := NewPrints().Of(settings(t, "STEPGAP_NLI_MODEL=/nowhere", "STEPGAP_JUDGE=local"))
	require.Error(t, err)
}
