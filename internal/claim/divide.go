package claim

import "strings"

// part of a sentence; class is set where the part can't be judged alone.
type part struct {
	start, end int
	concluding bool
	class      Class
}

var (
	reJoin = compile(`(?:,|;|:| [-–—])?\s+(?:and|but|however|although|though|while|whereas|yet|because|since)\s+|\s*;\s+|,\s+(?:which|this|that) (?:means?|implies) (?:that )?|,\s+`)
	reSo   = compile(`(?:[,;]|\s[-–—])\s*(?:and )?(?:so|therefore|thus|hence|consequently)(?:,| that)?\s+|\s+so (?:i|we|the answer)\b`)
	// reOpener is a subordinate clause at the head of a sentence.
	reOpener  = compile(`^(?:(?:however|but|and|so|therefore|now),?\s+)?(?:since|because|as|although|though|while|given that|even though)\s+`)
	reAdverse = compile(`\b(?:but|however|although|though|while|whereas|yet|because|since)\b|;`)
	reBecomes = compile(`^,\s+(?:which|this|that) (?:means?|implies)`)
)

// divide splits a sentence where its parts do different things: claim here,
// abstain or plan there, conclude from what stood before.
func divide(s string, concluding bool) []part {
	if len(s) > maxDivided {
		return []part{{start: 0, end: len(s), concluding: concluding}}
	}
	if parts := divideOpener(s, concluding); parts != nil {
		return parts
	}
	if parts := divideSo(s, concluding); parts != nil {
		return parts
	}
	joins := reJoin.FindAllStringIndex(s, -1)
	// from the right: what a clause does, it says at its own head, and the
	// right half must not hold clauses that do something else.
	for i := len(joins) - 1; i >= 0; i-- {
		m := joins[i]
		left, right := s[:m[0]], s[m[1]:]
		if len(strings.TrimSpace(left)) < 3 || len(strings.TrimSpace(right)) < 3 || insideQuotes(s, m[0]) {
			continue
		}
		l, r := judge(left, concluding), judge(right, false)
		if r.class != Abstention && reElliptic.MatchString(right) && evidenceSpoken(left) {
			r.class = Abstention
		}
		if !worthSplitting(left, right, l.class, r.class, s[m[0]:m[1]]) {
			continue
		}
		head := divide(left, concluding)
		if r.class == Abstention && reElliptic.MatchString(right) && evidenceSpoken(left) {
			return append(head, part{start: m[1], end: len(s), class: Abstention})
		}
		return append(head, shift(divide(right, reBecomes.MatchString(s[m[0]:m[1]])), m[1])...)
	}
	return []part{{start: 0, end: len(s), concluding: concluding}}
}

// worthSplitting reports whether two halves do different things, and stand as
// clauses of their own.
func worthSplitting(left, right string, l, r Class, join string) bool {
	if group(l) == group(r) {
		return l.Asserts() && r.Asserts() && reBecomes.MatchString(join) && hasFiniteVerb(right)
	}
	if group(l) == assertion && !hasFiniteVerb(left) && !(reAdverse.MatchString(join) && len(strings.Fields(left)) > 4) {
		return false
	}
	if group(r) == assertion && !startsClause(right) {
		return false
	}
	if l == Plan && group(r) == assertion && !reAdverse.MatchString(join) {
		// "I need to search A and B, then see which is older" is one plan.
		return false
	}
	if strings.TrimSpace(join) == "," {
		// a bare comma joins clauses only where the right one says "I".
		return r == Plan && rePlanStart.MatchString(right) || r == Abstention && reCannot.MatchString(firstWords(right, 8)) && !reOpener.MatchString(left)
	}
	if r == Lead || l == Lead && r == Tool {
		return false
	}
	return true
}

