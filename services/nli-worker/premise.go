package nliworker

import (
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

var (
	// pronounHead is a sentence that begins with a pronoun as its subject, or
	// with what belongs to one.
	pronounHead = regexp.MustCompile(`^(?:(He|She|It|They)|(His|Her|Its|Their))\s+\pL`)
	// expletive: an "it" that stands for nothing ("It is believed that").
	expletive = regexp.MustCompile(`^It\s+(?:is|was|has been|had been|would be|may be|took|seems)\s+(?:\pL+ly\s+)?(?:not\s+)?(?:until|that|to|in|on|at|believed|said|thought|estimated|unclear|unknown|known that|possible|likely|reported|rumou?red|argued|claimed|recorded that|here|there|during|because|only)\b`)
	// namesake is what tells namesakes apart in a title: "Mercury (planet)".
	namesake = regexp.MustCompile(`\s*\([^()]*\)\s*$`)
)

// premiseOf writes a window of a passage as the model reads it best: a pronoun
// at its head replaced by the title, which it stands for; the title before it
// where it names something else; a title that stands twice, once. It says
// whether the title was put in.
func premiseOf(title, text string) (premise string, titled bool) {
	if title == "" {
		return text, false
	}
	subject := strings.TrimSpace(namesake.ReplaceAllString(title, ""))
	if subject == "" {
		subject = title
	}
	if rest, twice := strings.CutPrefix(text, subject+" "); twice && strings.HasPrefix(rest, subject) {
		text = rest
	}
	before := evidence.Titled(title, text)
	if before == text {
		return text, false
	}
	m := pronounHead.FindStringSubmatch(text)
	switch {
	case m == nil, expletive.MatchString(text):
		return before, true
	case m[1] != "":
		return subject + text[len(m[1]):], true
	default:
		return subject + "'s" + text[len(m[2]):], true
	}
}
