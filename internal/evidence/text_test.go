package evidence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func texts(text string, spans []Span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, s.In(text))
	}
	return out
}

func TestSentences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "He left. She stayed! Why?", []string{"He left.", "She stayed!", "Why?"}},
		{"titles and initials", "Dr. J. B. Holm met Mrs. Ek. They wed.", []string{"Dr. J. B. Holm met Mrs. Ek.", "They wed."}},
		{"initial that ends", "It needs vitamin C. The rest is water.", []string{"It needs vitamin C.", "The rest is water."}},
		{"company", "Oak Mills Inc. The firm failed.", []string{"Oak Mills Inc.", "The firm failed."}},
		{"company goes on", "Oak Mills Inc. Ltd. owns it.", []string{"Oak Mills Inc. Ltd. owns it."}},
		{"country", "He came to the U.S. in 1902. It rained.", []string{"He came to the U.S. in 1902.", "It rained."}},
		{"decimals", "It grew 3.5 percent. No. 5 won.", []string{"It grew 3.5 percent.", "No. 5 won."}},
		{"month", "Born Jan. 5 in Lund. Died there.", []string{"Born Jan. 5 in Lund.", "Died there."}},
		{"ellipsis in lower case", "He waited ... and left. Then rain.", []string{"He waited ... and left.", "Then rain."}},
		{"quotes", "He said “No.” She left.", []string{"He said “No.”", "She left."}},
		{"brackets", "It closed (in 1999.) Later it reopened.", []string{"It closed (in 1999.)", "Later it reopened."}},
		{"reference marks", "It has 3 mills.[4] They closed.", []string{"It has 3 mills.[4]", "They closed."}},
		{"CJK", "柏林是首都。人口很多！是吗？", []string{"柏林是首都。", "人口很多！", "是吗？"}},
		{"Arabic", "هل هذا صحيح؟ نعم.", []string{"هل هذا صحيح؟", "نعم."}},
		{"newlines", "A list\nFirst item\n\nsecond item\nis wrapped here", []string{"A list", "First item", "second item\nis wrapped here"}},
		{"glued", "It sold worldwide.The song won.", []string{"It sold worldwide.", "The song won."}},
		{"address", "See example.com for more. Bye.", []string{"See example.com for more.", "Bye."}},
		{"double blanks", "One.  Two.", []string{"One.", "Two."}},
		{"none", " \n ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, texts(tt.text, Sentences(tt.text)))
		})
	}
}

func TestSentencesCoverTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		at := 0
		for _, s := range Sentences(text) {
			require.GreaterOrEqual(t, s.Start, at)
			require.Less(t, s.Start, s.End)
			require.Empty(t, strings.TrimSpace(text[at:s.Start]), "nothing is left out")
			at = s.End
		}
		require.Empty(t, strings.TrimSpace(text[at:]))
	})
}

func TestFoldString(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"“a”  ‘b’":       `"a" 'b'`,
		"a–b — c‑d":      "a-b - c-d",
		"ﬁn ２０ Ⅳ":        "fin 20 IV",
		"e\u0301":        "é",
		"e\u200b\u0301":  "é",
		"a\u202eb\ufeff": "ab",
		"x\u00a0\t\ny":   "x y",
		"A &amp; B":      "A & B",
		"``x''":          `"x"`,
		"\"\"x\"\"":      `"x"`,
		"R&D; &nosuch;":  "R&D; &nosuch;",
		" ":              "",
	} {
		require.Equal(t, want, FoldString(give), "%q", give)
	}
}

func TestFoldMapsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		f := Fold(text)
		require.Len(t, f.start, len(f.Text))
		last := 0
		for i := range f.Text {
			s := f.Original(Span{i, i + 1})
			require.LessOrEqual(t, last, s.Start)
			require.Less(t, s.Start, s.End)
			require.LessOrEqual(t, s.End, len(text))
			last = s.Start
		}
		require.Equal(t, FoldString(text), FoldString(FoldString(text)), "folding twice is folding once")
	})
}

func TestOffsets(t *testing.T) {
	t.Parallel()
	text := "aé北🙂"
	require.Equal(t, 4, RuneOffset(text, len(text)))
	require.Equal(t, 3, ByteOffset(text, 2))
	require.Equal(t, len(text), ByteOffset(text, 99))
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for give, want := range map[string][]string{
		"Pokémon's 1,234.5 U.S. don't": {"pokemon", "1234.5", "us", "don't"},
		"Levitt &amp; Sons":            {"levitt", "and", "amp", "sons"},
		"a-b c.d":                      {"a", "b", "c", "d"},
		"北京大学":                         {"北京", "京大", "大学"},
		"1965-69":                      {"1965", "69"},
		"Ø":                            {"o"},
	} {
		require.Equal(t, want, Tokens(give), "%q", give)
	}
}

