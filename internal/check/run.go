package check

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options say how rollouts are sent.
type Options struct {
	// Run is the run's id; fresh for each start.
	Run string
	// Window is how many rollouts are under way at once; default 32.
	Window int
	// Deadline of each step; 0 for none.
	Deadline time.Duration
	// EndDeadline is how long after a rollout's end its labels are waited for;
	// default 24 hours, which for a check is for ever.
	EndDeadline time.Duration
	// Trail puts the whole trail of each label into the results.
	Trail bool
	// NoWait publishes and returns without waiting for rewards; results then
	// hold no labels.
	NoWait bool
	// Progress, if set, is called after each rollout with the steps done.
	Progress func(rollouts, steps int)
}

// Run publishes every rollout and calls emit with each result, in the order of
// rollouts. It stops at the first error.
func Run(ctx context.Context, c *client.Client, rollouts iter.Seq2[*transcript.Rollout, error], o Options, emit func(*Result) error) (Summary, error) {
	if o.Window == 0 {
		o.Window = 32
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	type slot struct {
		result *Result
		err    error
	}
	// Slots keep the order; a channel each, so that emit waits for the oldest.
	order := make(chan chan slot, o.Window)
	var working sync.WaitGroup
	go func() {
		defer close(order)
		names := namer{}
		for rollout, err := range rollouts {
			done := make(chan slot, 1)
			select {
			case order <- done:
			case <-ctx.Done():
				return
			}
			if err != nil {
				done <- slot{err: err}
				return
			}
			id := schema.RolloutID{Run: o.Run, Rollout: names.name(rollout.ID)}
			working.Go(func() {
				result, err := one(ctx, c, rollout, id, o)
				done <- slot{result, err}
			})
		}
	}()
	defer working.Wait()
	summary := NewSummary()
	start := time.Now()
	for done := range order {
		s := <-done
		if s.err != nil {
			cancel(s.err)
			return summary, s.err
		}
		summary.add(s.result)
		summary.Seconds = time.Since(start).Seconds()
		if o.Progress != nil {
			o.Progress(summary.Rollouts, summary.Steps)
		}
		if err := emit(s.result); err != nil {
			cancel(err)
			return summary, err
		}
	}
	return summary, context.Cause(ctx)
}

func one(ctx context.Context, c *client.Client, rollout *transcript.Rollout, id schema.RolloutID, o Options) (*Result, error) {
	if err := publish(ctx, c, rollout, id, o); err != nil {
		return nil, fmt.Errorf("rollout %s: %w", rollout.ID, err)
	}
	if o.NoWait {
		return &Result{Run: id.Run, Rollout: id.Rollout, Source: rollout.ID, Steps: make([]StepResult, len(rollout.Steps))}, nil
	}
	reward, err := c.WaitReward(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("rollout %s: %w", rollout.ID, err)
	}
	labels, err := c.Labels(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("rollout %s: %w", rollout.ID, err)
	}
	return assemble(rollout, id, labels, reward, o.Trail), nil
}

// publish sends a rollout's steps and its end.
func publish(ctx context.Context, c *client.Client, rollout *transcript.Rollout, id schema.RolloutID, o Options) error {
	end := NewEnd(rollout, id, o)
	for i := range rollout.Steps {
		s := rollout.Steps[i]
		s.Run, s.Rollout = id.Run, id.Rollout
		ref, err := retryFull(ctx, func() (schema.StepRef, error) {
			return c.PublishStep(ctx, &s, client.Deadline(o.Deadline))
		})
		if err != nil {
			return err
		}
		end.Steps = append(end.Steps, ref)
	}
	_, err := retryFull(ctx, func() (struct{}, error) { return struct{}{}, c.PublishEnd(ctx, end) })
	return err
}

// NewEnd is the end of a rollout, its steps still to be listed.
func NewEnd(rollout *transcript.Rollout, id schema.RolloutID, o Options) *schema.RolloutEnd {
	if o.EndDeadline == 0 {
		o.EndDeadline = 24 * time.Hour
	}
	return &schema.RolloutEnd{
		Run: id.Run, Rollout: id.Rollout, Question: rollout.Question,
		Answer: rollout.Answer, Gold: rollout.Gold, Group: rollout.Group,
		DeadlineMS: o.EndDeadline.Milliseconds(),
	}
}

// retryFull slows down while the pipeline pushes back.
func retryFull[T any](ctx context.Context, publish func() (T, error)) (T, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		v, err := publish()
		if !errors.Is(err, client.ErrBackpressure) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
