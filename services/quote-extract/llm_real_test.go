package quoteextract

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge/llm/stagetest"
	"github.com/stepgap/stepgap/pkg/schema"
)

// TestLLM_Real measures the judge on invented, so unknowable, cases. An item is
// right if the passages are rightly called relevant or not and, where a
// sentence decides the claim, a quote that code found holds its telling words.
func TestLLM_Real(t *testing.T) {
	setup := stagetest.RealSetup(t)
	j, err := NewLLM(setup)
	require.NoError(t, err)
	p := func(title, text string) schema.Passage { return schema.Passage{Title: title, Text: text, ByStep: 1} }
	var (
		harrow  = p("Nils Harrow", "Nils Harrow (1917-1999) was a Norwegian novelist. His best-known book, The Glass Orchard, was translated into nine languages. In 1946 he married the painter Astrid Bye, and the couple settled in Voss.")
		esker   = p("Paul Esker", "Paul Esker was a film director from Ghent. After Red Canal he made four comedies. He retired to Ostend, where he died on 4 May 1977.")
		tveit   = p("Elsa Tveit", "Elsa Tveit was an astronomer. She founded the Norvik Observatory in 1911 and led it for thirty years. A crater on the Moon bears her name.")
		lenz    = p("Hugo Lenz (footballer)", "Hugo Lenz is an Austrian footballer who plays as a midfielder for Vard. He was born in Graz in 1994.")
		tamar   = p("Tamar Province", "Tamar Province lies in the north. Its seat of government moved from Dorn to Kelva in 1930, and Kelva has been the capital since.")
		dahl    = p("Mira Dahl", "Mira Dahl is a Danish cellist. She made her debut at the age of twelve, in 1953, and recorded the suites three times.")
		ship    = p("SS Orlanda", "The SS Orlanda was a passenger steamer built in Belfast. She sank in 1921 off Cape Vern; all 214 aboard were saved.")
		surname = p("Esker (surname)", "Esker is a surname. Notable people with the surname include the chemist Jan Esker and the rower Lotte Esker.")
		tram    = p("Tram", "A tram is a rail vehicle that runs on tracks in public streets. The first electric line opened in 1881.")
		bridge  = p("Merrow Bridge", "Merrow Bridge spans the Ouse and was opened to traffic in 1901.")
	)
	const irrelevant, undecided = "(irrelevant)", "(no quote)"
	cases := []struct {
		name, want, query, claim string
		passages                 []schema.Passage
	}{
		{"supports: wife", "married the painter Astrid Bye", "Nils Harrow wife", "Nils Harrow's wife was the painter Astrid Bye.", []schema.Passage{tram, harrow}},
		{"supports: death", "died on 4 May 1977", "Paul Esker date of death", "Paul Esker died in May 1977.", []schema.Passage{surname, esker}},
		{"supports: capital", "Kelva has been the capital", "capital of Tamar Province", "The capital of Tamar Province is Kelva.", []schema.Passage{tamar}},
		{"supports: sinking", "sank in 1921", "SS Orlanda sinking", "The SS Orlanda sank in 1921.", []schema.Passage{ship, bridge}},
		{"supports: nationality", "Danish cellist", "Mira Dahl nationality", "Mira Dahl is Danish.", []schema.Passage{dahl}},
		{"against: capital", "Kelva has been the capital", "capital of Tamar Province", "The capital of Tamar Province is Dorn.", []schema.Passage{tamar}},
		{"against: year", "founded the Norvik Observatory in 1911", "Norvik Observatory founding year", "The Norvik Observatory was founded in 1921.", []schema.Passage{tveit}},
		{"against: all lost", "all 214 aboard were saved", "SS Orlanda victims", "All aboard the SS Orlanda drowned.", []schema.Passage{ship}},
		{"against: nationality", "Norwegian novelist", "Nils Harrow nationality", "Nils Harrow was a Swedish novelist.", []schema.Passage{harrow, tram}},
		{"undecided: death", undecided, "Elsa Tveit death", "Elsa Tveit died in 1954.", []schema.Passage{tveit}},
		{"undecided: teacher", undecided, "Mira Dahl teacher", "Mira Dahl was taught by Jan Holm.", []schema.Passage{dahl}},
		{"undecided: population", undecided, "Tamar Province population", "Tamar Province has two million inhabitants.", []schema.Passage{tamar}},
		{"nothing claimed", undecided, "Merrow Bridge architect", "", []schema.Passage{bridge}},
		{"irrelevant: namesake", irrelevant, "Hugo Lenz composer of Winter Tram", "The composer Hugo Lenz was born in Vienna.", []schema.Passage{lenz}},
		{"irrelevant: a word in common", irrelevant, "Winter Tram song composer", "Winter Tram was composed by Hugo Lenz.", []schema.Passage{tram}},
		{"irrelevant: surname page", irrelevant, "Paul Esker film director birth year", "Paul Esker was born in 1902.", []schema.Passage{surname}},
	}
	var items []stagetest.Item
	for _, tc := range cases {
		in := Input{Question: tc.query, Kind: schema.KindSearch, Query: tc.query, Claim: tc.claim, Passages: tc.passages}
		if tc.claim != "" {
			in.Claims = []string{tc.claim}
		}
		items = append(items, stagetest.Item{Name: tc.name, Want: tc.want, Ask: func(ctx context.Context) (stagetest.Answer, error) {
			got, err := j.Extract(ctx, in)
			quotes := locate(in.Passages, got.Quotes)
			answer := stagetest.Answer{Got: undecided, Meta: got.Meta, Counts: map[string]int{"quotes": len(got.Quotes), "quotes_found": len(quotes)}}
			for i, q := range quotes {
				if i == 0 || strings.Contains(q.Text, tc.want) {
					answer.Got = q.Text
				}
			}
			if !got.Relevant {
				answer.Got = irrelevant
			}
			answer.Right = answer.Got == tc.want || strings.Contains(answer.Got, tc.want)
			if rightlyRelevant := got.Relevant == (tc.want != irrelevant); rightlyRelevant && err == nil {
				answer.Counts["relevance_right"] = 1
			}
			return answer, err
		}})
	}
	stagetest.Real(t, "quote-extract", items)
}
