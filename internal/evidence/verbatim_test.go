package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Quotes that models give as verbatim and that differ from the passage as those
// of real judges do. Each must be found, as the passage has it.
func TestLocate_VerbatimFailuresOfRealJudges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, passage, quote, want string
		match                      schema.QuoteMatch
	}{
		{"blanks run together", "The mill  was built\u00a0in 1902.", "The mill was built in 1902.", "The mill  was built\u00a0in 1902.", schema.MatchFolded},
		{"a wrapped line", "The mill was\nbuilt in 1902.", "The mill was built in 1902.", "The mill was\nbuilt in 1902.", schema.MatchFolded},
		{"thin blank in a number's unit", "The mill weighs 40\u2009t in all.", "The mill weighs 40 t in all.", "The mill weighs 40\u2009t in all.", schema.MatchFolded},
		{"straight for curly quotes", "She wrote “The Grey Door” there.", `She wrote "The Grey Door" there.`, "She wrote “The Grey Door” there.", schema.MatchFolded},
		{"curly for straight quotes", `She wrote "The Grey Door" there.`, "She wrote “The Grey Door” there.", `She wrote "The Grey Door" there.`, schema.MatchFolded},
		{"guillemets", "Elle a écrit « La Porte » là-bas.", `Elle a écrit " La Porte " là-bas.`, "Elle a écrit « La Porte » là-bas.", schema.MatchFolded},
		{"single for double quotes", `She wrote "The Grey Door" there.`, "She wrote 'The Grey Door' there.", `She wrote "The Grey Door" there.`, schema.MatchNear},
		{"apostrophe", "It wasn’t Ada’s mill by then.", "It wasn't Ada's mill by then.", "It wasn’t Ada’s mill by then.", schema.MatchFolded},
		{"en dash", "He ruled 1902–1911 in Lund.", "He ruled 1902-1911 in Lund.", "He ruled 1902–1911 in Lund.", schema.MatchFolded},
		{"em dash", "The mill — a ruin now — stood here.", "The mill - a ruin now - stood here.", "The mill — a ruin now — stood here.", schema.MatchFolded},
		{"non-breaking hyphen", "A well\u2011known mill stood here.", "A well-known mill stood here.", "A well\u2011known mill stood here.", schema.MatchFolded},
		{"soft hyphen", "A cele\u00adbrated mill stood here.", "A celebrated mill stood here.", "A cele\u00adbrated mill stood here.", schema.MatchFolded},
		{"minus sign", "It was −40 degrees that night.", "It was -40 degrees that night.", "It was −40 degrees that night.", schema.MatchFolded},
		{"ellipsis as three dots", "He waited … and left at dawn.", "He waited ... and left at dawn.", "He waited … and left at dawn.", schema.MatchFolded},
		{"left out by an ellipsis", "The mill, which stood by the river for years, was built by Nils Ek.", "The mill, which stood by the river ... was built by Nils Ek.", "The mill, which stood by the river for years, was built by Nils Ek.", schema.MatchNear},
		{"left out in brackets", "The mill burned down in 1902, and the town paid for a new one.", "The mill burned down in 1902 [...] a new one.", "The mill burned down in 1902", schema.MatchExact},
		{"ellipses at the ends", "In spring the mill burned down in 1902 once more.", "...the mill burned down in 1902...", "the mill burned down in 1902", schema.MatchExact},
		{"footnote mark dropped", "The mill was built in 1902.[2] It burned down.", "The mill was built in 1902. It burned down.", "The mill was built in 1902.[2] It burned down.", schema.MatchFolded},
		{"footnote mark inside", "The mill[12] was built in 1902 by Nils Ek.", "The mill was built in 1902 by Nils Ek.", "The mill[12] was built in 1902 by Nils Ek.", schema.MatchFolded},
		{"footnote letter", "The mill was built in 1902[a] by Nils Ek.", "The mill was built in 1902 by Nils Ek.", "The mill was built in 1902[a] by Nils Ek.", schema.MatchFolded},
		{"citation needed", "The mill was built in 1902[citation needed] by Nils Ek.", "The mill was built in 1902 by Nils Ek.", "The mill was built in 1902[citation needed] by Nils Ek.", schema.MatchFolded},
		{"footnote mark kept", "The mill was built in 1902.[2] It burned down.", "The mill was built in 1902.[2] It burned down.", "The mill was built in 1902.[2] It burned down.", schema.MatchExact},
		{"entity decoded", "Brandt &amp; Sons built the mill.", "Brandt & Sons built the mill.", "Brandt &amp; Sons built the mill.", schema.MatchFolded},
		{"ligature", "The ﬁrst mill of the town stood here.", "The first mill of the town stood here.", "The ﬁrst mill of the town stood here.", schema.MatchFolded},
		{"accent in two runes", "Rene\u0301 built the mill here.", "René built the mill here.", "Rene\u0301 built the mill here.", schema.MatchFolded},
		{"zero width", "The\u200b mill was\ufeff built here.", "The mill was built here.", "The\u200b mill was\ufeff built here.", schema.MatchFolded},
		{"CSV quotes doubled", `He called it ""The Mill"" at home.`, `He called it "The Mill" at home.`, `He called it ""The Mill"" at home.`, schema.MatchFolded},
		{"final stop left out", "The mill was built in 1902.", "The mill was built in 1902", "The mill was built in 1902", schema.MatchExact},
		{"final stop added", "The mill was built in 1902 by Nils Ek and others.", "The mill was built in 1902 by Nils Ek.", "The mill was built in 1902 by Nils Ek", schema.MatchNear},
		{"in quote marks", "The mill was built in 1902.", `"The mill was built in 1902."`, "The mill was built in 1902.", schema.MatchExact},
		{"first letter raised", "In Lund the mill was built in 1902.", "The mill was built in 1902.", "the mill was built in 1902.", schema.MatchNear},
		{"a word put in", "The mill was built by the river in 1902.", "The mill was then built by the river in 1902.", "The mill was built by the river in 1902.", schema.MatchNear},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ps := passages("Nothing to see in this one.", tt.passage)
			q, ok := Locate(ps, tt.quote)
			require.True(t, ok)
			require.Equal(t, tt.want, q.Text)
			require.Equal(t, tt.match, q.Match)
			requireVerbatim(t, ps, q)
		})
	}
}

