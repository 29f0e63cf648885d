package rewardagg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/transcript"
)

// pair is two consecutive queries of a real rollout, checked by hand: same says
// that the second asks for what the first asked, in other words or spelling, and
// adds no entity, number or relation.
type pair struct {
	Rollout string `json:"rollout"`
	First   int    `json:"first"`
	Second  int    `json:"second"`
	Same    bool   `json:"same"`
	Half    string `json:"half"` // tune or held

	a, b string
}

// A measure gives a similarity in [0, 1] of a query and a later one, as they were
// written.
type measure struct {
	name string
	of   func(a, b string) float64
}

// remembering asks a measure about each pair once.
func (m measure) remembering() measure {
	known := map[[2]string]float64{}
	return measure{m.name, func(a, b string) float64 {
		s, ok := known[[2]string{a, b}]
		if !ok {
			s = m.of(a, b)
			known[[2]string{a, b}] = s
		}
		return s
	}}
}

func measures() []measure {
	tokens := func(s string) []string { return slices.Sorted(maps.Keys(setOf(evidence.ContentTokens(s)))) }
	return []measure{
		{"token Jaccard", func(a, b string) float64 { return jaccard(tokens(a), tokens(b)) }},
		{"containment", func(a, b string) float64 {
			x, y := tokens(a), tokens(b)
			return ratio(common(x, y), min(len(x), len(y)))
		}},
		{"edit distance", func(a, b string) float64 { return closeness(lowered(a), lowered(b)) }},
		{"sorted tokens, edit distance", func(a, b string) float64 {
			return closeness(strings.Join(tokens(a), " "), strings.Join(tokens(b), " "))
		}},
		{"token set, edit distance", func(a, b string) float64 {
			x, y := tokens(a), tokens(b)
			both := slices.DeleteFunc(slices.Clone(x), func(w string) bool { return !slices.Contains(y, w) })
			c, ca, cb := strings.Join(both, " "), strings.Join(union(both, x), " "), strings.Join(union(both, y), " ")
			return max(closeness(c, ca), closeness(c, cb), closeness(ca, cb))
		}},
		{"letter triples, cosine", func(a, b string) float64 { return cosine(triples(lowered(a)), triples(lowered(b))) }},
		{"names and numbers, then Jaccard", func(a, b string) float64 {
			if !maps.Equal(evidence.NumberKeys(a), evidence.NumberKeys(b)) || !sameNames(a, b) {
				return 0
			}
			return jaccard(tokens(a), tokens(b))
		}},
		{"kept: words, half for those left out", func(a, b string) float64 { return similarity(a, b) }},
	}
}

// similarity is the highest threshold at which the kept measure takes b for a
// again, to two digits; below 0 at none.
func similarity(a, b string) float64 {
	x, y := readQuery(a), readQuery(b)
	if x == nil || y == nil {
		return 0
	}
	different := sort.Search(101, func(t int) bool { return !y.same(x, float64(t)/100) })
	return float64(different-1) / 100
}

func TestTheKeptMeasureOfNearDuplicatesIsTheBest(t *testing.T) {
	t.Parallel()
	pairs := queryPairs(t)
	require.GreaterOrEqual(t, len(pairs), 120)
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "measure\tthreshold\ttune F1\theld precision\theld recall\theld F1\tone word added")
	best, kept := 0.0, 0.0
	for _, m := range measures() {
		m = m.remembering()
		at, tune := 0.0, tally{}
		for i := 20; i <= 100; i++ {
			if got := tallyOf(pairs, "tune", m, float64(i)/100); got.f1() > tune.f1() {
				at, tune = float64(i)/100, got
			}
		}
		held := tallyOf(pairs, "held", m, at)
		fmt.Fprintf(w, "%s\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\n", m.name, at, tune.f1(), held.precision(), held.recall(), held.f1(), padded(pairs, m, at))
		all := tune.add(held)
		if best = max(best, all.f1()); strings.HasPrefix(m.name, "kept") {
			kept = all.f1()
			own := tallyOf(pairs, "tune", m, profile(t, "stepgap").NearDuplicateQuery.Value)
			require.GreaterOrEqual(t, own.f1(), tune.f1(), "the profile's threshold is that of the tuning half")
		}
	}
	require.NoError(t, w.Flush())
	t.Logf("\n%d pairs, %d of them near-duplicates\n%s", len(pairs), sames(pairs), table.String())
	require.GreaterOrEqual(t, kept, best, "another measure is better over both halves")
}

