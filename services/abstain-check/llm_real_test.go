package abstaincheck

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge/llm/stagetest"
	"github.com/stepgap/stepgap/pkg/schema"
)

// TestLLM_Real measures the judge on invented, so unknowable, cases.
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
		brask   = p("Brask Museum", "The Brask Museum shows glass and ceramics from the nineteenth century. It is open daily except on Mondays. Admission is free for children.")
		tamar   = p("Tamar Province", "Tamar Province lies in the north. Its seat of government moved from Dorn to Kelva in 1930, and Kelva has been the capital since.")
		dahl    = p("Mira Dahl", "Mira Dahl is a Danish cellist. She made her debut at the age of twelve, in 1953, and recorded the suites three times.")
		ship    = p("SS Orlanda", "The SS Orlanda was a passenger steamer built in Belfast. She sank in 1921 off Cape Vern; all 214 aboard were saved.")
		surname = p("Esker (surname)", "Esker is a surname. Notable people with the surname include the chemist Jan Esker and the rower Lotte Esker.")
		orchard = p("The Glass Orchard", "The Glass Orchard is a 1962 novel about a gardener who goes blind. It won the Halvard Prize and was filmed in 1970.")
	)
	cases := []struct {
		name     string
		stated   bool
		sought   string
		passages []schema.Passage
	}{
		{"wife, other wording", true, "Nils Harrow spouse", []schema.Passage{orchard, harrow}},
		{"date at the end", true, "date of death of Paul Esker", []schema.Passage{surname, esker}},
		{"capital after a move", true, "What is the capital of Tamar Province?", []schema.Passage{tamar}},
		{"founding year", true, "When was the Norvik Observatory founded?", []schema.Passage{tveit}},
		{"place of death", true, "Where did Paul Esker die?", []schema.Passage{esker, brask}},
		{"nationality", true, "nationality of Mira Dahl", []schema.Passage{dahl}},
		{"how many", true, "How many people were aboard the SS Orlanda when she sank?", []schema.Passage{ship}},
		{"prize", true, "Which prize did The Glass Orchard win?", []schema.Passage{harrow, orchard}},
		{"founder's death", false, "When did Elsa Tveit die?", []schema.Passage{tveit}},
		{"namesake", false, "nationality of the composer Hugo Lenz", []schema.Passage{lenz}},
		{"surname page", false, "Paul Esker birth year", []schema.Passage{surname}},
		{"country of a museum", false, "In which country is the Brask Museum?", []schema.Passage{brask}},
		{"book without its author's wife", false, "Nils Harrow spouse", []schema.Passage{orchard}},
		{"captain", false, "Who was the captain of the SS Orlanda?", []schema.Passage{ship}},
		{"population", false, "population of Tamar Province", []schema.Passage{tamar}},
		{"teacher", false, "Who taught Mira Dahl the cello?", []schema.Passage{dahl, lenz}},
	}
	var items []stagetest.Item
	for _, tc := range cases {
		in := Input{Question: tc.sought, Query: tc.sought, Sought: tc.sought, Abstention: "The results do not say.", Passages: tc.passages}
		items = append(items, stagetest.Item{Name: tc.name, Want: word(tc.stated), Ask: func(ctx context.Context) (stagetest.Answer, error) {
			got, err := j.Stated(ctx, in)
			return stagetest.Answer{
				Got: word(got.Stated), Right: got.Stated == tc.stated, Meta: got.Meta,
				Counts: map[string]int{"quotes": len(got.Quotes), "quotes_found": len(locate(in.Passages, got.Quotes))},
			}, err
		}})
	}
	stagetest.Real(t, "abstain-check", items)
}

func word(stated bool) string {
	if stated {
		return "stated"
	}
	return "not stated"
}
