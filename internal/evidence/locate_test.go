package evidence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/pkg/schema"
)

func passages(texts ...string) []schema.Passage {
	var out []schema.Passage
	for i, t := range texts {
		out = append(out, schema.Passage{Digest: string(rune('a' + i)), Title: "T", ByStep: i + 1, Text: t})
	}
	return out
}

// requireVerbatim holds the promise of Locate: the text is the passage's own.
func requireVerbatim(t require.TestingT, ps []schema.Passage, q schema.Quote) {
	for _, p := range ps {
		if p.Digest != q.Passage {
			continue
		}
		runes := []rune(p.Text)
		require.LessOrEqual(t, q.End, len(runes))
		require.Less(t, q.Start, q.End)
		require.Equal(t, string(runes[q.Start:q.End]), q.Text)
		return
	}
	require.Fail(t, "quote names no passage", q.Passage)
}

func TestLocate(t *testing.T) {
	t.Parallel()
	ps := passages(
		"Ada Brück (born 12 May 1931) was a Swiss painter.  She did not live in Paris, and she wrote “The Grey Door” in 1974.",
		"The harbour of Ölmstad grew by 1.5 million tonnes in 11929 – the\u00a0year of the flood.\nIt wasn\u2019t rebuilt.",
		"柏林是德国的首都。它在2020年有三百六十万人口。",
		"The ﬁrst of\u200b the Levitt &amp; Sons towns, called \"\"Oakham\"\", opened in 1949.",
	)
	tests := []struct {
		name, quote, want string
		match             schema.QuoteMatch
	}{
		{"exact", "Ada Brück (born 12 May 1931) was a Swiss painter.", "Ada Brück (born 12 May 1931) was a Swiss painter.", schema.MatchExact},
		{"in quote marks", `"was a Swiss painter"`, "was a Swiss painter", schema.MatchExact},
		{"white space and quote marks", `painter. She did not live in Paris, and she wrote "The Grey Door" in 1974.`,
			"painter.  She did not live in Paris, and she wrote “The Grey Door” in 1974.", schema.MatchFolded},
		{"dash and NBSP", "11929 - the year of the flood", "11929 – the\u00a0year of the flood", schema.MatchFolded},
		{"newline", "the flood. It wasn't rebuilt", "the flood.\nIt wasn\u2019t rebuilt", schema.MatchFolded},
		{"ligature, zero width, entity, CSV quotes", `The first of the Levitt & Sons towns, called "Oakham", opened`,
			"The ﬁrst of\u200b the Levitt &amp; Sons towns, called \"\"Oakham\"\", opened", schema.MatchFolded},
		{"CJK", "柏林是德国的首都", "柏林是德国的首都", schema.MatchExact},
		{"near: a function word less", "Ada Brück born 12 May 1931 was the Swiss painter", "Ada Brück (born 12 May 1931) was a Swiss painter.", schema.MatchNear},
		{"near: accents", "Ada Bruck (born 12 May 1931) was a Swiss painter", "Ada Brück (born 12 May 1931) was a Swiss painter.", schema.MatchNear},
		{"near: case", "the harbour of ölmstad grew by 1.5 million tonnes", "The harbour of Ölmstad grew by 1.5 million tonnes", schema.MatchNear},
		{"ellipsis", "She did not live in Paris ... painter of doors", "She did not live in Paris", schema.MatchExact},
		{"negation differs", "She did live in Paris, and she wrote “The Grey Door” in 1974.", "", ""},
		{"number differs", "Ada Brück (born 13 May 1931) was a Swiss painter.", "", ""},
		{"month differs", "Ada Brück (born 12 June 1931) was a Swiss painter.", "", ""},
		{"name differs", "Ada Brunner (born 12 May 1931) was a Swiss painter.", "", ""},
		{"number word differs", "The second of the Levitt & Sons towns, called Oakham, opened in 1949", "", ""},
		{"cut number", "The harbour of Ölmstad grew by 1", "", ""},
		{"number inside another", "1929", "", ""},
		{"cut word", "harbour of Ölm", "", ""},
		{"cut negation", "It was", "", ""},
		{"invented", "Ada Brück lived in Vienna until her death", "", ""},
		{"only stop words", "in the", "", ""},
		{"empty", " ", "", ""},
		{"marks only", "\"\"", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q, ok := Locate(ps, tt.quote)
			require.Equal(t, tt.want != "", ok, "got %q", q.Text)
			require.Equal(t, tt.want, q.Text)
			if ok {
				require.Equal(t, tt.match, q.Match)
				requireVerbatim(t, ps, q)
			}
		})
	}
}

func TestLocateOrder(t *testing.T) {
	t.Parallel()
	ps := passages("Nothing here.", "The mill burned in 1902.", "The mill burned in 1902.")
	q, ok := Locate(ps, "The mill burned")
	require.True(t, ok)
	require.Equal(t, "b", q.Passage, "the first passage in the order given")
	require.Equal(t, 2, q.ByStep)
}

func TestLocateSkipsUnreadable(t *testing.T) {
	t.Parallel()
	ps := []schema.Passage{{Digest: "a", Text: "bad \xff bytes here"}, {Digest: "b", Ref: "x"}}
	_, ok := Locate(ps, "bytes here")
	require.False(t, ok)
}

// drawText gives text with everything that makes offsets hard.
func drawText(t *rapid.T, label string) string {
	word := rapid.SampledFrom([]string{
		"Anna", "the", "not", "1929", "1,234.5", "é", "e\u0301", "ﬁn", "“x”", "''y''", "\u200b", "&amp;", "&", "it's", "didn’t",
		"北京大学", "。", ".", "–", "\u00a0", "\n", "  ", "가", "ᄀ\u1161", "½", "㎏", "U.S.", "ß", "İ", "\u202e", "שלום", "🙂", "Ⅳ", "of", "ships", "ﷺ",
	})
	words := rapid.SliceOfN(word, 0, 24).Draw(t, label)
	seps := rapid.SampledFrom([]string{" ", "", "  "}).Draw(t, label+" sep")
	return strings.Join(words, seps)
}

func TestLocateProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ps := passages(drawText(t, "a"), drawText(t, "b"), drawText(t, "c"))
		quote := drawText(t, "quote")
		if q, ok := Locate(ps, quote); ok {
			requireVerbatim(t, ps, q)
		}
		// Whole sentences of a passage are always found, exactly.
		for _, p := range ps {
			for _, s := range Sentences(p.Text) {
				text := s.In(p.Text)
				if trimQuote(text) != text || !quotable(text) || cuts(p.Text, s.Start) || cuts(p.Text, s.End) {
					continue
				}
				q, ok := Locate(ps, text)
				require.True(t, ok, "%q", text)
				require.Equal(t, text, q.Text)
				requireVerbatim(t, ps, q)
			}
		}
	})
}

func FuzzLocate(f *testing.F) {
	f.Add("Ada Brück was a “painter”.", "a \"painter\"")
	f.Add("grew by 1.5", "grew by 1")
	f.Add("ᄀ\u1161각 &amp; ﷺ", "각")
	f.Add("x\xff\xfe", "x")
	f.Fuzz(func(t *testing.T, text, quote string) {
		ps := passages(text, quote)
		if q, ok := Locate(ps, quote); ok {
			requireVerbatim(t, ps, q)
		}
		for _, s := range Sentences(text) {
			_ = Entities(s.In(text))
		}
		fold := Fold(text)
		for i := range fold.start {
			require.LessOrEqual(t, fold.start[i], fold.end[i])
			require.LessOrEqual(t, fold.end[i], len(text))
		}
	})
}
