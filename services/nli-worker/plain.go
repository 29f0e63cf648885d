package nliworker

import (
	"regexp"

	"github.com/stepgap/stepgap/internal/nli"
)

// idioms are turns of phrase that say in several words, or in a rare one, what
// a small model knows by another.
var idioms = []struct {
	turn  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`\bcame into the world\b`), "was born"},
	{regexp.MustCompile(`\bpassed away\b`), "died"},
	{regexp.MustCompile(`\blost (?:his|her|their) (?:life|lives)\b`), "died"},
	{regexp.MustCompile(`\bgot the better of\b`), "defeated"},
	{regexp.MustCompile(`\btied the knot with\b`), "married"},
	{regexp.MustCompile(`\bhail(?:s|ed) from\b`), "is from"},
	{regexp.MustCompile(`\bpenned\b`), "wrote"},
	{regexp.MustCompile(`\bhelmed\b`), "directed"},
}

// plain is text without idioms.
func plain(text string) string {
	for _, i := range idioms {
		text = i.turn.ReplaceAllString(text, i.plain)
	}
	return text
}

// asked is a pair as the model is asked about it: in plain words, and amounts in
// the units of the premise.
func asked(premise, hypothesis string) nli.Pair {
	return nli.Pair{Premise: plain(premise), Hypothesis: plain(inUnitsOf(premise, hypothesis))}
}
