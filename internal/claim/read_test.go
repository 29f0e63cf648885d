package claim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/pkg/schema"
)

func TestRead(t *testing.T) {
	t.Parallel()
	search := func(query, text, claim string) *schema.Step {
		return &schema.Step{Kind: schema.KindSearch, Index: 1, Question: "Who was mayor of the town in which Anna Berg was born?", Query: query, Text: text, Claim: claim}
	}
	cases := map[string]struct {
		step       *schema.Step
		claims     []string
		abstains   bool
		conclusion string
	}{
		"from text": {
			search("Anna Berg birthplace", "The paragraph states that Anna Berg was born in Vik. I need to search Vik next.", ""),
			[]string{"Anna Berg was born in Vik."}, false, "",
		},
		"the publisher's claim wins": {
			search("Anna Berg birthplace", "Anna Berg was born in Os.", "Anna Berg was born in Vik."),
			[]string{"Anna Berg was born in Vik."}, false, "",
		},
		"a bare value as claim": {
			search("Anna Berg birthplace", "", "Vik"),
			[]string{"Vik."}, false, "",
		},
		"abstains": {
			search("Anna Berg birthplace", "The passage does not mention where Anna Berg was born.", ""),
			nil, true, "",
		},
		"a mixed turn abstains, and its claim stays": {
			search("mayor of Vik", "I found that Vik is a town in Sogn, but I couldn't find specific information about its mayor.", ""),
			[]string{"Vik is a town in Sogn."}, true, "",
		},
		"abstention beside a set claim": {
			search("mayor of Vik", "I found that Vik is a town in Sogn, but I couldn't find specific information about its mayor.", "Vik is a town in Sogn."),
			[]string{"Vik is a town in Sogn."}, true, "",
		},
		"could not find, but found all the same": {
			search("Star Foals and Spies release year", "I couldn't find specific information about the release year, but I found that both films were released in 2009.", ""),
			[]string{"Both films were released in 2009."}, false, "",
		},
		"an exact date is more than a year": {
			search("Anna Berg birth date", "I found that Anna Berg was born in 1932, but I couldn't find the exact date.", ""),
			[]string{"Anna Berg was born in 1932."}, true, "",
		},
		"its points at what was sought": {
			search("Vik Sogn public library", "I found that Vik is a town, but I couldn't find specific information about its elevation.", ""),
			[]string{"Vik is a town."}, true, "",
		},
		"something nobody asked for": {
			search("mayor of Vik", "Vik is a town in Sogn. I couldn't find specific information about the elevation.", ""),
			[]string{"Vik is a town in Sogn."}, false, "",
		},
		"others of its kind were not sought": {
			search("estate in Vik where concerts are given", "I found that concerts are given at Moss Hall. I couldn't find information about other estates.", ""),
			[]string{"Concerts are given at Moss Hall."}, false, "",
		},
		"silence is not undone by a guess": {
			search("Rondo Anna Berg", "The paragraph does not mention Rondo. It seems that Rondo is a film.", ""),
			[]string{"Rondo is a film."}, true, "",
		},
		"conclusion sentence in a search step": {
			search("Anna Berg birthplace", "Anna Berg was born in Vik. So the town is Vik.", ""),
			[]string{"Anna Berg was born in Vik.", "The town is Vik."}, false, "The town is Vik.",
		},
		"plans only": {search("x", "I need to search Vik next.", ""), nil, false, ""},
		"a conclusion from its answer": {
			&schema.Step{Kind: schema.KindConclusion, Question: "When did Anna Berg die?", Text: "So the answer is 1977.", Answer: "1977"},
			[]string{"Anna Berg died in 1977."}, false, "The answer is 1977.",
		},
		"a conclusion from its therefore": {
			&schema.Step{Kind: schema.KindConclusion, Question: "When did Anna Berg die?", Text: "Therefore, the painter Anna Berg died in 1977.", Answer: "1977"},
			[]string{"The painter Anna Berg died in 1977."}, false, "The painter Anna Berg died in 1977.",
		},
		"an answer other than the therefore": {
			&schema.Step{Kind: schema.KindConclusion, Question: "When did Anna Berg die?", Text: "Therefore, Anna Berg died in 1977.", Answer: "1978"},
			[]string{"Anna Berg died in 1978."}, false, "Anna Berg died in 1977.",
		},
		"an abstaining answer": {
			&schema.Step{Kind: schema.KindConclusion, Question: "When did Anna Berg die?", Answer: "unknown"},
			nil, true, "",
		},
		"an abstaining text under a definite answer": {
			&schema.Step{Kind: schema.KindConclusion, Question: "When did Anna Berg die?", Text: "I cannot determine when Anna Berg died.", Answer: "1977"},
			[]string{"Anna Berg died in 1977."}, false, "",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Read(c.step)
			require.Equal(t, c.claims, got.Claims, "%+v", got)
			require.Equal(t, c.abstains, got.Abstains(), "%+v", got)
			require.Equal(t, c.conclusion, got.Conclusion)
		})
	}
}

func TestAbstainingAnswer(t *testing.T) {
	t.Parallel()
	cases := []struct {
		question, answer string
		want             bool
	}{
		{"Who?", "unknown", true},
		{"Who?", " Unknown. ", true},
		{"Who?", "not mentioned", true},
		{"Who?", "No answer", true},
		{"Who?", "none", true},
		{"How many?", "None", false},
		{"Who?", "Cannot be determined from the given information", true},
		{"Who?", "I couldn't find the name of the founder", true},
		{"Which album?", "Unknown Pleasures", false},
		{"Is it?", "no", false},
		{"Who?", "Anna Berg", false},
		{"Who?", "", false},
	}
	for _, c := range cases {
		require.Equal(t, c.want, AbstainingAnswer(c.question, c.answer), "%+v", c)
	}
}

// Whatever is asked and answered, reading a step neither panics nor loses a
// claim that was given.
func TestReadAnything(t *testing.T) {
	t.Parallel()
	words := []string{"who", "When", "was", "is", "did", "the", "Anna", "Berg", "born", ",", "or", "in", "what", "how", "many", "\"", "'s", "(", ")", "?", ".", "no", "yes",
		"unknown", "couldn't find", "I", "therefore", "so", "since", "not", "both", "**", "\n", "- ", "Step 1:", "", "é", "漢", "\xff", "which", "of", "old", "there", "live", "from"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), " ")
	})
	rapid.Check(t, func(t *rapid.T) {
		step := &schema.Step{
			Kind: rapid.SampledFrom([]schema.Kind{schema.KindSearch, schema.KindConclusion}).Draw(t, "kind"), Index: 1,
			Question: text.Draw(t, "question"), Query: text.Draw(t, "query"), Text: text.Draw(t, "text"), Claim: text.Draw(t, "claim"), Answer: text.Draw(t, "answer"),
		}
		r := Read(step)
		if r.Abstains() && len(r.Abstentions) == 0 {
			t.Fatalf("%+v abstains on nothing: %+v", step, r)
		}
	})
}
