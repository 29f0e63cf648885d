package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
