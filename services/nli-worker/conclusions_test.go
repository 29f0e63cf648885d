package nliworker_test

import (
	"testing"

	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// TestConclusionsWithTheModel asks the default model what it can't answer when
// it is asked as the agent wrote it.
func TestConclusionsWithTheModel(t *testing.T) {
	t.Parallel()
	cross, err := nliworker.NewCross(realScorer(t), nliworker.Defaults())
	require.NoError(t, err)
	orchard := passage("The Quiet Orchard", "The Quiet Orchard is a 1954 film based on the play The Apple Thief.", 1)
	thief := passage("The Apple Thief", "It was written by Mads Holm.", 2)
	bridge := passage("Halden Bridge", "The Halden Bridge was designed by the engineer Signe Dahl.", 1)
	voss := passage("Clara Voss", "She went to school in Lund.", 2)
	vale := passage("Orrin Vale", "Orrin Vale (1780–1847) was a miller.", 1)
	moor := passage("Ida Moor", "Ida Moor (1802–1850) was a painter.", 2)
	const play = "Who wrote the play on which the film The Quiet Orchard is based?"
	for _, c := range []struct {
		question, answer, claim string
		passages                [2]schema.Passage
		want                    schema.Gap
	}{
		{play, "Mads Holm", "The play on which the film The Quiet Orchard is based was written by Mads Holm.", [2]schema.Passage{orchard, thief}, schema.GapNone},
		{play, "Signe Dahl", "The play on which the film The Quiet Orchard is based was written by Signe Dahl.", [2]schema.Passage{orchard, thief}, schema.GapIrrelevant},
		{play, "Mads Holm", "The play on which the film The Quiet Orchard is based was written by Mads Holm.", [2]schema.Passage{bridge, thief}, schema.GapIrrelevant},
		{"Who designed the Halden Bridge in Norvik?", "Signe Dahl", "The Halden Bridge in Norvik was designed by Signe Dahl.", [2]schema.Passage{bridge, voss}, schema.GapNone},
		{"Where did the botanist Clara Voss go to school?", "Lund", "The botanist Clara Voss went to school in Lund.", [2]schema.Passage{bridge, voss}, schema.GapNone},
		{"Where did the botanist Clara Voss go to school?", "Oslo", "The botanist Clara Voss went to school in Oslo.", [2]schema.Passage{bridge, voss}, schema.GapIrrelevant},
		{"Who is older, Orrin Vale or Ida Moor?", "Orrin Vale", "Orrin Vale is older than Ida Moor.", [2]schema.Passage{vale, moor}, schema.GapNone},
		{"Who is older, Orrin Vale or Ida Moor?", "Ida Moor", "Ida Moor is older than Orrin Vale.", [2]schema.Passage{vale, moor}, schema.GapIrrelevant},
	} {
		s := step(c.claim, c.passages[:]...)
		s.Kind, s.Question, s.Answer = schema.KindConclusion, c.question, c.answer
		item := &tree.Item{Step: s, Earlier: map[int]*schema.Label{}}
		for i, p := range c.passages {
			s.History = append(s.History, schema.Prior{Index: i + 1, Query: p.Title})
			item.Earlier[i+1] = &schema.Label{Label: schema.GapNone, Quotes: []schema.Quote{quoteOf(p, p.Text)}}
		}
		got, err := cross.Decide(t.Context(), item)
		require.NoError(t, err)
		require.Equal(t, c.want, got.Gap, "%s\n%s\n%q => %q %+v", c.claim, got.Detail, got.Entry.Premise, got.Entry.Hypothesis, got.Entry.Scores)
	}
}