// divideSo splits "A, so B".
func divideSo(s string, concluding bool) []part {
	for _, m := range reSo.FindAllStringIndex(s, -1) {
		end := m[1]
		if i := strings.LastIndexAny(s[m[0]:m[1]], " \t"); strings.HasSuffix(strings.ToLower(s[m[0]:m[1]]), "so i") || strings.HasSuffix(strings.ToLower(s[m[0]:m[1]]), "so we") {
			end = m[0] + i + 1
		} else if j := strings.Index(strings.ToLower(s[m[0]:m[1]]), "so the answer"); j >= 0 {
			end = m[0] + j + 3
		}
		left, right := s[:m[0]], s[end:]
		if len(strings.TrimSpace(left)) < 3 || insideQuotes(s, m[0]) || reNotSo.MatchString(strings.TrimLeft(s[m[0]:], " ,;")) {
			continue
		}
		l, r := judge(left, concluding), judge(right, true)
		if group(r.class) == assertion && !startsClause(right) {
			continue
		}
		if group(l.class) == assertion && !hasFiniteVerb(left) {
			continue
		}
		return append(divide(left, concluding), shift(divide(right, true), end)...)
	}
	return nil
}

// divideOpener splits "Since A, B".
func divideOpener(s string, concluding bool) []part {
	m := reOpener.FindStringIndex(s)
	if m == nil {
		return nil
	}
	commas := openerCommas(s, m[1])
	if len(commas) == 0 {
		return nil
	}
	i := commas[0]
	next := i + 2
	if s[i+1] == '"' {
		next = i + 3
	}
	left, right := s[m[1]:i], s[next:]
	l, r := judge(left, false), judge(right, concluding)
	if group(l.class) == group(r.class) && !(l.class.Asserts() && r.class.Asserts()) {
		return nil
	}
	// "Although A, B" and "while A, B" draw no conclusion.
	draws := reDraws.MatchString(s[:m[1]])
	if l.class.Asserts() && r.class.Asserts() && !draws {
		return nil
	}
	return append(shift(divide(s[m[1]:next-1], false), m[1]), shift(divide(right, concluding || draws), next)...)
}

// reDraws is an opener from which the main clause is drawn as a conclusion.
var reDraws = compile(`(?:since|because|as|given that)\s+$`)

var reStrongStart = compile(`^(?:i|we|it|the|there|this|that|he|she|they|his|her|their|both|so|neither|no)\b`)

// openerCommas are the commas at which the main clause may begin, the likelier
// ones first: "Since there are no results for Marin County, California, I
// ..." goes on at "I".
func openerCommas(s string, from int) []int {
	var strong, weak []int
	for i := from; i+3 < len(s); i++ {
		rest := s[i+1:]
		if s[i] == ',' && rest[0] == '"' {
			rest = rest[1:] // American style: the comma stands inside the quotation
		} else if insideQuotes(s, i) {
			continue
		}
		if s[i] != ',' || rest[0] != ' ' || !hasFiniteVerb(s[from:i]) || !startsClause(rest[1:]) {
			continue
		}
		if reStrongStart.MatchString(rest[1:]) {
			strong = append(strong, i)
		} else {
			weak = append(weak, i)
		}
	}
	return append(strong, weak...)
}

// evidenceSpoken reports whether a clause is about what the evidence holds, or
// tells what the policy read there.
func evidenceSpoken(left string) bool {
	core, _ := stripLeads(left)
	return core > 0 || reEvidenceSpoken.MatchString(left)
}

type classGroup int

const (
	assertion classGroup = iota
	abstention
	intent
	about
)

func group(c Class) classGroup {
	switch c {
	case Claim, Conclusion:
		return assertion
	case Abstention:
		return abstention
	case Lead, Heading:
		return about
	}
	return intent
}

func shift(parts []part, by int) []part {
	for i := range parts {
		parts[i].start += by
		parts[i].end += by
	}
	return parts
}

// insideQuotes reports whether offset i stands in a quotation: a title may
// hold any word.
func insideQuotes(s string, i int) bool {
	return strings.Count(s[:i], `"`)%2 == 1 && strings.Contains(s[i:], `"`) ||
		strings.Count(s[:i], "“") > strings.Count(s[:i], "”")
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	if len(f) > n {
		f = f[:n]
	}
	return strings.Join(f, " ")
}
