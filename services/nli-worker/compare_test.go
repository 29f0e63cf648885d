package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func quoteCandidate(title, text string) candidate {
	w := window{title: title, text: text}
	w.premise, w.titled = premiseOf(title, text)
	return single(w)
}

func TestComparison(t *testing.T) {
	t.Parallel()
	vale := quoteCandidate("Orrin Vale", "Orrin Vale (4 May 1780 – June 19, 1847) was a miller.")
	moor := quoteCandidate("Ida Moor", "She was born in Hull in 1802 and died on 3 June 1847.")
	salt := quoteCandidate("Salt (film)", "Salt is a 1971 drama film directed by Orrin Vale.")
	sand := quoteCandidate("Sand", "Sand was released on 2 May 1969. It was directed by Ida Moor.")
	again := quoteCandidate("Sand", "Sand was released again in 1980.")
	fern := quoteCandidate("Fern", "The genus Fern has 118 species.")
	moss := quoteCandidate("Moss", "Moss holds 10 to 200 species.")
	rush := quoteCandidate("Rush", "Rush has 12 species.")
	list := quoteCandidate("Vale", "- Abel Vale (1801–1840), miller - Orrin Vale (1780–1847), miller")
	for _, c := range []struct {
		claim, question, answer string
		quotes                  []candidate
		want                    string // holds, fails, open, or nothing: no comparison
	}{
		{"Orrin Vale is older than Ida Moor.", "Who is older, Orrin Vale or Ida Moor?", "Orrin Vale", []candidate{vale, moor}, "holds"},
		{"Ida Moor is older than Orrin Vale.", "Who is older, Orrin Vale or Ida Moor?", "Ida Moor", []candidate{vale, moor}, "fails"},
		{"Ida Moor is younger than Orrin Vale.", "Who is older, Orrin Vale or Ida Moor?", "Orrin Vale", []candidate{list, moor}, "holds"},
		{"Ida Moor died earlier than Orrin Vale.", "Who died earlier, Orrin Vale or Ida Moor?", "Ida Moor", []candidate{vale, moor}, "holds"},
		{"Ida Moor died later.", "Who died later, Orrin Vale or Ida Moor?", "Ida Moor", []candidate{vale, moor}, "fails"},
		{"Ida Moor died later.", "Who died later, Orrin Vale or Ida Moor?", "Ida Moor", []candidate{list, moor}, "open"}, // 1847 both
		{"Ida Moor died later.", "Who died later, Orrin Vale or Ida Moor?", "Ida Moor", []candidate{moor}, "open"},
		{"Sand was released first.", "Which film was released first, Salt or Sand?", "Sand", []candidate{salt, sand}, "holds"},
		{"Sand was released first.", "Which film was released first, Salt or Sand?", "Sand", []candidate{salt, sand, again}, "open"},
		{"The film that came out later is Sand.", "Which film came out later, Salt or Sand?", "Sand", []candidate{salt, sand}, "fails"},
		{"The film with the director who was born first is Salt.", "Which film has the director born first, Salt or Sand?", "Salt", []candidate{salt, sand, vale, moor}, "holds"},
		{"The film with the director who was born first is Salt.", "Which film has the director born first, Salt or Sand?", "Salt", []candidate{salt, sand, vale}, "open"},
		{"Fern has more species than Rush.", "Which genus has more species, Fern or Rush?", "Fern", []candidate{fern, rush}, "holds"},
		{"Rush has more species than Fern.", "Which genus has more species, Fern or Rush?", "Rush", []candidate{fern, rush}, "fails"},
		{"Fern has more species than Moss.", "Which genus has more species, Fern or Moss?", "Fern", []candidate{fern, moss}, "open"},
		{"Orrin Vale was not older than Ida Moor.", "Who is older, Orrin Vale or Ida Moor?", "Ida Moor", []candidate{vale, moor}, ""},
		{"Orrin Vale was a miller.", "Who was a miller, Orrin Vale or Ida Moor?", "Orrin Vale", []candidate{vale, moor}, ""},
		{"Orrin Vale is older.", "Who is oldest?", "Orrin Vale", []candidate{vale, moor}, ""},
	} {
		got := ""
		if cmp, ok := comparisonOf(c.claim, c.question, c.answer); ok {
			holds, why, used, ok := cmp.decide(c.quotes)
			switch {
			case !ok:
				got = "open"
			case holds:
				got = "holds"
			default:
				got = "fails"
			}
			if ok {
				require.NotEmpty(t, why)
				require.GreaterOrEqual(t, len(used), 2)
			}
		}
		require.Equal(t, c.want, got, c.claim)
	}
}
