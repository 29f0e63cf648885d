package nlibench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func reported() *bench {
	return &bench{
		Options: Options{Rounds: 3},
		report: &Report{
			Peers: map[string]*Peer{
				ours:                 {What: "ours", cpu: []float64{100, 90, 110}, wall: []float64{50, 60, 70}},
				"bare_ort":           {What: "bare", cpu: []float64{100, 100, 100}, wall: []float64{50, 50, 50}},
				"crossencoder":       {What: "onnx", cpu: []float64{50, 50, 50}, wall: []float64{50, 50, 50}},
				"crossencoder_torch": {What: "torch", cpu: []float64{80, 80, 80}, wall: []float64{50, 50, 50}},
			},
			Missing: map[string]string{"infinity": "does not install", "infinity_classify": "nor does it", "python_online": "left out"},
		},
	}
}

func TestRatiosAreMediansOfRoundsAndNullWithAReason(t *testing.T) {
	t.Parallel()
	b := reported()
	b.sum()
	require.InDelta(t, 1.0, *b.report.RatioBareORT, 1e-12)
	require.InDelta(t, 1.2, b.report.Peers["bare_ort"].WallRatio, 1e-12)
	require.InDelta(t, 1.25, *b.report.RatioCrossEncoder, 1e-12, "of its two backends the quicker counts")
	require.Nil(t, b.report.RatioInfinity)
	require.Equal(t, "does not install", b.report.Missing["ratio_infinity"])
}

func TestTableIsRenewedBetweenItsMarks(t *testing.T) {
	t.Parallel()
	b := reported()
	b.sum()
	file := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n<!-- bench-nli: begin -->\nold\n<!-- bench-nli: end -->\nafter\n"), 0o600))
	require.NoError(t, b.report.RenewTable(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "before\n") && strings.HasSuffix(string(text), "after\n"))
	require.NotContains(t, string(text), "old")
	require.Contains(t, string(text), "| crossencoder_torch | 80.0 | 50.0 | 1.250 |")
	require.Contains(t, string(text), "infinity: not measured: does not install")
	require.NoError(t, os.WriteFile(file, []byte("no marks"), 0o600))
	require.ErrorContains(t, b.report.RenewTable(file), "has no lines")
}
