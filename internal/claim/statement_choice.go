package claim

import (
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

var (
	reThanOther   = regexp.MustCompile(`(?i)\s+(?:than|compared to) the other(?: one)?$|\s+between the two$|[,:]?\s+(?:between|out of)$`)
	reOr          = regexp.MustCompile(`(?i)\s+or\s+`)
	reComparative = regexp.MustCompile(`(?i)\b(?:earlier|later|older|younger|more recently|larger|bigger|smaller|taller|longer|shorter|higher|lower|sooner|greater|wider|heavier|lighter|richer|deeper|faster|slower|closer \w+|further \w+|farther \w+|more \w+|fewer \w+)$`)
)

// choiceStatement: "Who died earlier, A or B" + A -> "A died earlier than B".
func choiceStatement(q, a string) string {
	stem, left, right := options(q, a)
	if stem == "" {
		return ""
	}
	other := right
	if sameOption(right, a) {
		other = left
	}
	if rest, aux, ok := afterWord(stem, auxForms...); ok && rest != "" {
		// "Is A or B written for": what followed the options is rest.
		return a + " " + affirm(aux, rest)
	}
	predicate := ""
	switch {
	case strings.EqualFold(firstWord(stem), "who"):
		predicate = strings.TrimSpace(stem[len("who"):])
	case reWhichNoun.MatchString(stem):
		predicate = whichPredicate(stem)
	}
	if predicate == "" {
		return ""
	}
	predicate = reThanOther.ReplaceAllString(predicate, "")
	s := a + glue(predicate) + predicate
	if reComparative.MatchString(predicate) && other != "" {
		s += " than " + other
	}
	return s
}

func glue(predicate string) string {
	if strings.HasPrefix(predicate, "'s ") || strings.HasPrefix(predicate, "’s ") {
		return ""
	}
	return " "
}

var reWhichNoun = regexp.MustCompile(`(?i)^(?:which|what)\b`)

// whichPredicate cuts "Which film" from "Which film was released first"; what
// it returns begins with the verb, or with 's for "Which chain's head office".
func whichPredicate(stem string) string {
	words := strings.Fields(stem)
	for i := 1; i < len(words); i++ {
		lower := strings.ToLower(words[i])
		if i > 0 && (strings.HasSuffix(words[i], "'s") || strings.HasSuffix(words[i], "’s")) && i+1 < len(words) {
			return "'s " + strings.Join(words[i+1:], " ")
		}
		if isDo(lower) {
			return ""
		}
		if isAux(lower) || isVerbForm(lower) || i > 1 && isParticiple(lower) && len(lower) > 3 {
			return strings.Join(words[i:], " ")
		}
	}
	return ""
}

// options splits a question into its stem and the two things to choose from;
// the stem is "" where the question offers no choice, or not this answer.
func options(q, a string) (stem, left, right string) {
	ors := reOr.FindAllStringIndex(q, -1)
	if len(ors) == 0 {
		return "", "", ""
	}
	m := ors[len(ors)-1]
	before, after := q[:m[0]], q[m[1]:]
	if rest, aux, ok := afterWord(before, auxForms...); ok {
		right, predicate := splitSubject(after, "is")
		if right == "" {
			return "", "", ""
		}
		if sameOption(rest, a) || sameOption(right, a) {
			return aux + " " + predicate, rest, right
		}
		return "", "", ""
	}
	if i := strings.LastIndexAny(before, ",:"); i > 0 {
		stem, left = strings.TrimSpace(before[:i]), strings.TrimSpace(before[i+1:])
	} else if sameEnd(before, a) != "" {
		left = sameEnd(before, a)
		stem = strings.TrimSpace(strings.TrimSuffix(before, left))
	} else {
		left = trailingName(before)
		stem = strings.TrimSpace(strings.TrimSuffix(before, left))
	}
	left = strings.TrimPrefix(left, "the film ")
	if left == "" || !sameOption(left, a) && !sameOption(after, a) {
		return "", "", ""
	}
	return strings.TrimRight(stem, ", :"), left, after
}

// sameOption reports whether the answer is that option, give or take what
// tells namesakes apart.
func sameOption(option, a string) bool {
	o, w := stems(option), stems(a)
	if len(w) == 0 || len(o) == 0 {
		return strings.EqualFold(strings.TrimSpace(option), strings.TrimSpace(a))
	}
	small, large := w, o
	if len(o) < len(w) {
		small, large = o, w
	}
	for k := range small {
		if !large[k] {
			return false
		}
	}
	return true
}

// sameEnd returns the end of s that spells the answer, or "".
func sameEnd(s, a string) string {
	if len(s) > len(a) && strings.EqualFold(s[len(s)-len(a):], a) && s[len(s)-len(a)-1] == ' ' {
		return s[len(s)-len(a):]
	}
	return ""
}

// trailingName is the run of capitalised words that s ends in.
func trailingName(s string) string {
	words := strings.Fields(s)
	i := len(words)
	for i > 0 {
		w := strings.Trim(words[i-1], `"'(),`)
		if w == "" || w == strings.ToLower(w) && !isJoin(w) {
			break
		}
		i--
	}
	for i < len(words) && isJoin(strings.ToLower(words[i])) {
		i++
	}
	return strings.Join(words[i:], " ")
}

// ofChoice: "Which of A and B has been in more bands" -> "A has been in more
// bands".
func ofChoice(body, a string) string {
	spans := evidence.Names(body)
	if len(spans) == 0 {
		return ""
	}
	words := strings.Fields(body)
	for i, w := range words {
		if i > 0 && isAux(strings.ToLower(w)) {
			if !sameOptionIn(strings.Join(words[:i], " "), a) {
				return ""
			}
			return a + " " + strings.Join(words[i:], " ")
		}
	}
	return ""
}

func sameOptionIn(options, a string) bool { return overlaps(stems(options), stems(a)) }