func TestStemMeets(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"founded", "founder"}, {"developers", "developed"}, {"cities", "city"}, {"churches", "church"},
		{"publishing", "published"}, {"located", "location"}, {"towns", "town"}, {"planned", "plan"},
	} {
		require.Equal(t, Stem(pair[0]), Stem(pair[1]), "%v", pair)
	}
	for _, pair := range [][2]string{{"mother", "father"}, {"north", "south"}, {"born", "died"}, {"1984", "1985"}} {
		require.NotEqual(t, Stem(pair[0]), Stem(pair[1]), "%v", pair)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	keys := func(text string) []string {
		var out []string
		for _, n := range Numbers(text) {
			out = append(out, n.Key)
		}
		return out
	}
	for give, want := range map[string][]string{
		"38,872 people":               {"38872"},
		"5.5 million tonnes":          {"5500000"},
		"seven large towns":           {"7"},
		"twenty-one guns":             {"21"},
		"the 19th and the third":      {"19", "3"},
		"one of them":                 nil,
		"one hundred":                 {"100"},
		"in 1984 and the 1990s":       {"1984", "1990"},
		"the Boeing 747 and B-29":     {"747", "29"},
		"no numbers at all, 0x1F, 1e": nil,
	} {
		require.Equal(t, want, keys(give), "%q", give)
	}
	require.Equal(t, []int{1965, 1969}, Years("from 1965-1969, 1,500 homes, 1969"))
}

func TestDates(t *testing.T) {
	t.Parallel()
	first := func(text string) Date {
		ds := Dates(text)
		require.NotEmpty(t, ds, "%q", text)
		d := ds[0]
		d.Span = Span{}
		return d
	}
	want := Date{Year: 1984, Month: 3, Day: 12}
	for _, give := range []string{"on 12 March 1984.", "March 12, 1984", "the 12th of March 1984", "1984-03-12", "Mar. 12, 1984"} {
		require.Equal(t, want, first(give), "%q", give)
	}
	require.Equal(t, Date{Year: 1984, Month: 3}, first("in March 1984"))
	require.Equal(t, Date{Month: 3, Day: 12}, first("every March 12"))
	require.Empty(t, Dates("they may march in 1984"))
	require.True(t, want.Agrees(Date{Year: 1984, Month: 3}))
	require.False(t, want.Agrees(Date{Year: 1984, Month: 4}))
}

func TestNegated(t *testing.T) {
	t.Parallel()
	for _, yes := range []string{"He did not go.", "It wasn’t there", "never", "without a crew", "No ship came", "cannot"} {
		require.True(t, Negated(yes), yes)
	}
	for _, no := range []string{"He went.", "Not only did he go", "No. 5 won", "a notable knot"} {
		require.False(t, Negated(no), no)
	}
}

func TestEntities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"Who was the father of Ada Brück?", []string{"Ada Brück"}},
		{"The Duke of the Abruzzi sailed from Port Said in May 1902.", []string{"Duke of the Abruzzi", "Port Said", "May 1902"}},
		{"He wrote “The Grey Door” and \"Lanterns\".", []string{"The Grey Door", "Lanterns"}},
		{"Levitt & Sons and Oak Mills Inc. merged.", []string{"Levitt & Sons", "Oak Mills Inc"}},
		{"However, Kim Jong-il and J. R. Holm met.", []string{"Kim Jong-il", "J. R. Holm"}},
		{"Identify the harbour of Ölmstad.", []string{"Ölmstad"}},
		{"It'll rain on 3,500 ships", []string{"3,500"}},
		{"It has seven towns", []string{"seven"}},
		{"Столица России — Москва", []string{"Столица России", "Москва"}},
		{"", nil},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, Entities(tt.text), "%q", tt.text)
	}
	require.Equal(t, []string{"Port Said"}, Names("Port Said had 3,500 ships in May 1902"))
}

func TestSameEntity(t *testing.T) {
	t.Parallel()
	for _, yes := range [][2]string{
		{"The Beatles", "Beatles"}, {"John B. Watson", "Watson"}, {"J. Watson", "John B. Watson"}, {"Pokémon", "pokemon"}, {"Ada's", "Ada"},
	} {
		require.True(t, SameEntity(yes[0], yes[1]), "%v", yes)
	}
	for _, no := range [][2]string{
		{"John B. Watson", "Charles C. Watson"}, {"Levittown", "Levitt"}, {"of", "the"}, {"", "x"}, {"1984", "1985"},
	} {
		require.False(t, SameEntity(no[0], no[1]), "%v", no)
	}
}
