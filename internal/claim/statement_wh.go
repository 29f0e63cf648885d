package claim

import (
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

var rePrepositionEnd = regexp.MustCompile(`(?i)\s(after|by|for|from|in|on|with|to|of|at|as|under|about|into|against)$`)

// whoStatement: "Who founded X" -> "A founded X"; "Who was X named after" ->
// "X was named after A"; "Who did X marry" -> "X married A".
func whoStatement(q, a string) string {
	rest, _, ok := afterWord(q, "who", "whom")
	if !ok || rest == "" {
		return ""
	}
	body, aux, fronted := afterWord(rest, auxForms...)
	if !fronted {
		return a + " " + rest
	}
	if aux == "do" || aux == "does" || aux == "did" {
		subject, predicate := splitSubject(body, aux)
		if subject == "" {
			return ""
		}
		return subject + " " + affirm(aux, predicate) + " " + a
	}
	if rePrepositionEnd.MatchString(body) {
		if subject, predicate := splitAtParticiple(body); subject != "" {
			return subject + " " + aux + " " + predicate + " " + a
		}
		return ""
	}
	return a + " " + aux + " " + body
}

// rePlaceOf: "Where was the place of death of X" asks for a place as a "what"
// question does.
var rePlaceOf = compile(`^the (?:place|location|site|birth ?place|country|city|town) of\b|\bbirth ?place$`)

// splitAtParticiple divides "X named after" into X and "named after".
func splitAtParticiple(body string) (subject, predicate string) {
	words := strings.Fields(body)
	for i := len(words) - 1; i > 0; i-- {
		if isParticiple(words[i]) {
			if reRelative.MatchString(strings.Join(words[:i], " ")) && i < len(words)-1 {
				return "", ""
			}
			i = withAdverb(words, i)
			return strings.Join(words[:i], " "), strings.Join(words[i:], " ")
		}
	}
	return "", ""
}

// withAdverb moves a participle's start before an adverb: "first lit".
func withAdverb(words []string, i int) int {
	if i < 2 {
		return i
	}
	switch w := words[i-1]; w {
	case "first", "last", "originally", "initially", "finally", "also", "ever", "officially", "once":
		return i - 1
	}
	return i
}

// reRelative marks a clause inside the subject, whose verbs aren't the
// question's.
var reRelative = compile(`\b(?:who|whom|whose|that|which|where|when)\b`)

// splitLast divides "X that did Y founded" before its last word, a participle.
func splitLast(body string) (subject, predicate string) {
	words := strings.Fields(body)
	last := len(words) - 1
	if last < 1 || !isParticiple(strings.Trim(words[last], `,;:"'`)) {
		return "", ""
	}
	at := withAdverb(words, last)
	return strings.TrimRight(strings.Join(words[:at], " "), ","), strings.Join(words[at:], " ")
}

// whenStatement: "When was X born" -> "X was born on A"; "Where did X die" ->
// "X died in A".
func whenStatement(q, a string) string {
	rest, wh, ok := afterWord(q, "when", "where")
	if !ok {
		return ""
	}
	body, aux, fronted := afterWord(rest, auxForms...)
	if !fronted {
		return ""
	}
	where := at(wh, a)
	if wh == "where" && rePlaceOf.MatchString(body) {
		return body + " " + aux + " " + a
	}
	if trimmed := strings.TrimSuffix(body, " from"); wh == "where" && trimmed != body {
		body, where = trimmed, "from "+a
	}
	if aux == "do" || aux == "does" || aux == "did" {
		subject, predicate := splitSubject(body, aux)
		if subject == "" {
			return ""
		}
		if rePrepositionEnd.MatchString(predicate) {
			where = a
		}
		return subject + " " + affirm(aux, predicate) + " " + where
	}
	words := strings.Fields(body)
	if len(words) == 0 {
		return ""
	}
	last := strings.Trim(words[len(words)-1], `,;:"'`)
	if len(words) > 1 && (isParticiple(last) || last == "located" || last == "based" || last == "headquartered") {
		i := withAdverb(words, len(words)-1)
		subject := strings.TrimRight(strings.Join(words[:i], " "), ",")
		return subject + " " + aux + " " + strings.TrimRight(strings.Join(words[i:], " "), `,;:"'`) + " " + where
	}
	if wh == "where" || aux != "was" && aux != "were" && aux != "is" {
		if len(words) > 0 && !hasFiniteVerb(body) && allNames(words) {
			return body + " " + aux + " " + where
		}
	}
	if subject, predicate := splitAtParticiple(body); subject != "" && aux != "is" && aux != "are" {
		return subject + " " + aux + " " + predicate + " " + where
	}
	if !hasFiniteVerb(body) && wh == "when" {
		return body + " " + aux + " " + where
	}
	return ""
}

var rePreposed = compile(`^(?:in|on|at|from|near|around|during|before|after|between|since|by|about|circa|under|over|within|off|along)\b`)

// at gives an answer of time or place its preposition.
func at(wh, a string) string {
	if rePreposed.MatchString(a) {
		return a
	}
	if wh == "when" {
		for _, d := range evidence.Dates(a) {
			if d.Day != 0 {
				return "on " + a
			}
		}
	}
	return "in " + a
}

// howStatement: "How many people live in X" -> "A people live in X".
func howStatement(q, a string) string {
	rest, _, ok := afterWord(q, "how")
	if !ok {
		return ""
	}
	if body, _, many := afterWord(rest, "many", "much"); many {
		words := strings.Fields(body)
		for i, w := range words {
			if !isAux(w) {
				continue
			}
			noun, aux, tail := strings.Join(words[:i], " "), strings.ToLower(w), strings.Join(words[i+1:], " ")
			if aux == "do" || aux == "does" || aux == "did" {
				subject, predicate := splitSubject(tail, aux)
				if subject == "" {
					return ""
				}
				return subject + " " + affirm(aux, predicate) + " " + withNoun(a, noun)
			}
			if strings.HasPrefix(tail, "there") {
				return "there " + aux + " " + withNoun(a, noun) + strings.TrimPrefix(tail, "there")
			}
			return withNoun(a, noun) + " " + aux + " " + tail
		}
		if hasFiniteVerb(body) || len(words) > 1 && isBaseVerb(words[1]) {
			return withNoun(a, words[0]) + strings.TrimPrefix(body, words[0])
		}
		return ""
	}
	if body, adj, is := afterWord(rest, "old", "tall", "long", "high", "far", "big", "large", "deep", "wide", "heavy"); is {
		tail, aux, ok := afterWord(body, beForms...)
		if ok && tail != "" && !strings.Contains(tail, " when ") {
			return tail + " " + aux + " " + strings.TrimSuffix(a, " "+adj) + " " + adj
		}
	}
	return ""
}

// withNoun puts a number before its noun, unless the answer names it.
func withNoun(a, noun string) string {
	if noun == "" || strings.Contains(strings.ToLower(a), strings.ToLower(noun)) || len(strings.Fields(a)) > 3 {
		return a
	}
	return a + " " + noun
}
