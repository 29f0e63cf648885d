package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/padding"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestText_WholeWhereItFits(t *testing.T) {
	t.Parallel()
	got := Text([]schema.Passage{
		{Title: "Lund ", Text: " A city in Sweden.\n"},
		{Text: "Untitled."},
		{Title: "Empty"},
		{Title: "Lund ", Text: " A city in Sweden.\n"},
	}, "anything", 1000)
	require.Equal(t, "[1] Lund\nA city in Sweden.\n\n[2] \nUntitled.", got)
}

func TestText_PaddingNeverPushesTheTellingSentenceOut(t *testing.T) {
	t.Parallel()
	const fact = "Ada Brandt was born in Malmö in 1931."
	padding := strings.Repeat("The committee met on a rainy day and said little. ", 1000)
	for name, text := range map[string]string{
		"before": padding + fact, "after": fact + " " + padding, "around": padding + fact + " " + padding,
		"one long line": strings.Repeat("lorem ipsum ", 5000) + ". " + fact + " " + strings.Repeat("x", 50_000),
	} {
		got := Text([]schema.Passage{{Title: "Other", Text: padding}, {Title: "Ada Brandt", Text: text}}, "Where was Ada Brandt born?", 2000)
		require.Contains(t, got, fact, name)
		require.LessOrEqual(t, utf8.RuneCountInString(got), 2000, name)
	}
}

// Where not all fits, far-off text that shares nothing with what is asked isn't
// shown, though there were room: it would only cost.
func TestText_WhatIsUnrelatedCostsNothing(t *testing.T) {
	t.Parallel()
	const fact = "Ada Brandt was born in Malmö in 1931. She sang. She never married. She kept two dogs."
	for _, k := range padding.Kinds() {
		for _, place := range padding.Places() {
			passages := []schema.Passage{{Title: "Ada Brandt", Text: padding.Pad(fact, k, place, 10_000)}}
			for _, got := range []string{
				Text(passages, "Where was Ada Brandt born?", 3_000), Numbered(passages, "Where was Ada Brandt born?", 6_000).Text,
			} {
				require.Contains(t, got, "born in Malmö in 1931.", "%s %s", k, place)
				require.Contains(t, got, "She kept two dogs.", "%s %s", k, place)
				require.Less(t, len(got), 8*maxPiece+len(fact)+200, "%s %s", k, place)
			}
		}
	}
	got := Text([]schema.Passage{{Text: padding.Text(padding.Prose, 10_000)}}, "Where was Ada Brandt born?", 3_000)
	require.Greater(t, len(got), 2_500, "if nothing is related, what comes first")
}

func TestText_Bounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		passages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) schema.Passage {
			return schema.Passage{Title: rapid.String().Draw(t, "title"), Text: strings.Repeat(rapid.String().Draw(t, "text")+". ", rapid.IntRange(1, 60).Draw(t, "times"))}
		}), 0, 6).Draw(t, "passages")
		limit := rapid.IntRange(300, 3000).Draw(t, "limit")
		got := Text(passages, rapid.String().Draw(t, "about"), limit)
		if n := utf8.RuneCountInString(got); n > limit {
			t.Fatalf("%d runes, limit %d", n, limit)
		}
		if again := Text(passages, "", limit); utf8.RuneCountInString(again) > limit {
			t.Fatalf("over the limit without a query")
		}
	})
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	s := Numbered([]schema.Passage{
		{Title: "Lund", Text: "Lund is a city.\nIt has  a cathedral. It is old."},
		{Title: "Empty"},
		{Title: "Bo Ek", Text: "Bo Ek sings."},
	}, "Lund", 1000)
	require.Equal(t, "[1] Lund\n(1) Lund is a city.\n(2) It has a cathedral.\n(3) It is old.\n\n[2] Bo Ek\n(4) Bo Ek sings.", s.Text)
	for name, tc := range map[string]struct {
		numbers []int
		want    []string
	}{
		"one":                    {[]int{2}, []string{"It has  a cathedral."}},
		"order is the model's":   {[]int{4, 1}, []string{"Bo Ek sings.", "Lund is a city."}},
		"neighbours are one":     {[]int{3, 2}, []string{"It has  a cathedral. It is old."}},
		"not across passages":    {[]int{3, 4}, []string{"It is old.", "Bo Ek sings."}},
		"never shown, and twice": {[]int{0, -1, 5, 1 << 40, 4, 4}, []string{"Bo Ek sings."}},
		"none":                   {nil, nil},
		"all of a passage":       {[]int{1, 2, 3}, []string{"Lund is a city.\nIt has  a cathedral. It is old."}},
	} {
		require.Equal(t, tc.want, s.Quotes(tc.numbers), name)
	}
}

// Whatever is pointed at stands in a passage, and the text keeps its bound.
func TestNumbered_Properties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		passages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) schema.Passage {
			return schema.Passage{Title: rapid.String().Draw(t, "title"), Text: strings.Repeat(rapid.String().Draw(t, "text")+". Then ", rapid.IntRange(1, 80).Draw(t, "times"))}
		}), 0, 6).Draw(t, "passages")
		limit := rapid.IntRange(300, 3000).Draw(t, "limit")
		s := Numbered(passages, rapid.String().Draw(t, "about"), limit)
		if n := utf8.RuneCountInString(s.Text); n > limit {
			t.Fatalf("%d runes, limit %d", n, limit)
		}
		for _, q := range s.Quotes(rapid.SliceOf(rapid.IntRange(-2, 200)).Draw(t, "numbers")) {
			found := false
			for _, p := range passages {
				found = found || (q != "" && strings.Contains(p.Text, q))
			}
			if !found {
				t.Fatalf("quote %q stands in no passage", q)
			}
		}
	})
}
