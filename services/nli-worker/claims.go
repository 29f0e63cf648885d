package nliworker

import (
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// claimSentences are the statements of a step, each to be judged by itself:
// its sentences, of "A was X, and B was Y" both halves, and of "A and B are both
// X" one for each. A claim that was
// given is never dropped, even where none of its sentences looks like one.
func claimSentences(step *schema.Step) []string {
	claims := claim.Read(step).Claims
	if len(claims) == 0 {
		claims = []string{step.Claim}
	}
	var out []string
	for _, c := range claims {
		for _, s := range statements(c) {
			if both := distribute(s); both != nil {
				out = append(out, both...)
				continue
			}
			out = append(out, clauses(s)...)
		}
	}
	return out
}

// statements splits what may be several sentences.
func statements(c string) []string {
	var out []string
	for _, s := range claim.Split(c) {
		if s.Class.Asserts() {
			out = append(out, s.Stripped)
		}
	}
	if len(out) == 0 && strings.TrimSpace(c) != "" {
		return []string{strings.TrimSpace(c)}
	}
	return out
}

var (
	// clauseJoin is where one statement may end and the next begin.
	clauseJoin = regexp.MustCompile(`\s*;\s+(?:and\s+|but\s+)?|,?\s+(?:and|but|while|whereas)\s+`)
	// clauseHead is a subject and its verb at the head of a statement.
	clauseHead = regexp.MustCompile(`^(?:\pL[\pL\pN'’.:!?&"“”()-]*,?\s+){1,8}?(?:also\s+)?(?:is|was|are|were|has|had|have|died|won|became|plays|played|directed|wrote|founded|lives|lived)\b`)
	// clauseSubject is how a subject begins.
	clauseSubject = regexp.MustCompile(`^(?:["“(]?\p{Lu}|he\b|she\b|it\b|they\b|the\b|his\b|her\b|its\b|their\b)`)
	pronoun       = regexp.MustCompile(`^(?i:(he|she|it|they)|(his|her|its|their))\b`)
)

// clauses divides a sentence into statements where each half has a subject and
// a verb of its own. A pronoun at the head of a later half is replaced by the
// name at the head of the first, which it stands for.
func clauses(sentence string) []string {
	var out []string
	rest := sentence
	for from := 0; ; {
		m := clauseJoin.FindStringIndex(rest[from:])
		if m == nil {
			break
		}
		left, right := rest[:from+m[0]], rest[from+m[1]:]
		if openQuote(left) || !clauseSubject.MatchString(right) || !clauseHead.MatchString(right) || !clauseHead.MatchString(left) ||
			between(left) {
			from += m[1]
			continue
		}
		out = append(out, left)
		rest, from = right, 0
	}
	if out == nil {
		return []string{sentence}
	}
	out = append(out, rest)
	subject := headName(out[0])
	for i := range out {
		if i > 0 {
			out[i] = named(out[i], subject)
		}
		if !strings.HasSuffix(out[i], ".") {
			out[i] += "."
		}
	}
	return out
}

// openQuote reports whether a quotation is open at the end of s.
func openQuote(s string) bool {
	return strings.Count(s, `"`)%2 == 1 || strings.Count(s, "“") > strings.Count(s, "”") || strings.Count(s, "(") > strings.Count(s, ")")
}

// between: "both X and Y are", "between X and Y was", "whether".
func between(left string) bool {
	for _, w := range evidence.Words(left) {
		switch w.Key {
		case "both", "between", "either", "if", "that", "who", "which", "whose", "because", "since":
			return true
		}
	}
	return false
}

// headName is the name that a statement begins with, or nothing.
func headName(s string) string {
	names := evidence.Names(s)
	if len(names) == 0 || !strings.HasPrefix(strings.TrimPrefix(s, "The "), names[0]) {
		return ""
	}
	return names[0]
}

func named(s, subject string) string {
	m := pronoun.FindStringSubmatch(s)
	switch {
	case m == nil || subject == "":
		return s
	case m[1] != "":
		return subject + s[len(m[1]):]
	default:
		return subject + "'s" + s[len(m[2]):]
	}
}

func queries(claims []string) []evidence.Query {
	out := make([]evidence.Query, len(claims))
	for i, c := range claims {
		out[i] = evidence.NewQuery(c)
	}
	return out
}
