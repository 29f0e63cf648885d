package nliworker

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// listedValue is an entry of a list that gives each name its number in brackets:
// "Florida (785), Georgia (186)".
var listedValue = regexp.MustCompile(`(\p{Lu}[\pL.'’-]*(?: \p{Lu}[\pL.'’-]*)*) \((\d[\d,.]*)\s?%?\)`)

// otherEntry: the premise lists numbers by names, and the number that the claim
// gives one of the names is that of another.
func otherEntry(premise, claim string) string {
	entries := listedValue.FindAllStringSubmatch(premise, -1)
	if len(entries) < 2 {
		return ""
	}
	numbers := evidence.NumberKeys(claim)
	said := namingOf(claim)
	own, other := "", ""
	for _, e := range entries {
		given := evidence.NumberKeys(e[2])
		matches := false
		for key := range given {
			matches = matches || numbers[key]
		}
		switch named := phraseOf(claim).holds(e[1]) && said.holds(e[1]); {
		case named && matches:
			return ""
		case named:
			own = e[1] + " (" + e[2] + ")"
		case matches:
			other = e[1]
		}
	}
	if own == "" || other == "" {
		return ""
	}
	return fmt.Sprintf("the evidence has %s; the claim has the number of %s", own, other)
}

// makers are the roles of those who made something, by the verb that names them.
var makers = map[string]*regexp.Regexp{
	"directed": regexp.MustCompile(`\b(?:director|directed)\b`),
	"written":  regexp.MustCompile(`\b(?:author|writer|written|wrote)\b`),
	"produced": regexp.MustCompile(`\b(?:producer|produced)\b`),
	"composed": regexp.MustCompile(`\b(?:composer|composed)\b`),
	"designed": regexp.MustCompile(`\b(?:designer|designed|architect)\b`),
}

// by is a maker and the names that follow, up to the next thing that is said.
var by = regexp.MustCompile(`\b(directed|written|produced|composed|designed)(?: and (directed|written|produced|composed|designed))?(?: \pL+ly)? by ((?:[a-z]+ ){0,4}` +
	makerName + `(?:(?:, and|,| and| &) ` + makerName + `)*)`)

const makerName = `\p{Lu}[\pL.'’-]*(?: (?:(?:de|van|von|der|la|del|of) )?\p{Lu}[\pL.'’-]*)*`

// otherMaker: the claim gives something a maker, and the premise names others in
// that role ("directed by Ann Lee, starring Bo Ray" is no film of Bo Ray's).
func otherMaker(premise, claim string) string {
	said := namingOf(claim)
	for _, m := range by.FindAllStringSubmatch(premise, -1) {
		for _, verb := range m[1:3] {
			role, ok := makers[verb]
			if !ok || !role.MatchString(claim) || len(properNames(m[3])) == 0 {
				continue
			}
			ours := statedMaker(claim, verb)
			if ours == "" && slices.ContainsFunc(properNames(m[3]), said.holds) {
				continue // in whichever role
			}
			theirs := namingOf(premise[:strings.Index(premise, m[0])] + " " + m[3])
			names := properNames(claim)
			if ours != "" {
				names = []string{ours}
			}
			for _, name := range names {
				if !theirs.holds(name) && namingOf(premise).holds(name) {
					return fmt.Sprintf("the evidence has it %s by %s", verb, strings.Trim(m[3], " ,"))
				}
			}
		}
	}
	return ""
}

// statedMaker is the name that a claim puts after "directed by", or nothing.
func statedMaker(claim, verb string) string {
	for _, m := range by.FindAllStringSubmatch(claim, -1) {
		if names := properNames(m[3]); len(names) > 0 && (m[1] == verb || m[2] == verb) {
			return names[0]
		}
	}
	return ""
}
