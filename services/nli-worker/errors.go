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

// judgeError types an error of the scorer, so that the loop knows whether it
// can pass. No failure becomes a label other than ungraded.
func judgeError(step *schema.Step, stage schema.Stage, err error) error {
	je := &judge.Error{
		Reason: schema.ReasonModelError,
		Meta:   judge.Meta{Judge: judge.KindNLI},
		Err:    fmt.Errorf("%s of %s/%s step %d: %w", stage, step.Run, step.Rollout, step.Index, err),
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
