package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

func TestThresholdsComeFromSettingThenFileThenDefault(t *testing.T) {
	t.Parallel()
	bare, calibrated := t.TempDir(), t.TempDir()
	require.NoError(t, nli.WriteThresholds(calibrated, "aa", nli.Thresholds{Contradiction: 0.7, Entailment: 0.6}))
	def := nliworker.Defaults()
	for name, c := range map[string]struct {
		cfg                       Config
		contradiction, entailment float64
		from                      [2]string
	}{
		"default":       {Config{NLIModel: bare}, def.Contradiction, def.Entailment, [2]string{fromDefault, fromDefault}},
		"file":          {Config{NLIModel: calibrated}, 0.7, 0.6, [2]string{fromModel, fromModel}},
		"one setting":   {Config{NLIModel: calibrated, NLIEntailment: 0.9}, 0.7, 0.9, [2]string{fromModel, fromSetting}},
		"both settings": {Config{NLIModel: calibrated, NLIContradiction: 0.8, NLIEntailment: 0.9}, 0.8, 0.9, [2]string{fromSetting, fromSetting}},
	} {
		got, err := decideNLI(c.cfg, c.cfg.NLIModel, "aa")
		require.NoError(t, err, name)
		require.Equal(t, c.contradiction, got.Contradiction, name)
		require.Equal(t, c.entailment, got.Entailment, name)
		require.Equal(t, c.from, [2]string{got.ContradictionFrom, got.EntailmentFrom}, name)
	}
}

func TestThresholdsOfAnotherModelStopTheWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, nli.WriteThresholds(dir, "aa", nli.Thresholds{Contradiction: 0.7, Entailment: 0.6}))
	_, err := decideNLI(Config{NLIModel: dir}, dir, "bb")
	require.ErrorIs(t, err, nli.ErrOtherModel)
	_, err = decideNLI(Config{NLIModel: dir, NLIContradiction: 0.5}, dir, "bb")
	require.ErrorIs(t, err, nli.ErrOtherModel, "one setting alone needs the file for the other")
	_, err = decideNLI(Config{NLIModel: dir, NLIContradiction: 0.5, NLIEntailment: 0.5}, dir, "bb")
	require.NoError(t, err)
}

// The same value from another source is another configuration: the next
// calibration would change one and not the other.
func TestTheSourceOfThresholdsIsPartOfTheConfigHash(t *testing.T) {
	t.Parallel()
	hashes := map[string]bool{}
	for _, from := range []string{fromDefault, fromModel, fromSetting} {
		o := nliOptions{Options: nliworker.Defaults(), ContradictionFrom: from, EntailmentFrom: from}
		h, err := identity{Stage: schema.StageLocal, Options: o}.hash()
		require.NoError(t, err)
		hashes[h] = true
	}
	require.Len(t, hashes, 3)
}

// A model named by its name in the models folder is as calibrated as one named
// by its path.
func TestThresholdsOfAModelOfTheStoreAreRead(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	dir := filepath.Join(store, "mine")
	require.NoError(t, os.CopyFS(dir, os.DirFS(os.Getenv("STEPGAP_NLI_MODEL"))))
	require.NoError(t, nli.WriteThresholds(dir, "aa", nli.Thresholds{Contradiction: 0.7, Entailment: 0.6}))
	got, err := thresholds(Config{NLIModel: "mine", Models: store}, "aa")
	require.NoError(t, err)
	require.Equal(t, fromModel, got.ContradictionFrom)
	require.InDelta(t, 0.7, got.Contradiction, 0)
}
