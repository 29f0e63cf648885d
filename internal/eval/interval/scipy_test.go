package interval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stretchr/testify/require"
)

// TestIntervalsEqualSciPy gives scipy our draws, from which it must make the
// same intervals; and lets it draw by itself, which must come near.
func TestIntervalsEqualSciPy(t *testing.T) {
	t.Parallel()
	python := os.Getenv("STEPGAP_METRICS_PYTHON")
	if python == "" {
		t.Skip("STEPGAP_METRICS_PYTHON names no Python with scipy (make test sets it); intervals were NOT compared")
	}
	type asked struct {
		Questions [][3]int  `json:"questions"`
		Draws     []float64 `json:"draws"`
		Level     float64   `json:"level"`
		Own       bool      `json:"own"`
	}
	type answered struct {
		Low, High float64
		OwnLow    float64 `json:"own_low"`
		OwnHigh   float64 `json:"own_high"`
	}
	var in, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	var want []Estimate
	var own []bool
	for seed := range uint64(24) {
		o := Options{Draws: 4000, Seed: seed, Level: []float64{0.95, 0.8}[seed%2]}
		s := world{clusters: 40 + 5*int(seed), noise: 0.1 + 0.02*float64(seed)}.sample(seed)
		a := asked{Level: o.Level, Own: seed%6 == 0}
		pairs := make([]pair, len(s.Tallies))
		for i := range s.Tallies {
			pairs[i].a = s.Tallies[i]
			sum := metrics.Summarise(&s.Tallies[i])
			caught := 0
			for g := 1; g < metrics.Labels; g++ {
				for p := 1; p < metrics.Labels; p++ {
					caught += sum.Confusion[g][p]
				}
			}
			a.Questions = append(a.Questions, [3]int{caught, sum.Gap.Gold, sum.Gap.Predicted})
		}
		draws, err := drawn(t.Context(), pairs, []metrics.Metric{metrics.SF1}, one, o)
		require.NoError(t, err)
		a.Draws = draws[0]
		require.NoError(t, enc.Encode(a))
		got, err := Of(t.Context(), s, []metrics.Metric{metrics.SF1}, o)
		require.NoError(t, err)
		want, own = append(want, got[metrics.SF1]), append(own, a.Own)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "bca.py"))
	cmd.Stdin, cmd.Stderr = &in, &stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	out, err := cmd.Output()
	require.NoError(t, err, "asking scipy: %s", stderr.String())
	lines := bufio.NewScanner(bytes.NewReader(out))
	compared := 0
	for i := 0; lines.Scan(); i++ {
		var a answered
		require.NoError(t, json.Unmarshal(lines.Bytes(), &a))
		require.Equal(t, BCa, want[i].Method, "case %d", i)
		require.InDelta(t, a.Low, *want[i].Low, 1e-10, "case %d", i)
		require.InDelta(t, a.High, *want[i].High, 1e-10, "case %d", i)
		if own[i] {
			require.InDelta(t, a.OwnLow, *want[i].Low, 0.02, "case %d, scipy's own draws", i)
			require.InDelta(t, a.OwnHigh, *want[i].High, 0.02, "case %d, scipy's own draws", i)
		}
		compared++
	}
	require.NoError(t, lines.Err())
	require.Len(t, want, compared)
}

func one(m metrics.Metric, p *pair) metrics.Value { return m.Of(&p.a) }
