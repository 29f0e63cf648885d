package llmtrial

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// maxFailed is how many items in a row may get no verdict.
const maxFailed = 3

// grace is how long the label of a step that ran out of time is waited for: it
// says why.
const grace = 20 * time.Second

// Try sends the items, one after the other, through the pipeline that c is a
// client of, under the given run, and returns one answer an item, in the order
// of the items. An item without a label within limit is an answer with Err.
// backwards sends the last item first: an endpoint's caches are then in another
// state for each of them. tell is called after each item. Several items in a
// row without a verdict end the trial: the endpoint is down, or not what it
// should be.
func Try(ctx context.Context, c *client.Client, run string, items []Item, limit time.Duration, backwards bool, tell func(Item, Answer)) ([]Answer, error) {
	answers := make([]Answer, len(items))
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	if backwards {
		slices.Reverse(order)
	}
	failed := 0
	for _, i := range order {
		item := items[i]
		// Each item is a rollout of its own: steps of one would be read together.
		item.Step.Run, item.Step.Rollout = run, string(item.Stage)+"-"+strconv.Itoa(i)
		label, err := one(ctx, c, item.Step, limit)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("trying %q in run %s: %w", item.Name, run, context.Cause(ctx))
		case err != nil:
			answers[i] = Answer{Err: err.Error()}
		default:
			answers[i] = Read(item, label)
		}
		tell(item, answers[i])
		if failed++; answers[i].Err == "" {
			failed = 0
		}
		if failed == maxFailed {
			return nil, fmt.Errorf("%d items in a row got no verdict, the last one: %s", failed, answers[i].Err)
		}
	}
	return answers, nil
}

func one(ctx context.Context, c *client.Client, step schema.Step, limit time.Duration) (*schema.Label, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+grace)
	defer cancel()
	ref, err := c.PublishStep(ctx, &step, client.Deadline(limit))
	if err != nil {
		return nil, err
	}
	return c.WaitLabel(ctx, schema.RolloutID{Run: step.Run, Rollout: step.Rollout}, ref)
}
