// Package off stands in for the judge of a stage that is removed from the
// tree. The stage's routing stays: A calls every step aligned, B every
// abstention justified, C all passages relevant and quotes nothing, D and E
// find no fault in what reaches them. What code alone decides (no passages, no
// claim) is decided as ever. It serves ablations, and says in every trail entry
// that the stage was off.
package off

import (
	"context"
	"fmt"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Outcome is the branch that the trail names where D or E is off.
const Outcome = "off"

// Judge answers for A, B and C. The zero value is ready for use and safe for
// concurrent use.
type Judge struct{}

var (
	_ entitycheck.Judge  = Judge{}
	_ abstaincheck.Judge = Judge{}
	_ quoteextract.Judge = Judge{}
)

// New returns the judge.
func New() Judge { return Judge{} }

// Align calls every step aligned.
func (Judge) Align(context.Context, entitycheck.Input) (entitycheck.Verdict, error) {
	return entitycheck.Verdict{Aligned: true, Meta: meta("A is off: every step counts as aligned.")}, nil
}

// Stated calls no fact stated, so that every abstention counts as justified.
func (Judge) Stated(context.Context, abstaincheck.Input) (abstaincheck.Verdict, error) {
	return abstaincheck.Verdict{Meta: meta("B is off: every abstention counts as justified.")}, nil
}

// Extract calls all passages relevant and looks for no quote.
func (Judge) Extract(context.Context, quoteextract.Input) (quoteextract.Verdict, error) {
	return quoteextract.Verdict{Relevant: true, Meta: meta("C is off: the passages count as relevant, and no quote is looked for.")}, nil
}

func meta(detail string) judge.Meta { return judge.Meta{Judge: judge.KindOff, Detail: detail} }

// Last stands in for D or E, whichever stage is: what reaches it is none.
func Last(stage schema.Stage) tree.Decider {
	detail := fmt.Sprintf("%s is off: what reaches it counts as none.", stage.Letter())
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		return tree.Verdict(item, schema.GapNone, "", detail, meta(detail).Entry(stage, Outcome)), nil
	})
}
