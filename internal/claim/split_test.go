package claim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type want struct {
	class Class
	// stripped is the sentence without lead-ins; empty means that the text is
	// not compared.
	stripped string
}

func TestSplit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want []want
	}{
		"search-results lead-in": {
			"From the search results, I can see that Ada Lund was born in Bergen.\n\nStep 2: Determine when Bergen was founded.\n\nI'll use a search query to find out:\n\n",
			[]want{{Claim, "Ada Lund was born in Bergen."}, {Plan, ""}, {Plan, ""}},
		},
		"claims and abstains by and": {
			"Based on the search results, I found that the mill was opened in 1841, and I couldn't find specific information about its owner in that year. I will perform another search to find the required information. The query to search for is \"",
			[]want{{Claim, "The mill was opened in 1841."}, {Abstention, ""}, {Plan, ""}, {Plan, ""}},
		},
		"claims and abstains by but": {
			"Based on the search results, I found that Mount Kestrel is in Dunmere, but I couldn't find specific information about the nickname of the state.",
			[]want{{Claim, "Mount Kestrel is in Dunmere."}, {Abstention, ""}},
		},
		"an enumeration is no boundary": {
			"I found that Ravi Menon, the founder, chairman and chief officer of Palmetto, lived with Ines Holt, and I couldn't find his birthplace.",
			[]want{{Claim, "Ravi Menon, the founder, chairman and chief officer of Palmetto, lived with Ines Holt."}, {Abstention, ""}},
		},
		"talk about evidence, and what it lacks": {
			"The search results provide information about Clara Voss's marriage to the 4th Earl, but not her mother's name.",
			[]want{{Lead, ""}, {Abstention, "Not her mother's name."}},
		},
		"mention of a thing, then silence": {
			"The search results mention the Delta League, which operated from 1911 to 1922, but doesn't directly provide the name of the ground.",
			[]want{{Claim, ""}, {Abstention, ""}},
		},
		"since nothing was found": {
			"Since there are no results for drone rules in Marin County, California, I need to search for drone rules in general.",
			[]want{{Abstention, "There are no results for drone rules in Marin County, California."}, {Plan, ""}},
		},
		"since nothing was found, a conclusion": {
			"Since there is no mention of the duke's hat resembling a pear, the answer is no.",
			[]want{{Abstention, ""}, {Conclusion, "The answer is no."}},
		},
		"a fact, so a plan": {
			"Jonas Feld is the former singer of Paper Lanterns, so I need to search Paper Lanterns.",
			[]want{{Claim, "Jonas Feld is the former singer of Paper Lanterns."}, {Plan, ""}},
		},
		"a fact, so a conclusion": {
			"Oakhill is further north than Summerton, so Benny's head office is further north.",
			[]want{{Claim, "Oakhill is further north than Summerton."}, {Conclusion, "Benny's head office is further north."}},
		},
		"comparison of numbers": {
			"1903 (Lowell Pie Shop) < 1961 (Gino's), so Lowell Pie Shop is older.",
			[]want{{Claim, "1903 (Lowell Pie Shop) < 1961 (Gino's)."}, {Conclusion, "Lowell Pie Shop is older."}},
		},
		"since, drawing a conclusion": {
			"Since 1647 is earlier than 1824, Han Seo died earlier than Walter Baines.",
			[]want{{Claim, "1647 is earlier than 1824."}, {Conclusion, "Han Seo died earlier than Walter Baines."}},
		},
		"therefore": {
			"Therefore, the town named after the builders of Fairlawn Heights is Brandtown.",
			[]want{{Conclusion, "The town named after the builders of Fairlawn Heights is Brandtown."}},
		},
		"combining": {
			"Combining the information from both steps, I can conclude that the games were the 1904 games.",
			[]want{{Conclusion, "The games were the 1904 games."}},
		},
		"under a heading that combines": {
			"Now, combining the information from both steps:\n\nMina Ortiz was raised by the Red Foxes.",
			[]want{{Heading, ""}, {Conclusion, "Mina Ortiz was raised by the Red Foxes."}},
		},
		"the answer is": {
			"So the answer is 17 April 1902.",
			[]want{{Conclusion, "The answer is 17 April 1902."}},
		},
		"tool talk": {
			`After "Search", the only possible actions are "Search", "Retrieve", "Lookup" or "Finish". The Owl is a 1955 film. No further actions are needed as the necessary information has been obtained.`,
			[]want{{Tool, ""}, {Claim, "The Owl is a 1955 film."}, {Tool, ""}},
		},
		"state of the work": {
			"I have searched for the character's name and found it.",
			[]want{{Tool, ""}},
		},
		"paragraph mentions that": {
			"The paragraph mentions that Lena Roth worked with Paul Ask. So I need to search Strangers' Club and find when it was founded.",
			[]want{{Claim, "Lena Roth worked with Paul Ask."}, {Plan, ""}},
		},
		"does not mention, then a guess": {
			"The paragraph does not mention Rondo. It seems that Rondo is a film. I need to search for Rondo.",
			[]want{{Abstention, ""}, {Claim, "Rondo is a film."}, {Plan, ""}},
		},
		"not the one sought": {
			"Lanterns is not the band I am looking for. I need to search the band whose singer was Jonas Feld.",
			[]want{{Abstention, ""}, {Plan, ""}},
		},
		"a negative fact is a claim": {
			"Lygodium is not a genus of orchids. The stew does not contain gluten. Nora has no children.",
			[]want{{Claim, ""}, {Claim, ""}, {Claim, ""}},
		},
		"known for is a fact": {
			"He is not known for his paintings. The film was not included in the collection.",
			[]want{{Claim, ""}, {Claim, ""}},
		},
		"silent passive": {
			"Helen Marsh's descent is not mentioned in the paragraph. The name of the band is still not given in the snippet.",
			[]want{{Abstention, ""}, {Abstention, ""}},
		},
		"unknown": {
			"The answer is unknown. It cannot be determined from the passages. I am still missing the list of bridges.",
			[]want{{Abstention, ""}, {Abstention, ""}, {Abstention, ""}},
		},
		"search yielded nothing": {
			"The search did not yield any information about the town's population. No results were found for \"Ivy Lane\". Still no relevant results.",
			[]want{{Abstention, ""}, {Abstention, ""}, {Abstention, ""}},
		},
		"own ignorance before a search is a plan": {
			"Given the information, I don't have specific knowledge about the tallest mast, so I will perform a search to find the required information.",
			[]want{{Plan, ""}, {Plan, ""}},
		},
		"wondering asserts nothing": {
			"Maybe the owner was a duke. Alternatively, it might be a horse. Wait, is that right?",
			[]want{{Plan, ""}, {Plan, ""}, {Plan, ""}},
		},
		"markdown steps": {
			"**Step 1: Identify the director of \"Quiet Rooms\".**\n\n\"Quiet Rooms\" was directed by **Anna Berg**.",
			[]want{{Plan, ""}, {Claim, `"Quiet Rooms" was directed by Anna Berg.`}},
		},
		"list under a name": {
			"Rosa Lind:\n- Born on 12 May 1901 in Turku\n- Elected to the council once",
			[]want{{Heading, "Rosa Lind"}, {Claim, "Rosa Lind: Born on 12 May 1901 in Turku."}, {Claim, "Rosa Lind: Elected to the council once."}},
		},
		"list of facts": {
			"- Han Seo died in 1647.\n- Walter Baines died in 1824.",
			[]want{{Claim, "Han Seo died in 1647."}, {Claim, "Walter Baines died in 1824."}},
		},
		"title with a mark": {
			"Based on the search results, I found that Star Foals was released in 2009, and Wholly Spies! The Film was also released in 2009.",
			[]want{{Claim, "Star Foals was released in 2009, and Wholly Spies! The Film was also released in 2009."}},
		},
		"a plan with two objects": {
			"I need to search Dana Lane and Horace Kemp, find their ages, then find who is older.",
			[]want{{Plan, ""}},
		},
		"typographic apostrophe": {
			"I couldn’t find the date of her death. I’ll search again.",
			[]want{{Abstention, ""}, {Plan, ""}},
		},
		"comma inside a quotation": {
			`Since I don't have the release year of "Jungle Cat," I'll assume it was released after 1965.`,
			[]want{{Abstention, ""}, {Conclusion, "It was released after 1965."}},
		},
		"remembered": {
			"I remember that the river rises in the Alder hills, but I need to confirm which hill.",
			[]want{{Claim, "The river rises in the Alder hills."}, {Plan, ""}},
		},
		"no counter-evidence": {
			"I couldn't find any information that suggests they are not actors.",
			[]want{{Lead, ""}},
		},
		"env error repeated by the policy": {
			"My previous action is invalid. If I want to search, I should put the query between tags. Let me try again.",
			[]want{{Tool, ""}, {Plan, ""}, {Plan, ""}},
		},
		"taking back": {
			"I misread the passage. The lamp was first lit in 1868.",
			[]want{{Tool, ""}, {Claim, "The lamp was first lit in 1868."}},
		},
		"taking back in one sentence": {
			"Correction: the lamp was first lit in 1868. I was wrong: actually, Ida Roos was a painter.",
			[]want{{Claim, "The lamp was first lit in 1868."}, {Claim, "Ida Roos was a painter."}},
		},
		"what was said before is not said again": {
			"I previously stated that the lamp was lit in 1886, but the passage says that it was lit in 1868.",
			[]want{{Tool, ""}, {Claim, "It was lit in 1868."}},
		},
		"nothing": {" \n\n ", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Split(c.text)
			var classes, expected []Class
			for _, s := range got {
				classes = append(classes, s.Class)
			}
			for _, w := range c.want {
				expected = append(expected, w.class)
			}
			require.Equal(t, expected, classes, "%s\n%+v", c.text, got)
			for i, w := range c.want {
				if w.stripped != "" {
					require.Equal(t, w.stripped, got[i].Stripped, c.text)
				}
			}
		})
	}
}

// Whatever the text, sentences come in order, inside it, and say where.
func TestSplitSpansHold(t *testing.T) {
	t.Parallel()
	words := []string{"I", "found", "that", "Ada", "was", "born", ",", "but", "couldn't", "find", "so", "since", "\n", "Step 2:", "**", "- ",
		"the", "search", "results", ".", "?", "!", "\"", "“", "é", "漢字。", "not", "mentioned", ":", ";", " ", "\xff", "(", "Therefore,"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "sep"))
		last := 0
		for _, s := range Split(text) {
			if s.Start < last || s.End < s.Start || s.End > len(text) || text[s.Start:s.End] != s.Text {
				t.Fatalf("%q: sentence %+v after offset %d", text, s, last)
			}
			last = s.End
		}
	})
}

func TestSplitIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the mill, and the barn, but so the farm since ", 6000)
	require.NotEmpty(t, Split(long))
}
