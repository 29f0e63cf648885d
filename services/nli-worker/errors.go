package nliworker

import (
	"context"
	"errors"
	"fmt"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// errNoEvidence: D was given neither a quote nor a passage with text.
var errNoEvidence = errors.New("neither a quote nor a passage with text was given")

// errNoClaim: the step claims nothing, so that it should not have come here.
var errNoClaim = errors.New("the step has no sentence that claims something")

// biller knows what a decision has cost so far, and who judged.
type biller interface {
	Meta(of nli.Pair) judge.Meta
}

// judgeError types an error of the scorer, so that the loop knows whether it
// can pass. No failure becomes a label other than ungraded. A judge that types
// its own errors is taken at its word; the bill is that of the whole decision.
func judgeError(step *schema.Step, stage schema.Stage, scorer biller, err error) error {
	at := func(cause error) error {
		return fmt.Errorf("%s of %s/%s step %d: %w", stage, step.Run, step.Rollout, step.Index, cause)
	}
	if own := judge.AsError(err); own != nil {
		typed := *own
		typed.Meta, typed.Err = scorer.Meta(nli.Pair{}), at(own.Err)
		return &typed
	}
	je := &judge.Error{
		Reason: schema.ReasonModelError,
		Meta:   scorer.Meta(nli.Pair{}),
		Err:    at(err),
	}
	switch {
	case errors.Is(err, nli.ErrTooLong):
		je.Reason = schema.ReasonTooLarge
	case errors.Is(err, nli.ErrClosed):
		je.Reason, je.Temporary = schema.ReasonModelError, true
	case errors.Is(err, context.DeadlineExceeded):
		je.Reason, je.Temporary = schema.ReasonJudgeTimeout, true
	case errors.Is(err, context.Canceled):
		je.Reason, je.Temporary = schema.ReasonJudgeTimeout, true
	case errors.Is(err, errNoEvidence), errors.Is(err, errNoClaim):
		je.Reason = schema.ReasonInternal
	}
	return je
}
