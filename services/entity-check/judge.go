// Package entitycheck is stage A of the tree: does the step aim at the entity
// and the relation that the question, given the earlier claims, needs? The
// evidence is never looked at, so that a lucky passage can't excuse a step that
// went off, nor a poor one condemn a step that aims well.
//
// The package holds the stage's decision and the question it puts to its judge;
// it knows nothing of NATS.
package entitycheck

import (
	"context"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Input is all that stage A may look at. The policy's free thought is not part
// of it: it can't argue for itself.
type Input struct {
	Question string
	Kind     schema.Kind
	// Query is the search query; empty for conclusions.
	Query string
	// Claim is what a step without a query claims, sentences joined by blanks;
	// empty for search steps, and where nothing is claimed.
	Claim string
	// Earlier are the earlier steps' queries and claims, in order.
	Earlier []schema.Prior
}

// Verdict is a judge's answer.
type Verdict struct {
	// Aligned: the step aims at what the question needs.
	Aligned bool
	Meta    judge.Meta
}

// Judge answers stage A's question. Implementations are safe for concurrent
// use and return a *judge.Error where they can't judge.
type Judge interface {
	Align(ctx context.Context, in Input) (Verdict, error)
}
