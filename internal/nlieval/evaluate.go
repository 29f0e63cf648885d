package nlieval

import (
	"context"
	"fmt"

	"github.com/stepgap/stepgap/internal/nli"
)

// Result is what one model made of a set.
type Result struct {
	// Alone is the model's likeliest label.
	Alone Quality `json:"alone"`
	// Stage is the label of stage D, where the guard stands beside the model.
	Stage Quality `json:"stage_d"`

	alone, stage []Label
}

// evaluate measures a model on a set of at least one pair.
func evaluate(ctx context.Context, scorer nli.Scorer, set Set) (Result, error) {
	var r Result
	var err error
	if r.alone, err = alone(ctx, scorer, set); err != nil {
		return r, fmt.Errorf("%s, the model alone: %w", set.Name, err)
	}
	if r.stage, err = staged(ctx, scorer, set); err != nil {
		return r, fmt.Errorf("%s, stage D: %w", set.Name, err)
	}
	r.Alone, r.Stage = measure(set.Pairs, r.alone), measure(set.Pairs, r.stage)
	return r, nil
}
