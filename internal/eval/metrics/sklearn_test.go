package metrics

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

// randomCases are more than the 2,000 that the comparison is to have at least.
const randomCases = 2200

// scored is one case as score.py takes it.
type scored struct {
	Gold     []int `json:"gold"`
	Pred     []int `json:"pred"`
	Question []int `json:"question"`
}

func (c scored) items() []Item {
	gaps := schema.Gaps()
	items := make([]Item, len(c.Gold))
	for i := range items {
		items[i] = Item{
			Question: fmt.Sprintf("q%d", c.Question[i]), Step: fmt.Sprintf("s%d", i),
			Gold: gaps[c.Gold[i]], Pred: gaps[c.Pred[i]],
		}
	}
	return items
}

// TestMetricsEqualScikitLearn holds every metric to scikit-learn's, on random
// sets and on degenerate ones.
func TestMetricsEqualScikitLearn(t *testing.T) {
	t.Parallel()
	python := os.Getenv("STEPGAP_METRICS_PYTHON")
	if python == "" {
		t.Skip("STEPGAP_METRICS_PYTHON names no Python with scikit-learn (make test sets it); metrics were NOT compared")
	}
	cases := append(degenerate(), random(randomCases)...)
	want := askScikitLearn(t, python, cases)
	undefinedOnes := 0
	for i, c := range cases {
		s, err := NewSample(c.items())
		require.NoError(t, err)
		total := s.Total()
		var confusion [Labels][Labels + 1]int
		require.NoError(t, json.Unmarshal(want[i]["confusion"], &confusion))
		require.Equal(t, confusion, total.Steps, "case %d: %+v", i, c)
		for _, m := range All() {
			if m == Coverage {
				continue // scikit-learn knows of no ungraded steps
			}
			var expected *float64
			require.NoError(t, json.Unmarshal(want[i][string(m)], &expected), "%s", m)
			got, ok := m.Of(&total).Get()
			require.Equal(t, expected != nil, ok, "case %d, %s is defined: %+v", i, m, c)
			if !ok {
				require.NotEmpty(t, m.Of(&total).Reason())
				undefinedOnes++
				continue
			}
			require.InDelta(t, *expected, got, 1e-12, "case %d, %s: %+v", i, m, c)
		}
	}
	require.Positive(t, undefinedOnes, "no case tried an undefined metric")
	t.Logf("%d cases, %d undefined values, no difference", len(cases), undefinedOnes)
}

func askScikitLearn(t *testing.T, python string, cases []scored) []map[string]json.RawMessage {
	t.Helper()
	var in, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, c := range cases {
		require.NoError(t, enc.Encode(c))
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "score.py"))
	cmd.Stdin, cmd.Stderr = &in, &stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	out, err := cmd.Output()
	require.NoError(t, err, "asking scikit-learn: %s", stderr.String())
	var got []map[string]json.RawMessage
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(lines.Bytes(), &m))
		got = append(got, m)
	}
	require.NoError(t, lines.Err())
	require.Len(t, got, len(cases))
	return got
}

// random makes sets of many shapes: sizes, clusters, skews, and systems from
// perfect to worthless, with and without ungraded steps.
func random(n int) []scored {
	r := rand.New(rand.NewPCG(7, 7))
	cases := make([]scored, n)
	for i := range cases {
		size, questions := 1+int(math.Exp(r.Float64()*5.5)), 1+r.IntN(40)
		gold, noise := weights(r, Labels), weights(r, Labels+1)
		right := r.Float64()
		if r.IntN(3) > 0 {
			noise[Labels] = 0
		}
		c := &cases[i]
		for range size {
			g := draw(r, gold)
			p := g
			if r.Float64() > right {
				p = draw(r, noise)
			}
			c.Gold, c.Pred, c.Question = append(c.Gold, g), append(c.Pred, p), append(c.Question, r.IntN(questions))
		}
	}
	return cases
}

// weights are those of n labels, of which some may not occur.
func weights(r *rand.Rand, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		if r.IntN(4) > 0 {
			w[i] = r.ExpFloat64()
		}
	}
	w[r.IntN(Labels)] += 0.1
	return w
}

func draw(r *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	x := r.Float64() * sum
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return 0
}

// degenerate are the sets of one to three steps with every label, and constant
// predictions, over one question and over one each.
func degenerate() []scored {
	var cases []scored
	for g := range Labels {
		for p := range Labels + 1 {
			cases = append(cases, scored{[]int{g}, []int{p}, []int{0}}, scored{[]int{g, g, g}, []int{p, p, p}, []int{0, 1, 2}})
			for g2 := range Labels {
				for p2 := range Labels + 1 {
					cases = append(cases, scored{[]int{g, g2}, []int{p, p2}, []int{0, 0}}, scored{[]int{g, g2}, []int{p, p2}, []int{0, 1}})
				}
			}
		}
	}
	for p := range Labels + 1 {
		cases = append(cases, scored{[]int{0, 1, 2, 3, 0, 1}, []int{p, p, p, p, p, p}, []int{0, 0, 1, 1, 2, 3}})
	}
	return cases
}
