package nli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stretchr/testify/require"
)

func TestThresholdsAreKeptByModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, found, err := nli.ReadThresholds(dir, "aa")
	require.NoError(t, err)
	require.False(t, found)

	full := nli.Thresholds{Contradiction: 0.7, Entailment: 0.6, MeasuredOn: "steps"}
	small := nli.Thresholds{Contradiction: 0.8, Entailment: 0.55}
	require.NoError(t, nli.WriteThresholds(dir, "aa", full))
	require.NoError(t, nli.WriteThresholds(dir, "bb", small))
	for hash, want := range map[string]nli.Thresholds{"aa": full, "bb": small} {
		got, found, err := nli.ReadThresholds(dir, hash)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, want, got)
	}
}

func TestThresholdsOfAnotherModelAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, nli.WriteThresholds(dir, "aa", nli.Thresholds{Contradiction: 0.7, Entailment: 0.6}))
	_, _, err := nli.ReadThresholds(dir, "cc")
	require.ErrorIs(t, err, nli.ErrOtherModel)
	require.ErrorContains(t, err, "none of the model with the hash cc")
}

func TestThresholdsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, nli.WriteThresholds(t.TempDir(), "aa", nli.Thresholds{Contradiction: 0.7}), "entailment is 0")
	for name, text := range map[string]string{
		"above 1":       `{"aa": {"contradiction": 1.5, "entailment": 0.5}}`,
		"left out":      `{"aa": {"contradiction": 0.5}}`,
		"misspelt":      `{"aa": {"contradiction": 0.5, "entailment": 0.5, "epsilonn": 0.1}}`,
		"not an object": `[0.5, 0.5]`,
		"cut off":       `{"aa": {"contradiction": 0.5`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, nli.ThresholdsFile), []byte(text), 0o600))
		_, _, err := nli.ReadThresholds(dir, "aa")
		require.Error(t, err, name)
	}
}
