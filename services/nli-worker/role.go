package nliworker

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// relation is "holder was the role of owner".
type relation struct{ holder, role, owner string }

const (
	roleWord  = `(?:\p{Lu}\.|(?:Jr|Sr|St|Dr|Mr|Mrs)\.|\p{Lu}[\pL’'-]*)`
	roleName  = `(` + roleWord + `(?:\s(?:(?:of|the|de|van|von|der|la|bin|ibn)\s)?` + roleWord + `)*)`
	roleNoun  = `(?:(?:the|an?|eldest|oldest|youngest|older|younger|elder|only|first|second|third|paternal|maternal|great-?)\s)*(father|mother|parent|grandfather|grandmother|son|daughter|grandson|granddaughter|uncle|aunt|nephew|niece|husband|wife|widow|predecessor|successor|teacher|pupil|student|mentor|ancestor|descendant|father-in-law|mother-in-law|son-in-law|daughter-in-law)`
	roleVerbs = `(?:is|was|became|had been|has been)`
)

var (
	roleOf    = regexp.MustCompile(roleName + `(?:\s` + roleVerbs + `|,)\s` + roleNoun + `\s(?:of|to)\s` + roleName)
	roleOwned = regexp.MustCompile(roleName + `['’]s?\s` + roleNoun + `(?:\s` + roleVerbs + `|,)?\s` + roleName)
	roleFirst = regexp.MustCompile(`[Tt]he\s` + roleNoun + `\sof\s` + roleName + `(?:\s` + roleVerbs + `|,)\s` + roleName)
)

// relations are those that a text states between two names.
func relations(text string) []relation {
	var out []relation
	for _, m := range roleOf.FindAllStringSubmatch(text, -1) {
		out = append(out, relation{m[1], m[2], ownerOf(m[3])})
	}
	for _, m := range roleOwned.FindAllStringSubmatch(text, -1) {
		out = append(out, relation{m[3], m[2], ownerOf(m[1])})
	}
	for _, m := range roleFirst.FindAllStringSubmatch(text, -1) {
		out = append(out, relation{m[3], m[1], ownerOf(m[2])})
	}
	return out
}

func ownerOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "'s"), "’s")
}

// swapped says where premise states a relation of the claim the other way
// round, and nowhere the claim's own: "A was the grandfather of B" has every
// word of "B was the grandfather of A". None of the roles goes both ways.
func swapped(premise, claim string) string {
	if evidence.Negated(premise) || evidence.Negated(claim) {
		return ""
	}
	stated := relations(premise)
	for _, c := range relations(claim) {
		reverse := false
		for _, p := range stated {
			if p.role != c.role {
				continue
			}
			if evidence.SameEntity(p.holder, c.holder) && evidence.SameEntity(p.owner, c.owner) {
				return ""
			}
			reverse = reverse || sharesBoth(p, c)
		}
		if reverse {
			return fmt.Sprintf("the evidence has %s as the %s, the claim %s", c.owner, c.role, c.holder)
		}
	}
	return ""
}

// sharesBoth: the same two names, each in the other's place. Names that could
// each be either of them decide nothing.
func sharesBoth(p, c relation) bool {
	return evidence.SameEntity(p.holder, c.owner) && evidence.SameEntity(p.owner, c.holder) &&
		!evidence.SameEntity(p.holder, p.owner) && !evidence.SameEntity(c.holder, c.owner)
}
