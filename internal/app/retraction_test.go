package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// The aggregator asks the model that D and E have, if its process runs them.
func TestAProcessOpensItsModelOnce(t *testing.T) {
	t.Parallel()
	cfg, err := LoadConfig(nil, os.Environ)
	require.NoError(t, err)
	if cfg.NLIModel == "" || cfg.ORTLib == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	src, err := rewardagg.ProfileYAML("paper")
	require.NoError(t, err)
	cfg.Profile = filepath.Join(t.TempDir(), "nli.yaml")
	mine := strings.Replace(string(src), "mode: pattern", "mode: nli\n  contradiction: {value: 0.5, source: test}", 1)
	require.NoError(t, os.WriteFile(cfg.Profile, []byte(mine), 0o600))
	for _, roles := range [][]Role{{RoleReward}, {RoleNLI, RoleReward}} {
		conn, _ := bustest.Start(t, bus.Options{Memory: true})
		p, err := New(t.Context(), cfg, roles, conn, slog.New(slog.DiscardHandler))
		require.NoError(t, err, roles)
		scorer := p.scorer
		require.NotNil(t, scorer, roles)
		same, err := p.model()
		require.NoError(t, err)
		require.Same(t, scorer, same)
		p.Close()
	}
}

func TestTheRealModelIsAskedAboutRetractions(t *testing.T) {
	t.Parallel()
	cfg, err := LoadConfig(nil, os.Environ)
	require.NoError(t, err)
	if cfg.NLIModel == "" || cfg.ORTLib == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	scorer, err := OpenScorer(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, scorer.Close()) })
	against := rewardagg.Question{New: "Ada Lovelace was born in London.", Old: "Ada Lovelace was born in Paris, not in London."}
	beside := rewardagg.Question{New: "Ada Lovelace wrote notes on the engine.", Old: "Ada Lovelace was born in Paris."}
	long := rewardagg.Question{New: strings.Repeat("Ada Lovelace wrote notes on the engine. ", 200), Old: "She was born in Paris."}
	answers, err := askNLI(scorer)(t.Context(), []rewardagg.Question{against, beside, long})
	require.NoError(t, err)
	require.Greater(t, answers[against].Contradiction, 0.5)
	require.Less(t, answers[beside].Contradiction, 0.5)
	require.NotContains(t, answers, long, "too long for the model: no answer, and no failure")
}
