// Package quoteextract is stage C of the tree: do the passages concern the
// entity that the step needs, and which verbatim span decides the claim, for
// or against? A quote counts only if code finds it in a passage.
//
// The package holds the stage's decision and the question it puts to its judge;
// it knows nothing of NATS.
package quoteextract

import (
	"context"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Input is what stage C looks at.
type Input struct {
	Question string
	Kind     schema.Kind
	// Query is the step's search query; empty for conclusions.
	Query string
	// Claim is what the step claims, sentences joined by blanks; empty where it
	// claims nothing, and in live checks.
	Claim string
	// Claims are the same sentences one by one.
	Claims []string
	// Passages are the step's own and then the earlier ones, each with its
	// text; never empty.
	Passages []schema.Passage
}

// Verdict is a judge's answer.
type Verdict struct {
	// Relevant: the passages are about the entity and relation needed.
	Relevant bool
	// Quotes are spans that decide the claim, the most decisive first, as the
	// judge gives them; code verifies them. Empty where nothing decides.
	Quotes []string
	Meta   judge.Meta
}

// Judge answers stage C's question. Implementations are safe for concurrent
// use and return a *judge.Error where they can't judge.
type Judge interface {
	Extract(ctx context.Context, in Input) (Verdict, error)
}
