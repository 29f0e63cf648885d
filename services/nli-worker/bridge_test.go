package nliworker_test

import (
	"testing"

	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

func TestCrossResolves(t *testing.T) {
	t.Parallel()
	play := passage("The Quiet Orchard", "The Quiet Orchard is based on the play The Apple Thief.", 1)
	thief := passage("The Apple Thief", "It was written by Mads Holm.", 2)
	bridge := passage("Halden Bridge", "The Halden Bridge was designed by Signe Dahl.", 1)
	vale := passage("Orrin Vale", "Orrin Vale (1780–1847) was a miller.", 1)
	moor := passage("Ida Moor", "Ida Moor (1802–1850) was a painter.", 2)
	captain := passage("Marigold", "The captain of the Marigold on its last voyage was Rosa Quist.", 1)
	both := func(a, b schema.Passage) map[int]*schema.Label {
		return map[int]*schema.Label{
			1: {Label: schema.GapNone, Quotes: []schema.Quote{quoteOf(a, a.Text)}},
			2: {Label: schema.GapNone, Quotes: []schema.Quote{quoteOf(b, b.Text)}},
		}
	}
	const hop, hopQuestion = "The play on which The Quiet Orchard is based was written by Mads Holm.", "Who wrote the play on which The Quiet Orchard is based?"
	fit := rule{"based on the play", "The Apple Thief is the play on which The Quiet Orchard is based", 0.9, 0}
	bridged := rule{"The Apple Thief was written", "The Apple Thief was written by Mads Holm", 0.9, 0}
	for _, c := range []struct {
		name                    string
		question, answer, claim string
		rules                   []rule
		passages                [2]schema.Passage
		early                   bool // the label of step 2 is not there yet
		want                    schema.Gap
		wait, computed, single  bool
	}{
		{name: "both parts of a description", question: hopQuestion, answer: "Mads Holm", claim: hop, rules: []rule{fit, bridged}, passages: [2]schema.Passage{play, thief}, want: schema.GapNone},
		{name: "the bridge alone", question: hopQuestion, answer: "Mads Holm", claim: hop, rules: []rule{fit}, passages: [2]schema.Passage{play, thief}, want: schema.GapIrrelevant},
		{name: "the other half alone", question: hopQuestion, answer: "Mads Holm", claim: hop, rules: []rule{bridged}, passages: [2]schema.Passage{play, thief}, want: schema.GapIrrelevant},
		{name: "an answer that no quote names", question: hopQuestion, answer: "Corin Hale", claim: "The play on which The Quiet Orchard is based was written by Corin Hale.",
			rules: []rule{{"", "", 0.9, 0}}, passages: [2]schema.Passage{play, thief}, want: schema.GapIrrelevant},
		{name: "the bridge as the answer", question: "Where was the author of The Apple Thief born?", answer: "Mads Holm", claim: "The author of The Apple Thief was born in Mads Holm.",
			rules: []rule{{"", "", 0.99, 0}}, passages: [2]schema.Passage{thief, play}, want: schema.GapIrrelevant},
		{name: "an answer that the quote states outright", question: "Who was captain of the ship Marigold on its last voyage?", answer: "Rosa Quist", claim: "Rosa Quist was captain of the ship Marigold on its last voyage.",
			rules: []rule{{"", "", 0.99, 0}}, passages: [2]schema.Passage{captain, play}, want: schema.GapNone, single: true},
		{name: "what the question presupposes", question: "Who designed the Halden Bridge in Norvik?", answer: "Signe Dahl", claim: "The Halden Bridge in Norvik was designed by Signe Dahl.",
			rules: []rule{{"Halden", "The Halden Bridge was designed by Signe Dahl", 0.9, 0}}, passages: [2]schema.Passage{bridge, play}, want: schema.GapNone, single: true},
		{name: "dates compared", question: "Who died first, Orrin Vale or Ida Moor?", answer: "Orrin Vale", claim: "Orrin Vale died before Ida Moor.", passages: [2]schema.Passage{vale, moor}, want: schema.GapNone, computed: true},
		{name: "dates say the reverse, whatever the model says", question: "Who died first, Orrin Vale or Ida Moor?", answer: "Ida Moor", claim: "Ida Moor died before Orrin Vale.",
			rules: []rule{{"", "", 0.9, 0}}, passages: [2]schema.Passage{vale, moor}, want: schema.GapIrrelevant, computed: true},
		{name: "a comparison waits for both", question: "Who died first, Orrin Vale or Ida Moor?", answer: "Ida Moor", claim: "Ida Moor died before Orrin Vale.",
			rules: []rule{{"", "", 0.9, 0}}, passages: [2]schema.Passage{vale, moor}, early: true, wait: true},
		{name: "a bridge waits too", question: hopQuestion, answer: "Mads Holm", claim: hop, rules: []rule{fit, bridged}, passages: [2]schema.Passage{play, thief}, early: true, wait: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scorer := &rules{rules: c.rules}
			d, err := nliworker.NewCross(scorer, nliworker.Defaults())
			require.NoError(t, err)
			s := step(c.claim, c.passages[:]...)
			s.Kind, s.Question, s.Answer = schema.KindConclusion, c.question, c.answer
			s.History = []schema.Prior{{Index: 1, Query: c.passages[0].Title}, {Index: 2, Query: c.passages[1].Title}}
			earlier := both(c.passages[0], c.passages[1])
			if c.early {
				delete(earlier, 2)
			}
			got, err := d.Decide(t.Context(), &tree.Item{Step: s, Earlier: earlier})
			require.NoError(t, err)
			require.Equal(t, c.wait, got.Wait, "%+v", got.Entry)
			require.Equal(t, c.want, got.Gap, "%s %+v", got.Detail, scorer.asked)
			if c.wait {
				return
			}
			require.Equal(t, len(scorer.asked), got.Entry.Calls)
			if c.computed {
				require.Nil(t, got.Entry.Scores, "code has no scores")
				require.Contains(t, got.Detail, "1847")
				require.Empty(t, scorer.asked)
			}
			if c.want == schema.GapNone && !c.single {
				require.Len(t, got.Quotes, 2, "both quotes decided")
			}
		})
	}
}