// queryPairs reads the hand-checked pairs and their queries from the data set.
func queryPairs(t *testing.T) []pair {
	t.Helper()
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set: the data set is not part of the project")
	}
	queries := map[string]map[int]string{}
	rollouts, err := transcript.Open(filepath.Join(data, "rollouts", "normalized.jsonl"), transcript.Options{})
	require.NoError(t, err)
	for r, err := range rollouts {
		require.NoError(t, err)
		queries[r.ID] = map[int]string{}
		for _, s := range r.Steps {
			queries[r.ID][s.Index] = s.Query
		}
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "query_pairs.jsonl"))
	require.NoError(t, err)
	var pairs []pair
	for dec := json.NewDecoder(bytes.NewReader(raw)); dec.More(); {
		var p pair
		require.NoError(t, dec.Decode(&p))
		p.a, p.b = queries[p.Rollout][p.First], queries[p.Rollout][p.Second]
		require.NotEmpty(t, p.a, "%+v", p)
		require.NotEmpty(t, p.b, "%+v", p)
		pairs = append(pairs, p)
	}
	return pairs
}

type tally struct{ hit, miss, wrong int }

func tallyOf(pairs []pair, half string, m measure, threshold float64) tally {
	var t tally
	for _, p := range pairs {
		if p.Half != half {
			continue
		}
		switch said := m.of(p.a, p.b) >= threshold; {
		case said && p.Same:
			t.hit++
		case said:
			t.wrong++
		case p.Same:
			t.miss++
		}
	}
	return t
}

func (t tally) add(o tally) tally  { return tally{t.hit + o.hit, t.miss + o.miss, t.wrong + o.wrong} }
func (t tally) precision() float64 { return ratio(t.hit, t.hit+t.wrong) }
func (t tally) recall() float64    { return ratio(t.hit, t.hit+t.miss) }
func (t tally) f1() float64        { return ratio(2*t.hit, 2*t.hit+t.miss+t.wrong) }

// padded is the share of the near-duplicates found that are still found after a
// word without meaning is added to the second query: what it takes to slip by.
func padded(pairs []pair, m measure, threshold float64) float64 {
	found, still := 0, 0
	for _, p := range pairs {
		if p.Same && m.of(p.a, p.b) >= threshold {
			found++
			if m.of(p.a, p.b+" details") >= threshold {
				still++
			}
		}
	}
	return ratio(still, found)
}

func sames(pairs []pair) int {
	n := 0
	for _, p := range pairs {
		if p.Same {
			n++
		}
	}
	return n
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func setOf(words []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set
}

func union(a, b []string) []string { return slices.Sorted(maps.Keys(setOf(slices.Concat(a, b)))) }

func common(a, b []string) int { return len(a) + len(b) - len(union(a, b)) }

func jaccard(a, b []string) float64 { return ratio(common(a, b), len(union(a, b))) }

func lowered(s string) string { return strings.ToLower(evidence.FoldString(s)) }

func closeness(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	if len(x)+len(y) == 0 {
		return 0
	}
	return 1 - float64(edits(x, y))/float64(max(len(x), len(y)))
}

func triples(s string) map[string]int {
	out, r := map[string]int{}, []rune("  "+s+"  ")
	for i := range len(r) - 2 {
		out[string(r[i:i+3])]++
	}
	return out
}

func cosine(a, b map[string]int) float64 {
	dot, x, y := 0, 0, 0
	for k, n := range a {
		dot += n * b[k]
		x += n * n
	}
	for _, n := range b {
		y += n * n
	}
	return float64(dot) / math.Sqrt(float64(x)*float64(y))
}

// sameNames: each name of one query is in the other.
func sameNames(a, b string) bool {
	in := func(a, b string) bool {
		words := evidence.Tokens(b)
		return !slices.ContainsFunc(evidence.Names(a), func(n string) bool { return !holds(words, evidence.Tokens(n)) })
	}
	return in(a, b) && in(b, a)
}
