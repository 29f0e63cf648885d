package predict

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
	"github.com/stepgap/stepgap/internal/judge/local"
	"github.com/stepgap/stepgap/pkg/schema"
)

// rules is a system that needs no model.
func rules(t *testing.T) systems.System {
	t.Helper()
	cfg, err := app.LoadConfig(nil, func() []string { return []string{"STEPGAP_JUDGE=" + systems.RulesOnly} })
	require.NoError(t, err)
	return systems.Of(systems.RulesOnly, cfg)
}

func some(t *testing.T, rollouts int) stepset.Set {
	t.Helper()
	set, err := stepset.Own()
	require.NoError(t, err)
	set.Rollouts = set.Rollouts[:rollouts]
	return set
}

// labelled runs a system once, and says how many rollouts it had to label.
func labelled(t *testing.T, s systems.System, set stepset.Set, path string, o Options) (*File, int) {
	t.Helper()
	done := 0
	o.Progress = func(n, _ int) { done = n }
	r, err := NewRunner(s, o)
	require.NoError(t, err)
	f, err := r.Run(t.Context(), set, path)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return f, done
}

func TestACutRunIsGoneOnWith(t *testing.T) {
	t.Parallel()
	set, s := some(t, 12), rules(t)
	path := filepath.Join(t.TempDir(), "own", "rules-only.jsonl")
	f, done := labelled(t, s, set, path, Options{Program: "p"})
	require.Equal(t, 12, done)
	require.Len(t, f.Rollouts, 12)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)

	items := f.Items()
	_, err = metrics.NewSample(items)
	require.NoError(t, err)
	require.Len(t, items, set.Count().Steps)
	require.NotEmpty(t, f.Groups())
	require.Contains(t, f.Models(), local.Model)
	require.NotEmpty(t, f.Rollouts[0].Steps[0].Trail)

	// Nothing is left to do.
	again, done := labelled(t, s, set, path, Options{Program: "p"})
	require.Zero(t, done)
	require.Equal(t, items, again.Items())

	// The writer was stopped in the middle of the eighth line.
	lines := bytes.SplitAfter(whole, []byte("\n"))
	cut := append(bytes.Join(lines[:7], nil), lines[7][:len(lines[7])/2]...)
	require.NoError(t, os.WriteFile(path, cut, 0o644))
	_, done = labelled(t, s, set, path, Options{Program: "p"})
	require.Equal(t, 6, done)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(whole), string(after), "the same bytes as without a cut")
}

func TestPredictionsOfOtherInputsAreNotGoneOnWith(t *testing.T) {
	t.Parallel()
	set, s := some(t, 3), rules(t)
	path := filepath.Join(t.TempDir(), "x.jsonl")
	labelled(t, s, set, path, Options{Program: "p"})

	_, done := labelled(t, s, set, path, Options{Program: "other"})
	require.Equal(t, 3, done, "another program")
	_, done = labelled(t, s, set, path, Options{Program: "third", AnyBuild: true})
	require.Zero(t, done, "another program, as was asked for")

	other := s
	other.Config.JudgeQuote = "off"
	_, done = labelled(t, other, set, path, Options{Program: "p"})
	require.Equal(t, 3, done, "other settings")

	_, done = labelled(t, other, some(t, 4), path, Options{Program: "p"})
	require.Equal(t, 4, done, "another set")

	require.NoError(t, os.WriteFile(path, []byte("something else\n"), 0o644))
	_, err := Read(path)
	require.ErrorIs(t, err, ErrNoPredictions)
}

func TestRetryAsksAgainAboutUngradedSteps(t *testing.T) {
	t.Parallel()
	set, s := some(t, 4), rules(t)
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f, _ := labelled(t, s, set, path, Options{})
	want := f.Items()
	f.Rollouts[2].Steps[0].Pred = schema.GapUngraded
	require.NoError(t, f.Save(path))
	_, done := labelled(t, s, set, path, Options{})
	require.Zero(t, done)
	f, done = labelled(t, s, set, path, Options{Retry: true})
	require.Equal(t, 1, done)
	require.Equal(t, want, f.Items())
}

// A store that lasts must not answer for another system.
func TestALastingStoreIsNoMemory(t *testing.T) {
	t.Parallel()
	set, s := some(t, 3), rules(t)
	s.Config.Store = t.TempDir()
	flagged := s
	flagged.Config.Judge = "flag-all"
	f, _ := labelled(t, s, set, filepath.Join(t.TempDir(), "x.jsonl"), Options{})
	all, _ := labelled(t, flagged, set, filepath.Join(t.TempDir(), "x.jsonl"), Options{})
	require.NotEqual(t, f.Items(), all.Items())
	for _, it := range all.Items() {
		require.Equal(t, schema.GapContradicted, it.Pred)
	}
}
