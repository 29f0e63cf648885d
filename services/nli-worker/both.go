package nliworker

import (
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

var (
	bothFirst = regexp.MustCompile(`^Both (.+?) (are|were|have|had|can)\s+(.+)$`)
	bothLater = regexp.MustCompile(`^(.+?) (?:(are|were|have|had|can) )?both (.+)$`)
)

// distribute turns "A and B are both P" into "A is P" and "B is P", each of
// which one passage can state; nil where a sentence says nothing of the kind,
// denies it ("not both") or compares the two ("the same").
func distribute(sentence string) []string {
	m := bothFirst.FindStringSubmatch(sentence)
	if m == nil {
		m = bothLater.FindStringSubmatch(sentence)
	}
	if m == nil || evidence.Negated(sentence) {
		return nil
	}
	subjects, verb, rest := strings.Split(m[1], " and "), m[2], m[3]
	if len(subjects) != 2 || !isName(subjects[0]) || !isName(subjects[1]) {
		return nil
	}
	for _, w := range evidence.Words(rest) {
		switch w.Key {
		case "same", "different", "other", "each", "together", "common", "between":
			return nil
		}
	}
	switch verb {
	case "are":
		verb = "is"
	case "were":
		verb = "was"
	case "have":
		verb = "has"
	}
	out := make([]string, 2)
	for i, s := range subjects {
		out[i] = strings.Join(strings.Fields(s+" "+verb+" "+rest), " ")
	}
	return out
}

// isName reports whether s begins as a name does.
func isName(s string) bool {
	return clauseSubject.MatchString(s) && hasUpper(s)
}
