package claim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestStatement(t *testing.T) {
	t.Parallel()
	cases := []struct{ question, answer, want string }{
		{"Who founded the city of Arvad?", "Queen Mira", "Queen Mira founded the city of Arvad."},
		{"Who is Edric Vane's paternal grandmother?", "Joan Hale", "Joan Hale is Edric Vane's paternal grandmother."},
		{"Who was Bellport named after?", "Alma Bell", "Bellport was named after Alma Bell."},
		{"Who did Anna Berg marry?", "Jon Lie", "Anna Berg married Jon Lie."},
		{"When did the last king of the House of Orr die?", "20 June 1837", "The last king of the House of Orr died on 20 June 1837."},
		{"When was the person after whom the Lund telescope is named born?", "1889", "The person after whom the Lund telescope is named was born in 1889."},
		{"In what year was the tallest mast completed?", "2012", "The tallest mast was completed in 2012."},
		{"In what year was the Corran Head lighthouse first lit?", "1868", "The Corran Head lighthouse was first lit in 1868."},
		{"Where did Tomas Rey study?", "Lisbon", "Tomas Rey studied in Lisbon."},
		{"Where was the place of death of Ida Roos?", "Madrid", "The place of death of Ida Roos was Madrid."},
		{"Where is Moss Hall located?", "in Kent", "Moss Hall is located in Kent."},
		{"What is the capital of the country where the tango began?", "Buenos Aires", "The capital of the country where the tango began is Buenos Aires."},
		{"What nationality is the director of Quiet Rooms?", "Danish", "The nationality of the director of Quiet Rooms is Danish."},
		{"What's the motto of Arvad?", "Onward", "The motto of Arvad is Onward."},
		{"Which country is Konrad Hahn's father from?", "Germany", `The answer to "Which country is Konrad Hahn's father from?" is Germany.`},
		{"Which country Konrad Hahn's father is from?", "Germany", "Konrad Hahn's father is from Germany."},
		{"Which town is named after the builders of Fairlawn Heights?", "Brandtown", "The town that is named after the builders of Fairlawn Heights is Brandtown."},
		{"What actor starred in Rondo and the Quarry?", "Max Ohm", "The actor that starred in Rondo and the Quarry is Max Ohm."},
		{"Star Foals and Wholly Spies both were released in what year?", "2009", "Star Foals and Wholly Spies both were released in 2009."},
		{"The husband of Lady Maud was earl of which kingdom?", "Mercia", "The husband of Lady Maud was earl of Mercia."},
		{"How many people live in Vik?", "2,700", "2,700 people live in Vik."},
		{"How many bridges are there in Vik?", "four", "There are four bridges in Vik."},
		{"Who died earlier, Han Seo or Walter Baines (1743–1824)?", "Han Seo", "Han Seo died earlier than Walter Baines (1743–1824)."},
		{"Which film was released first, Ryder's Girl or A Day at the Zoo?", "A Day at the Zoo", "A Day at the Zoo was released first."},
		{"Who is older Dana Lane or Horace Kemp?", "Horace Kemp", "Horace Kemp is older than Dana Lane."},
		{"Which chain's headquarters is further north, Benny's or Gino's?", "Gino's", "Gino's's headquarters is further north than Benny's."},
		{"Are Ferrocactus and Silva both types of plant?", "yes", "Ferrocactus and Silva are both types of plant."},
		{"Are both Coldharbour and Pierre Roy from the same country?", "No", "Coldharbour and Pierre Roy are not both from the same country."},
		{"Does Marin County, California require drones to be quiet?", "No", "Marin County, California does not require drones to be quiet."},
		{"Does Marin County, California require drones to be quiet?", "Yes", "Marin County, California requires drones to be quiet."},
		{"Did Anna Berg win a Lindgren Prize?", "yes", "Anna Berg won a Lindgren Prize."},
		{"Did Anna Berg win a Lindgren Prize?", "No.", "Anna Berg did not win a Lindgren Prize."},
		{"Would a ferry captain make a map of the moon?", "no", "A ferry captain would not make a map of the moon."},
		{"Can people who have measles eat camel meat?", "Yes", "People who have measles can eat camel meat."},
		{"Is Meadow or Shape magazine written more for sailors?", "Meadow", "Meadow is written more for sailors."},
		{"What do Vella and Ficus have in common?", "yes", `The answer to "What do Vella and Ficus have in common?" is yes.`},
		{"Why did the duke die?", "short illness", `The answer to "Why did the duke die?" is short illness.`},
		{"What is Opal Mills?", "Opal Mills is a shopping mall in Arvad", "Opal Mills is a shopping mall in Arvad."},
		{"", "Arvad", "Arvad."},
		{"Who?", "", ""},
	}
	for _, c := range cases {
		t.Run(c.question+"/"+c.answer, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Statement(c.question, c.answer))
		})
	}
}

// Whatever the question, the answer isn't lost and nothing panics.
func TestStatementKeepsTheAnswer(t *testing.T) {
	t.Parallel()
	words := []string{"who", "What", "which", "When", "in", "was", "is", "did", "does", "the", "film", "Anna", "Berg", "born", "or", ",", "older", "of", "what", "year", "how", "many", "'s", "\"", "?", "from", "named"}
	rapid.Check(t, func(t *rapid.T) {
		q := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 14).Draw(t, "question"), " ")
		got := Statement(q, "Zork 17")
		if !strings.Contains(got, "ork 17") {
			t.Fatalf("%q -> %q", q, got)
		}
	})
}
