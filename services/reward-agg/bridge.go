package rewardagg

import (
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// namesNew reports whether query holds one of names that no earlier query
// holds. A name is held whole, or by a part that the query itself writes as a
// name ("Lovelace" of "Ada Lovelace").
func namesNew(earlier []*view, query string, names []string) bool {
	var before [][]string
	for _, v := range earlier {
		if f := v.facts(); f != nil && strings.TrimSpace(f.Query) != "" {
			before = append(before, evidence.Tokens(f.Query))
		}
	}
	asked := evidence.Tokens(query)
	var parts [][]string
	for _, n := range evidence.Names(query) {
		parts = append(parts, evidence.Tokens(n))
	}
	for _, name := range names {
		whole := evidence.Tokens(name)
		if holds(asked, whole) && !anyHolds(before, whole) {
			return true
		}
		for _, part := range parts {
			if holds(whole, part) && !anyHolds(before, part) {
				return true
			}
		}
	}
	return false
}

func anyHolds(texts [][]string, words []string) bool {
	return slices.ContainsFunc(texts, func(t []string) bool { return holds(t, words) })
}

// holds reports whether words stand in text one after the other.
func holds(text, words []string) bool {
	if len(words) == 0 {
		return false
	}
	for at := 0; at+len(words) <= len(text); at++ {
		if slices.Equal(text[at:at+len(words)], words) {
			return true
		}
	}
	return false
}
