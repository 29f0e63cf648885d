package advantage

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

var update = flag.Bool("update", false, "write the golden vectors anew")

// casesVariable names a file of groups, and resultsVariable the file that their
// advantages go to: the Python tests let this package compute groups of theirs.
const (
	casesVariable   = "STEPGAP_ADVANTAGE_CASES"
	resultsVariable = "STEPGAP_ADVANTAGE_RESULTS"
)

// group is a group's rewards by outcome and by step; advantages are null where a
// test has still to compute them.
type group struct {
	Outcome []*float64   `json:"outcome"`
	Steps   [][]*float64 `json:"steps"`
	GRPO    []*float64   `json:"grpo"`
	DrGRPO  []*float64   `json:"dr_grpo"`
	Process [][]*float64 `json:"process"`
}

func (g *group) compute(t *testing.T) {
	t.Helper()
	var err error
	g.GRPO, err = GRPO(g.Outcome)
	require.NoError(t, err)
	g.DrGRPO, err = DrGRPO(g.Outcome)
	require.NoError(t, err)
	g.Process, err = Process(g.Steps)
	require.NoError(t, err)
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func writeJSON(t *testing.T, path string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
}

func randomGroups() []group {
	rng := rand.New(rand.NewPCG(20260501, 7))
	groups := make([]group, 200)
	for i := range groups {
		size := 1 + rng.IntN(12)
		g := group{Outcome: randomRewards(rng, size), Steps: make([][]*float64, size)}
		for j := range g.Steps {
			g.Steps[j] = randomRewards(rng, rng.IntN(6)) // none at all: a null reward
		}
		groups[i] = g
	}
	return groups
}

// The golden vectors are what the Python package is held to.
func TestGoldenAdvantages(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "advantages.json")
	if *update {
		groups := randomGroups()
		for i := range groups {
			groups[i].compute(t)
		}
		writeJSON(t, path, groups)
	}
	var groups []group
	readJSON(t, path, &groups)
	require.Len(t, groups, len(randomGroups()))
	for _, want := range groups {
		got := group{Outcome: want.Outcome, Steps: want.Steps}
		got.compute(t)
		requireNear(t, want.GRPO, got.GRPO)
		requireNear(t, want.DrGRPO, got.DrGRPO)
		require.Len(t, got.Process, len(want.Process))
		for j := range want.Process {
			requireNear(t, want.Process[j], got.Process[j])
		}
	}
}

func TestAdvantagesOfGroupsFromOutside(t *testing.T) {
	t.Parallel()
	cases, results := os.Getenv(casesVariable), os.Getenv(resultsVariable)
	if cases == "" || results == "" {
		t.Skipf("%s and %s are not set", casesVariable, resultsVariable)
	}
	var groups []group
	readJSON(t, cases, &groups)
	for i := range groups {
		groups[i].compute(t)
	}
	writeJSON(t, results, groups)
}

// scored is an answer, the accepted ones, and what the aggregator gives for them.
type scored struct {
	Answer     string   `json:"answer"`
	Gold       []string `json:"gold"`
	Normalized string   `json:"normalized"`
	EM         *float64 `json:"em"`
	F1         *float64 `json:"f1"`
	CoverEM    *float64 `json:"cover_em"`
}

func answers() []scored {
	texts := []string{
		"The  Beatles!", "beatles", "A man, a plan", "an apple a day", "U.S.A.", "usa", "O'Brien-Smith", "theatre",
		"a_b", "The-The", "  ", "", "İstanbul", "i̇stanbul", "½a a½", "٣a", "a", "vitamin A", "Élan\u00a0vital",
		"l\u2019an 2000", "北京 the 市", "thé", "the\u0301", "ΟΔΟΣ", "1,000.5$", "tab\tand\nline\x1cbreaks",
		"\u201cquoted\u201d, plain", "It is Paris", "Paris", "New York City", "New York", "NYC", "no no no", "no",
		"The The", "cannot be determined", "zero\u200bwidth", "\u05e9\u05dc\u05d5\u05dd a", "STRASSE", "Straße", "ﬁne the ﬁrst",
		"\u2028sep\u2029the\u0085end", "the" + string(rune(0x1F9EA)) + "a", "a\u0300 the_ _the 1a a1",
	}
	var out []scored
	for i, answer := range texts {
		for _, gold := range [][]string{nil, {" "}, {texts[(i+1)%len(texts)]}, {texts[(i+7)%len(texts)], answer + " the"}} {
			out = append(out, scored{Answer: answer, Gold: gold})
		}
	}
	return out
}

// The aggregator's scores of answers, which the Python package is held to.
func TestGoldenOutcomes(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "outcomes.json")
	cases := answers()
	for i := range cases {
		score := rewardagg.ScoreAnswer(cases[i].Answer, cases[i].Gold)
		cases[i].Normalized = rewardagg.Normalize(cases[i].Answer)
		cases[i].EM, cases[i].F1, cases[i].CoverEM = score.EM, score.F1, score.CoverEM
	}
	if *update {
		writeJSON(t, path, cases)
	}
	var want []scored
	readJSON(t, path, &want)
	require.Equal(t, want, cases)
}
