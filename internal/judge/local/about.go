package local

import (
	"fmt"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Shares from which passages are about what is needed.
const (
	// nameShare of a name's words must stand in one passage where the name as
	// a whole doesn't.
	nameShare = 0.75
	// wordShare of the words of a query that names nothing must stand in one
	// passage.
	wordShare = 0.6
	// coverShare of a claim in one sentence makes its passage relevant,
	// whatever the query asked for.
	coverShare = 0.85
)

// about decides whether any passage concerns the entity that the step needs.
// The entity is what the query names; for a step without query what the
// question and the claim name.
func about(in quoteextract.Input, texts []reading) (bool, string) {
	aim := in.Query
	if aim == "" {
		aim = in.Claim
		if in.Kind == schema.KindConclusion {
			aim = in.Question + " " + in.Claim
		}
	}
	names := evidence.Names(aim)
	for _, name := range names {
		for _, t := range texts {
			if t.about(name) {
				return true, fmt.Sprintf("The passage %q is about %q.", titleOf(t), name)
			}
		}
	}
	if len(names) == 0 {
		if t, ok := sharesWords(aim, texts); ok {
			return true, fmt.Sprintf("The passage %q shares most words of %q.", titleOf(t), aim)
		}
	}
	for _, claim := range in.Claims {
		query := evidence.NewQuery(claim)
		for _, t := range texts {
			for _, s := range t.sentences {
				if query.Relevance(evidence.Titled(t.title, s.text)) >= coverShare {
					return true, "A sentence covers the claim."
				}
			}
		}
	}
	if len(names) > 0 {
		return false, fmt.Sprintf("No passage is about %q.", names[0])
	}
	return false, fmt.Sprintf("No passage shares most words of %q.", aim)
}

// about reports whether the passage names the entity: as a whole, or by most
// of its words.
func (r reading) about(name string) bool {
	if holdsName(r.keys, name) {
		return true
	}
	tokens := evidence.ContentTokens(name)
	if len(tokens) < 2 {
		return false
	}
	found := 0
	for _, t := range tokens {
		if r.tokens[t] {
			found++
		}
	}
	return float64(found) >= nameShare*float64(len(tokens))
}

func sharesWords(aim string, texts []reading) (reading, bool) {
	query := evidence.NewQuery(aim)
	for _, t := range texts {
		for _, s := range t.sentences {
			if query.Relevance(evidence.Titled(t.title, s.text)) >= wordShare {
				return t, true
			}
		}
	}
	return reading{}, false
}

func titleOf(r reading) string {
	if r.title != "" {
		return r.title
	}
	if len(r.sentences) > 0 {
		return firstWords(r.sentences[0].text, 6)
	}
	return ""
}

func firstWords(text string, n int) string {
	words := evidence.Words(text)
	if len(words) <= n {
		return text
	}
	return text[:words[n-1].End] + " ..."
}
