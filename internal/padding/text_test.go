package padding

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		text := Text(k, 50_000)
		require.GreaterOrEqual(t, len(text), 49_990, k)
		require.Less(t, len(text), 51_000, k)
		require.True(t, utf8.ValidString(text), k)
		require.Equal(t, text, Text(k, 50_000), "always the same")
		for _, p := range Places() {
			padded := Pad("Ada Brandt sings.", k, p, 5_000)
			require.Contains(t, padded, "Ada Brandt sings.")
			require.True(t, utf8.ValidString(padded), k)
			require.Equal(t, p != After, !strings.HasPrefix(padded, "Ada"), "%s %s", k, p)
			require.Equal(t, p != Before, !strings.HasSuffix(padded, "sings."), "%s %s", k, p)
		}
	}
}

// Unrelated means: no word of what is asked or claimed, but for the small ones.
func TestTextIsUnrelatedToTheFacts(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		have := map[string]bool{}
		for _, w := range evidence.ContentTokens(Text(k, 50_000)) {
			have[w] = true
		}
		for _, f := range Facts() {
			for _, text := range append(f.Claims(), f.Title, f.Question, f.Query) {
				for _, w := range evidence.ContentTokens(text) {
					assert.False(t, have[w], "%s holds %q of %q", k, w, text)
				}
			}
		}
	}
}
