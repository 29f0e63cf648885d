// Package abstaincheck is stage B of the tree: is "cannot be determined" true
// of the passages so far? The judge is asked the opposite, whether the fact
// that was sought is stated, because models asked to justify an abstention say
// yes to everything; code inverts the answer.
//
// The package holds the stage's decision and the question it puts to its judge;
// it knows nothing of NATS.
package abstaincheck

import (
	"context"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Input is what stage B looks at.
type Input struct {
	Question string
	// Query is the step's search query; empty for conclusions.
	Query string
	// Sought names the fact that was looked for: the query of a search step,
	// the question of a conclusion.
	Sought string
	// Abstention holds the sentences that say that it wasn't found.
	Abstention string
	// Claim is what the step claims all the same, sentences joined by blanks;
	// a fact that the step itself states was found after all.
	Claim string
	// Passages are the step's own and then the earlier ones; never empty.
	Passages []schema.Passage
}

// Verdict is a judge's answer.
type Verdict struct {
	// Stated: the passages do state the fact that was sought.
	Stated bool
	// Quotes are the sentences that state it, as the judge gives them; code
	// verifies them.
	Quotes []string
	Meta   judge.Meta
}

// Judge answers stage B's question. Implementations are safe for concurrent
// use and return a *judge.Error where they can't judge.
type Judge interface {
	Stated(ctx context.Context, in Input) (Verdict, error)
}
