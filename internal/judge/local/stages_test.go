package local

import (
	"fmt"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// throughStages moves a step through A, B and C until it has a label or goes to
// the NLI stages.
func throughStages(t *testing.T, step *schema.Step) (tree.Decision, []schema.TrailEntry) {
	t.Helper()
	j := New()
	stages := map[tree.Hop]tree.Decider{
		"":              entitycheck.New(j),
		tree.HopAbstain: abstaincheck.New(j),
		tree.HopQuote:   quoteextract.New(j),
	}
	item := &tree.Item{Step: step}
	for hop := tree.Hop(""); ; {
		d, err := stages[hop].Decide(t.Context(), item)
		require.NoError(t, err)
		item.Trail = append(item.Trail, d.Entry)
		item.Abstaining, item.Quotes = d.Abstaining, d.Quotes
		if d.Next == tree.HopDone || stages[d.Next] == nil {
			return d, item.Trail
		}
		hop = d.Next
	}
}

// TestFiguresOfStages prints where real steps leave A, B and C, beside their
// labels. D and E decide those that go on.
func TestFiguresOfStages(t *testing.T) {
	t.Parallel()
	table := map[string]map[string]int{}
	for _, r := range labelledRollouts(t) {
		var passages []schema.Passage
		var history []schema.Prior
		for i, s := range r.Steps {
			own := docPassages(s.Docs, i+1)
			passages = append(append([]schema.Passage{}, own...), passages...)
			step := &schema.Step{
				Run: "r", Rollout: "o", Index: i + 1, Kind: schema.KindSearch, Question: r.Question,
				Query: s.Query, Text: s.After, Passages: passages, History: history,
			}
			if s.Kind == "final" {
				step.Kind, step.Answer = schema.KindConclusion, s.Answer
			}
			history = append(history, schema.Prior{Index: i + 1, Query: s.Query, Claim: s.Claim})
			d, trail := throughStages(t, step)
			last := trail[len(trail)-1]
			end := fmt.Sprintf("%s %s", last.Stage.Letter(), last.Outcome)
			if table[end] == nil {
				table[end] = map[string]int{}
			}
			table[end][s.Label]++
			if testing.Verbose() && (d.Gap == schema.GapContradicted || len(trail) == 3) {
				t.Logf("%s | label %s | q=%q | claim %q | text %.300q | %s", end, s.Label, s.Query, s.Claim, s.After, d.Detail)
			}
		}
	}
	var ends []string
	for end := range table {
		ends = append(ends, end)
	}
	sort.Strings(ends)
	for _, end := range ends {
		c := table[end]
		t.Logf("%-16s none %2d  IE %2d  CC %2d  MB %2d", end, c["none"], c["irrelevant_evidence"], c["contradicted_claim"], c["missing_bridge"])
	}
}
