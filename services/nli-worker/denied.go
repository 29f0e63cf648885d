package nliworker

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// denied says how premise, which has the words of claim, says otherwise; empty
// if it doesn't. These are what a small model passes over where the words
// agree: it is asked of premises that it takes for entailing ones.
func denied(premise, claim string) string {
	if evidence.Negated(claim) || phraseOf(premise).holds(claim) {
		return ""
	}
	for _, test := range []func(premise, claim string) string{ruledOut, ended, exchanged, outranked, otherCount, otherDay, otherEntry, otherMaker} {
		if why := test(premise, claim); why != "" {
			return why
		}
	}
	return ""
}

var (
	negator  = regexp.MustCompile(`(?i)(?:\b(?:not|never|without)|n['’]t)\s+`)
	endScope = regexp.MustCompile(`[,.;:]|\b(?:but|until|only|just|merely)\b`)
)

// ruledOut: what the premise negates is what the claim says, and the premise
// says it nowhere else ("it wasn't signed at the ferry but in the town hall").
func ruledOut(premise, claim string) string {
	said := contentSet(claim)
	for _, at := range negator.FindAllStringIndex(premise, -1) {
		scope := premise[at[1]:]
		if end := endScope.FindStringIndex(scope); end != nil {
			scope = scope[:end[0]]
		}
		words := evidence.ContentTokens(scope)
		if len(words) < 2 || slices.ContainsFunc(words, func(w string) bool { return !said[w] }) {
			continue
		}
		rest := contentSet(premise[:at[0]] + ". " + premise[at[1]+len(scope):])
		if slices.ContainsFunc(words, func(w string) bool { return !rest[w] }) {
			return fmt.Sprintf("the evidence denies %q", strings.TrimSpace(scope))
		}
	}
	return ""
}

var (
	untilDate = regexp.MustCompile(`\b(?i:until|up to|till) (?:[A-Za-z0-9]+ ){0,2}(?:1\d|20)\d{2}\b`)
	present   = regexp.MustCompile(`\b(?:is|are|has|have|does|do|belongs?|lies|stands|today|now|currently|still)\b`)
	past      = regexp.MustCompile(`\b(?:was|were|had|did|until|till|used|up to|\d{4})\b`)
)

// ended: the premise says it of a time that is over, the claim of today.
func ended(premise, claim string) string {
	if !present.MatchString(claim) || past.MatchString(claim) {
		return ""
	}
	for _, at := range evidence.Sentences(premise) {
		sentence := at.In(premise)
		if m := untilDate.FindString(sentence); m != "" && !present.MatchString(sentence) {
			return "the evidence says so only " + strings.ToLower(m[:1]) + m[1:]
		}
	}
	return ""
}

const statedName = `(\p{Lu}[\pL'’.-]*(?: \p{Lu}[\pL'’.-]*)*)`

// between two names: a few small words that join them.
var stated = regexp.MustCompile(statedName + `((?: [a-z][a-z'’-]*){1,5}) ` + statedName)

// mutual are words of what goes both ways.
func mutual(words string) bool {
	for _, w := range strings.Fields(words) {
		switch w {
		case "and", "or", "with", "nor", "married", "met", "borders", "bordered", "bordering", "adjoins", "near", "beside", "between", "versus", "against",
			"like", "resembles", "is", "are", "was", "were", "equals", "joined", "wed", "sister", "brother", "cousin", "neighbour", "neighbor", "twin", "friend":
			return true
		}
	}
	return false
}

// exchanged: two names stand round the same words in claim and premise, each in
// the other's place.
func exchanged(premise, claim string) string {
	theirs := stated.FindAllStringSubmatch(premise, -1)
	for _, c := range stated.FindAllStringSubmatch(claim, -1) {
		if mutual(c[2]) {
			continue
		}
		reverse := false
		for _, p := range theirs {
			if p[2] != c[2] {
				continue
			}
			if evidence.SameEntity(p[1], c[1]) && evidence.SameEntity(p[3], c[3]) {
				return ""
			}
			reverse = reverse || evidence.SameEntity(p[1], c[3]) && evidence.SameEntity(p[3], c[1]) && !evidence.SameEntity(c[1], c[3])
		}
		if reverse {
			return fmt.Sprintf("the evidence has %s before %q, the claim %s", c[3], strings.TrimSpace(c[2]), c[1])
		}
	}
	return ""
}

var ranked2 = regexp.MustCompile(`(?i)\b(second|third|fourth|fifth|sixth|2nd|3rd|4th|5th)[ -](\pL{2,}est|most \pL+|least \pL+)\b`)

// outranked: the premise has it second or third of what the claim has it first.
func outranked(premise, claim string) string {
	lower := strings.ToLower(claim)
	for _, m := range ranked2.FindAllStringSubmatch(premise, -1) {
		top := strings.ToLower(m[2])
		if strings.Contains(lower, top) && !ranked2.MatchString(claim) && strings.Count(strings.ToLower(premise), top) == 1 {
			return fmt.Sprintf("the evidence has the %s %s", strings.ToLower(m[1]), top)
		}
	}
	return ""
}

// otherCount: the claim counts so many of something, the premise counts another
// number of it, and everything else that the claim says stands in the premise.
func otherCount(premise, claim string) string {
	if !coveredButNumbers(premise, claim) {
		return ""
	}
	theirs := evidence.Numbers(premise)
	for _, n := range evidence.Numbers(claim) {
		noun := nounAfter(claim, n)
		if n.Ordinal || noun == "" || isYear(n.In(claim)) || hedged(claim, n) {
			continue
		}
		other := ""
		for _, o := range theirs {
			if o.Ordinal || nounAfter(premise, o) != noun {
				continue
			}
			if o.Value == n.Value || rounds(o.Value, n.Value) || hedged(premise, o) {
				other = ""
				break
			}
			other = o.In(premise)
		}
		if other != "" && (n.Value < 20 || !derivable(n.Value, theirs)) {
			return fmt.Sprintf("the evidence has %s where the claim has %s", other, n.In(claim))
		}
	}
	return ""
}

var weekday = regexp.MustCompile(`\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day`)

// otherDay: the claim names a day of the week, and the premise only others.
func otherDay(premise, claim string) string {
	theirs := weekday.FindAllString(premise, -1)
	for _, d := range weekday.FindAllString(claim, -1) {
		if len(theirs) > 0 && !slices.Contains(theirs, d) {
			return fmt.Sprintf("the evidence has %s where the claim has %s", theirs[0], d)
		}
	}
	return ""
}
