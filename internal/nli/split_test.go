package nli

import (
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// wordCounter counts blanks-separated words, at least one a text.
type wordCounter struct{}

func (wordCounter) CountTokens(text string) (int, error) { return len(strings.Fields(text)), nil }

// byteCounter has a token a byte.
type byteCounter struct{}

func (byteCounter) CountTokens(text string) (int, error) { return len(text), nil }

func TestSplitLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"fits", "one two three", 50, []string{"one two three"}},
		{"clauses", "aé b c d e, f g h i j k, l m n", 8, []string{"aé b c d e,", "e, f g h i j k,", "k, l m n"}},
		{"words", "aé b c d e f g h", 5, []string{"aé b c d e", "e f g h"}},
	} {
		got, err := SplitLong(c.text, evidence.Span{End: len(c.text)}, c.limit, wordCounter{})
		require.NoError(t, err, c.name)
		var parts []string
		for _, s := range got {
			parts = append(parts, s.In(c.text))
		}
		require.Equal(t, c.want, parts, c.name)
	}
	_, err := SplitLong("é one", evidence.Span{End: 6}, 0, wordCounter{})
	require.ErrorIs(t, err, ErrTooLong)
}

func TestSplitLongLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé,; ]{0,400}`).Draw(t, "text")
		limit := rapid.IntRange(80, 160).Draw(t, "limit")
		got, err := SplitLong(text, evidence.Span{End: len(text)}, limit, byteCounter{})
		require.NoError(t, err)
		at := 0
		for _, s := range got {
			require.LessOrEqual(t, s.Len(), limit)
			require.LessOrEqual(t, s.Start, max(at, s.Start))
			if s.Start > at {
				require.Empty(t, strings.TrimSpace(text[at:s.Start]))
			}
			at = max(at, s.End)
		}
		require.Empty(t, strings.TrimSpace(text[at:]))
	})
}