// What differs in a negation, number, date or name is another statement, however
// close it comes.
func TestLocate_RefusesAnotherStatement(t *testing.T) {
	t.Parallel()
	const passage = "Ada Brück, born on 12 May 1931 in Lund, did not sell the second of her 14 mills to Nils Ek before Monday."
	for name, change := range map[string][2]string{
		"negation dropped": {"did not sell", "did sell"}, "negation for another": {"did not sell", "never sold"},
		"contraction dropped": {"did not sell", "sold"}, "number": {"14", "15"}, "number as a word": {"14 mills", "fifteen mills"},
		"number dropped": {"her 14 mills", "her mills"}, "ordinal": {"second", "third"}, "day": {"12 May", "13 May"},
		"month": {"May", "June"}, "year": {"1931", "1913"}, "year dropped": {"1931 ", ""}, "weekday": {"Monday", "Friday"},
		"place": {"Lund", "Malmö"}, "first name": {"Ada", "Ida"}, "last name": {"Ek", "Ak"}, "name added": {"Nils Ek", "Nils Ek Brandt"},
		"name dropped": {"Nils Ek", "Nils"}, "negation added": {"born on", "not born on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quote := strings.Replace(passage, change[0], change[1], 1)
			require.NotEqual(t, passage, quote)
			q, ok := Locate(passages(passage), quote)
			require.False(t, ok, "%q was taken for %q", quote, q.Text)
		})
	}
}

