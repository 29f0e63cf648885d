package flips

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestRulesDoNotFlip(t *testing.T) {
	t.Parallel()
	cfg, err := app.LoadConfig(nil, func() []string { return []string{"STEPGAP_JUDGE=rules-only"} })
	require.NoError(t, err)
	set, err := stepset.Own()
	require.NoError(t, err)
	set.Rollouts = set.Rollouts[:10]
	r, err := Run(t.Context(), set, systems.Of("rules-only", cfg), Options{Dir: t.TempDir(), Seed: 1})
	require.NoError(t, err)
	require.Len(t, r.Variations, 4)
	for _, v := range r.Variations {
		require.Positive(t, v.Steps)
		require.Empty(t, v.Flipped, v.Name)
		require.Zero(t, *v.Rate)
	}
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	require.Contains(t, text.String(), "shuffled")
}

func TestFlipsAreCountedByStep(t *testing.T) {
	t.Parallel()
	v := held(run{name: "x"}, map[string]schema.Gap{"a": schema.GapNone, "b": schema.GapNone, "c": schema.GapIrrelevant},
		map[string]schema.Gap{"c": schema.GapUngraded, "b": schema.GapNone, "a": schema.GapMissingBridge})
	require.Equal(t, []Flip{{"a", schema.GapNone, schema.GapMissingBridge}, {"c", schema.GapIrrelevant, schema.GapUngraded}}, v.Flipped)
	require.InDelta(t, 2.0/3, *v.Rate, 1e-12)
	require.Nil(t, held(run{}, nil, nil).Rate)
}
