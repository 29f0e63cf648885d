package nliworker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// fact is a hand-written relation; its claims are made from it, so that every
// combination of true, false and unsupported claims is asked.
type fact struct {
	title, sentence, before, after string
	entailed, contradicted, open   string
}

func facts() []fact {
	return []fact{
		{"Harrow Mill", "Harrow Mill was built in 1790 by Josiah Pell.", "The mill stands on the Wend.", "It ground barley until 1911.",
			"Josiah Pell built Harrow Mill.", "Harrow Mill was built in 1845.", "Josiah Pell had three daughters."},
		{"Ana Ruel", "She was born in Porto and died in Lyon in 1931.", "Ana Ruel was a Portuguese painter.", "Her letters are kept in Braga.",
			"Ana Ruel died in Lyon.", "Ana Ruel was born in Madrid.", "Ana Ruel was married twice."},
		{"The Grey Heron", "The Grey Heron is a 1971 film directed by Tomas Lind.", "It was shot in Tromso.", "Critics disliked its ending.",
			"Tomas Lind directed The Grey Heron.", "The Grey Heron was directed by Ida Moor.", "The Grey Heron won four prizes."},
		{"Port Selkirk", "Port Selkirk is the largest town on the island, with 38,872 inhabitants.", "A ferry calls twice a day.", "Its market is held on Fridays.",
			"Port Selkirk has 38,872 inhabitants.", "Port Selkirk has 51,200 inhabitants.", "Port Selkirk was founded by monks."},
		{"Levin & Sons", "Levin & Sons was founded in Rome in 1902 by Aldo Levin.", "The firm makes clocks.", "Its workshop burnt down once.",
			"Aldo Levin founded Levin & Sons.", "Levin & Sons was founded in Milan.", "Levin & Sons employs ninety people."},
		{"Orrin Vale", "He played for the Hull Rovers from 1921 to 1929.", "Orrin Vale was an English goalkeeper.", "A street is named after him.",
			"Orrin Vale played for the Hull Rovers.", "Orrin Vale played for the Leeds Wanderers and never for the Hull Rovers.", "Orrin Vale was a teacher before."},
		{"Mount Sare", "Mount Sare, at 3,214 metres, is the highest mountain of the Dray range.", "Its north face is steep.", "The hut below it sleeps forty.",
			"Mount Sare is 3,214 metres high.", "Mount Sare is 2,150 metres high.", "Mount Sare was first climbed by a priest."},
		{"Corin Hale", "Corin Hale wrote the novel The Salt Road, published in 1958.", "He lived in Dublin then.", "It was translated into Dutch.",
			"The Salt Road was written by Corin Hale.", "The Salt Road was written by Ada Birch.", "Corin Hale disliked The Salt Road."},
		{"Battle of Arden", "The Battle of Arden was won by the northern army under General Voss.", "Snow had fallen for a week.", "Both sides withdrew in spring.",
			"General Voss won the Battle of Arden.", "The Battle of Arden was lost by the northern army.", "General Voss was wounded at Arden."},
		{"Lake Ommer", "Lake Ommer freezes from December to April every year.", "Otters live on its shore.", "The road along it is closed then.",
			"Lake Ommer is frozen in January.", "Lake Ommer never freezes.", "Lake Ommer is owned by the state."},
		{"Selma Dray", "Selma Dray received the Orme Medal in 1977 for her work on tides.", "She taught in Bergen.", "Her notebooks fill two shelves.",
			"Selma Dray received the Orme Medal.", "Selma Dray received the Orme Medal in 1988.", "Selma Dray gave the medal to a museum."},
		{"Kestrel Radio", "Kestrel Radio was bought by Novacast in 2004.", "It broadcasts from a church tower.", "Listeners objected to the sale.",
			"Novacast bought Kestrel Radio.", "Kestrel Radio was bought by Novacast in 2011.", "Novacast paid two million for Kestrel Radio."},
	}
}

// padding is about size bytes of text that has nothing to do with any fact.
func padding(size int) string {
	var b strings.Builder
	topics := []string{"Tram drivers", "Beekeepers", "Opera singers", "Glaciologists", "Cheese makers", "Locksmiths", "Weavers"}
	deeds := []string{"rehearsed in an empty hall", "compared notes over breakfast", "measured the drift of sand", "repaired a green umbrella", "argued about chess openings"}
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%s in district %d %s, which took %d hours. ", topics[i%len(topics)], i, deeds[(i/3)%len(deeds)], i%9+2)
	}
	return strings.TrimSpace(b.String())
}

// TestPromise_P5_PaddingMovesNoLabel: 50 KB of unrelated text before or after
// the deciding sentence, in its passage or in others, changes neither label nor
// deciding pair, with a quote and without.
func TestPromise_P5_PaddingMovesNoLabel(t *testing.T) {
	t.Parallel()
	d, err := nliworker.NewLocal(realScorer(t), nliworker.Defaults())
	require.NoError(t, err)
	decide := func(claim string, quoted string, match schema.QuoteMatch, passages ...schema.Passage) tree.Decision {
		s := step(claim, passages...)
		item := &tree.Item{Step: s}
		if match == schema.MatchWindow {
			q, ok := evidence.BestWindow(passages, claim, 1)
			require.True(t, ok)
			item.Quotes = []schema.Quote{q}
		} else {
			for _, p := range passages {
				if strings.Contains(p.Text, quoted) {
					item.Quotes = []schema.Quote{quoteOf(p, quoted)}
				}
			}
		}
		got, err := d.Decide(t.Context(), item)
		require.NoError(t, err)
		return got
	}
	pad := padding(50_000)
	half := 25_000 + strings.Index(pad[25_000:], ". ") + 1 // between two sentences
	right, all, cases := 0, 0, 0
	for _, f := range facts() {
		for _, c := range []struct {
			claim string
			want  schema.Gap
		}{{f.entailed, schema.GapNone}, {f.contradicted, schema.GapContradicted}, {f.open, schema.GapMissingBridge}} {
			for _, match := range []schema.QuoteMatch{schema.MatchExact, schema.MatchWindow} {
				core := f.before + " " + f.sentence + " " + f.after
				base := decide(c.claim, f.sentence, match, passage(f.title, core, 3))
				if match == schema.MatchExact {
					all++
					if base.Gap == c.want {
						right++
					} else {
						t.Logf("%q => %q: %s, not %s (%+v)", f.sentence, c.claim, base.Gap, c.want, base.Entry.Scores)
					}
				}
				for where, passages := range map[string][]schema.Passage{
					"before":          {passage(f.title, pad+" "+core, 3)},
					"after":           {passage(f.title, core+" "+pad, 3)},
					"around":          {passage(f.title, pad[:half]+" "+core+" "+pad[half:], 3)},
					"other passage":   {passage("Chronicle", pad, 3), passage(f.title, core, 3)},
					"earlier passage": {passage(f.title, core, 3), passage("Chronicle", pad, 1)},
				} {
					cases++
					got := decide(c.claim, f.sentence, match, passages...)
					require.Equal(t, base.Gap, got.Gap, "%s, %s, %q", where, match, c.claim)
					require.Equal(t, base.Entry.Premise, got.Entry.Premise, "%s, %s, %q", where, match, c.claim)
				}
			}
		}
	}
	t.Logf("%d of %d plain labels right; %d padded cases unmoved", right, all, cases)
	require.Greater(t, 10*right, 7*all, "the model and guard should get most plain cases right")
}
