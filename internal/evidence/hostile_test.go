package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The wire lets through 2 MiB of passage, so text must not cost more than
// linear time, whatever it is made of: a quadratic scan takes longer than the
// bound, a linear one a twentieth of it.
func TestHostileTextCostsLinearTime(t *testing.T) {
	t.Parallel()
	const size = 1 << 16
	for _, unit := range []string{
		"A", "a", "A ", "A. ", "“", "\"A", "A.", ".", "\n", "1,", "1 ", "&amp;", "&", "北", "e\u0301", "\u0301", "\u200b", "Mr. ", "of ", "A of ", "May 1 ", "n't ", "ᄀ", "-1", "[1]", "'",
	} {
		text := strings.Repeat(unit, size/len(unit))
		began := time.Now()
		_ = Sentences(text)
		_ = Entities(text)
		_ = Fold(text)
		_ = Relevance(text, "a claim about May 1")
		_ = Negations(text)
		_, _ = Locate(passages(text, text), "a quote that isn't there, with several words in it")
		_, _ = Locate(passages(text, text), strings.Repeat(unit, 64)+" x y")
		require.Less(t, time.Since(began), 5*time.Second, "%q", unit)
		t.Logf("%-8q %v", unit, time.Since(began).Round(time.Millisecond))
	}
}
