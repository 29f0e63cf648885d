package nliworker

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
)

// "A died earlier than B" follows from two dates, which no NLI model of this
// size can see. Where the quotes give both, code decides; where a quote leaves
// room for either order, it doesn't.

// aspect is what is compared.
type aspect string

const (
	birth aspect = "birth"
	death aspect = "death"
	start aspect = "start" // release, founding, opening
	count aspect = "count"
)

// comparison is a statement that first has less of the aspect than second: an
// earlier date, a smaller number.
type comparison struct {
	aspect        aspect
	less          bool // else more
	first, second string
	noun          string // what is counted
	maker         string // of a film or a book, where it is what is compared
}

var (
	comparedDeath = regexp.MustCompile(`(?i)\bdied (?:\pL+ )?(earlier|first|before|sooner)\b|\bdied (?:\pL+ )?(later|last|after|more recently)\b`)
	comparedBirth = regexp.MustCompile(`(?i)\b(older|oldest|elder|born (?:earlier|first|before))\b|\b(younger|youngest|born (?:later|last|after|more recently))\b`)
	comparedStart = regexp.MustCompile(`(?i)\b(?:released|published|founded|formed|established|opened|built|completed|created|launched|started|began|premiered|aired|fought|came out|made|introduced|written)\b(?: \pL+){0,4}? (?:(earlier|first|before)|(later|last|after|more recently|most recently))\b|\b(around longer)\b|\b(newer)\b`)
	comparedCount = regexp.MustCompile(`(?i)\b(?:has|have|had) (?:(fewer|less)|(more|the most)) (\pL+)`)
	makerOf       = regexp.MustCompile(`(?i)\b(director|author|writer|composer|performer)\b`)
	than          = regexp.MustCompile(`\b(?:than|before|after)\b`)
)

// comparisonOf reads a statement that compares the two things a question
// offers; ok is false where it does not.
func comparisonOf(statement, question, answer string) (c comparison, ok bool) {
	chosen, other, offered := claim.Choice(question, answer)
	if !offered || evidence.Negated(statement) {
		return c, false
	}
	less, more := "", ""
	for _, kind := range []struct {
		aspect aspect
		re     *regexp.Regexp
	}{{death, comparedDeath}, {birth, comparedBirth}, {start, comparedStart}, {count, comparedCount}} {
		m := kind.re.FindStringSubmatch(statement)
		if m == nil {
			continue
		}
		c.aspect, less, more = kind.aspect, m[1], m[2]
		if kind.aspect == start {
			less, more = m[1]+m[3], m[2]+m[4]
		}
		if kind.aspect == count {
			c.noun = evidence.Stem(strings.ToLower(m[3]))
		}
		break
	}
	if less == "" && more == "" {
		return c, false
	}
	c.less = less != ""
	c.first, c.second = chosen, other
	// "B died later than A" answers "who died earlier?" with A.
	if m := than.FindStringIndex(statement); m != nil {
		before, after := evidence.Words(statement[:m[0]]), evidence.Words(statement[m[1]:])
		switch {
		case holdsAll(before, other) && holdsAll(after, chosen):
			c.first, c.second = other, chosen
		case !holdsAll(before, chosen):
			return c, false
		}
	}
	if m := makerOf.FindString(statement); m != "" {
		c.maker = strings.ToLower(m)
	}
	return c, true
}

// decide reads the values of both from the premises. It says whether the
// comparison holds, and which values say so; ok is false where they leave it
// open. The premises used are returned by their index.
func (c comparison) decide(premises []candidate) (holds bool, why string, used []int, ok bool) {
	first, second := c.first, c.second
	if c.maker != "" {
		var i, j int
		if first, i = makerIn(premises, first, c.maker); first == "" {
			return false, "", nil, false
		}
		if second, j = makerIn(premises, second, c.maker); second == "" {
			return false, "", nil, false
		}
		used = append(used, i, j)
	}
	a, from := c.value(premises, first)
	b, by := c.value(premises, second)
	used = append(append(used, from...), by...)
	switch {
	case !a.known || !b.known:
		return false, "", nil, false
	case a.hi < b.lo:
		holds = c.less
	case a.lo > b.hi:
		holds = !c.less
	default:
		return false, "", nil, false
	}
	return holds, fmt.Sprintf("%s of %s: %s, of %s: %s", c.aspect, first, a.text, second, b.text), used, true
}

// value is what all premises about name say of the aspect.
func (c comparison) value(premises []candidate, name string) (span, []int) {
	var out span
	var used []int
	for i, p := range premises {
		region := regionOf(p, name)
		if region == "" {
			continue
		}
		var v span
		switch c.aspect {
		case birth:
			if v = birthIn(region); !v.known && c.maker == "" {
				v = startIn(region)
			}
		case death:
			v = deathIn(region)
		case start:
			v = startIn(region)
		case count:
			v = countIn(region, c.noun)
		}
		if v.known {
			out = out.with(v)
			used = append(used, i)
		}
	}
	return out, used
}

// regionOf is the part of a premise that is about name: all of it where its
// passage is, else what follows the name up to the next separator.
func regionOf(c candidate, name string) string {
	if len(c.windows) != 1 {
		return ""
	}
	if evidence.EntityKey(bareTitle(c.windows[0].title)) == evidence.EntityKey(bareTitle(name)) {
		return c.premise
	}
	at := strings.Index(strings.ToLower(c.premise), strings.ToLower(bareTitle(name)))
	if at < 0 {
		return ""
	}
	region := c.premise[at:]
	if end := strings.IndexAny(region, ";\n"); end > 0 {
		region = region[:end]
	}
	if end := strings.Index(region, " - "); end > 0 {
		region = region[:end]
	}
	return region
}

func bareTitle(s string) string {
	return strings.Trim(namesake.ReplaceAllString(strings.TrimSpace(s), ""), `"“”'., `)
}

var madeBy = regexp.MustCompile(`\b(directed|written|composed|performed|sung) (?:and \pL+ )?by ((?:\p{Lu}[\pL.'’-]+ ?){2,4})`)

// makerIn is who directed or wrote name, by a premise about it.
func makerIn(premises []candidate, name, role string) (string, int) {
	want := map[string]string{"director": "directed", "author": "written", "writer": "written", "composer": "composed", "performer": "performed"}[role]
	for i, p := range premises {
		for _, m := range madeBy.FindAllStringSubmatch(regionOf(p, name), -1) {
			if m[1] == want || want == "performed" && m[1] == "sung" {
				return strings.TrimRight(m[2], " .'"), i
			}
		}
	}
	return "", 0
}

// holdsAll reports whether words hold every word of name that says something.
func holdsAll(words []evidence.Token, name string) bool {
	for _, part := range evidence.Words(bareTitle(name)) {
		if evidence.IsStopWord(part.Key) {
			continue
		}
		found := false
		for _, w := range words {
			found = found || w.Key == part.Key
		}
		if !found {
			return false
		}
	}
	return true
}