// drawSentence gives a sentence that carries a name, a date, a number and a
// negation, and where each of its words stands.
func drawSentence(t *rapid.T, label string) []string {
	pick := func(what string, from ...string) string {
		return rapid.SampledFrom(from).Draw(t, label+" "+what)
	}
	return []string{
		pick("first", "Ada", "Nils", "Olga", "Zoë"), pick("last", "Brück", "Ek", "O'Hara", "Smith-Dahl"), "did", pick("negation", "not", "never"), "sell",
		pick("number", "14", "2,500", "3.5", "seven"), "old", pick("noun", "mills", "ships", "houses"), "near", pick("place", "Lund", "Ölmstad", "Oslo"),
		"in", pick("month", "May", "June", "October"), pick("year", "1931", "1902", "2004"), "although", "the", "weather", "was", "rather", "poor", "there",
	}
}

// Quotes near to a passage are replaced by its own text, or refused; whatever
// weighs is never replaced.
func TestLocate_NearMatchesNeverChangeWhatIsSaid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := drawSentence(t, "sentence")
		ps := passages("An opening line. "+strings.Join(words, " ")+". A closing line.", "Another passage, about nothing.")

		// A change of small words is near, and what is returned is the passage's.
		light := append([]string(nil), words...)
		switch rapid.IntRange(0, 2).Draw(t, "light change") {
		case 0:
			light[14] = "that"
		case 1:
			light = append(light[:17], light[18:]...) // without "rather"
		default:
			light[8] = "by"
		}
		q, ok := Locate(ps, strings.Join(light, " "))
		require.True(t, ok, "%q", light)
		requireVerbatim(t, ps, q)
		require.Equal(t, schema.MatchNear, q.Match)
		require.Equal(t, strings.Join(words, " "), strings.TrimSuffix(q.Text, "."))

		// A change of what weighs is refused.
		heavy := append([]string(nil), words...)
		at := rapid.SampledFrom([]int{0, 1, 3, 5, 9, 11, 12}).Draw(t, "heavy change at")
		other := map[int]string{0: "Ulla", 1: "Karlsson", 3: "often", 5: "16", 9: "Turku", 11: "March", 12: "1866"}[at]
		heavy[at] = other
		if rapid.Bool().Draw(t, "dropped") && at != 0 {
			heavy = append(heavy[:at], heavy[at+1:]...)
		}
		if q, ok := Locate(ps, strings.Join(heavy, " ")); ok {
			require.Fail(t, fmt.Sprintf("%q was taken for %q", heavy, q.Text))
		}
	})
}

// Spellings that fold to the same text are found, and mapped back to the
// passage's own code points.
func TestLocate_FoldedSpellingsMapBack(t *testing.T) {
	t.Parallel()
	swap := map[string][]string{
		" ": {" ", "  ", "\u00a0", "\n", "\u2009"}, "-": {"-", "–", "—", "\u2011", "−"}, "'": {"'", "’", "ʼ", "`"},
		`"`: {`"`, "“", "”", "«", "„"}, "&": {"&", "&amp;"}, "é": {"é", "e\u0301"}, "fi": {"fi", "ﬁ"},
	}
	pieces := []string{"Ada", " ", "-", "mill", "'s", `"`, "Door", "&", "Ren", "é", "fi", "nal", "1902", ".", "de", "-", " "}
	rapid.Check(t, func(t *rapid.T) {
		respell := func(label string, s string) string {
			if options := swap[s]; options != nil {
				return rapid.SampledFrom(options).Draw(t, label)
			}
			return s
		}
		var plain, spelled strings.Builder
		plain.WriteString("Olga ")
		spelled.WriteString("Olga ")
		for i, n := 0, rapid.IntRange(3, 14).Draw(t, "pieces"); i < n; i++ {
			piece := rapid.SampledFrom(pieces).Draw(t, "piece")
			plain.WriteString(piece)
			spelled.WriteString(respell("spelling", piece))
		}
		plain.WriteString(" ended")
		spelled.WriteString(" ended")
		ps := passages("🙂 Ä first line. " + spelled.String() + " here, 🙂.")
		q, ok := Locate(ps, plain.String())
		if FoldString(plain.String()) == FoldString(spelled.String()) {
			require.True(t, ok, "%q in %q", plain.String(), ps[0].Text)
			require.Equal(t, spelled.String(), q.Text)
		}
		if ok {
			requireVerbatim(t, ps, q)
		}
	})
}
