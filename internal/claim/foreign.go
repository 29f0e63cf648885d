package claim

import (
	"strings"
	"unicode"

	"github.com/stepgap/stepgap/pkg/schema"
)

// beside reports whether an assertion has nothing to do with its step: it is
// written in a script that neither the question nor the query nor any passage
// has, or it is no clause and shares no word with them. Such text can be neither
// supported nor contradicted by what was read.
func beside(s Sentence, step *schema.Step) bool {
	isForeign := foreign(s.Text)
	if !isForeign && hasFiniteVerb(s.Stripped) {
		return false
	}
	ground := []string{step.Question, step.Query, step.Plan, step.Answer}
	for _, p := range step.Passages {
		ground = append(ground, p.Title, p.Text)
	}
	text := strings.Join(ground, "\n")
	if isForeign {
		return !sharesScript(s.Text, text)
	}
	return !overlaps(stems(s.Text), stems(text))
}

// sharesScript reports whether two texts have letters, other than Latin ones,
// of one script.
func sharesScript(a, b string) bool {
	for _, table := range scripts() {
		if strings.ContainsFunc(a, func(r rune) bool { return unicode.Is(table, r) }) &&
			strings.ContainsFunc(b, func(r rune) bool { return unicode.Is(table, r) }) {
			return true
		}
	}
	return false
}

func scripts() []*unicode.RangeTable {
	var out []*unicode.RangeTable
	for name, table := range unicode.Scripts {
		switch name {
		case "Latin", "Common", "Inherited":
		default:
			out = append(out, table)
		}
	}
	return out
}
