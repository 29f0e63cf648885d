package client

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// WaitLabel waits for the label of a step. A label for other content than
// ref's is ErrIDReused, never the old label.
func (c *Client) WaitLabel(ctx context.Context, id schema.RolloutID, ref schema.StepRef) (*schema.Label, error) {
	step := id.Step(ref.Index)
	label, err := await(ctx, c.nc, step.Subject(schema.PrefixLabels), func() (*schema.Label, error) {
		return bus.LabelOf(ctx, c.js, step)
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the label of %s: %w", step, err)
	}
	if label.Digest != "" && ref.Digest != "" && label.Digest != ref.Digest {
		return nil, fmt.Errorf("label of %s: %w", step, ErrIDReused)
	}
	return label, nil
}

// WaitReward waits for the reward of a rollout. A reward may be null: then
// Process is nil and Reason says why.
func (c *Client) WaitReward(ctx context.Context, id schema.RolloutID) (*schema.Reward, error) {
	reward, err := await(ctx, c.nc, id.Subject(schema.PrefixRewards), func() (*schema.Reward, error) {
		return bus.RewardOf(ctx, c.js, id)
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the reward of %s: %w", id, err)
	}
	return reward, nil
}

// Reward reads the reward of a rollout, if it stands by now; nil otherwise.
func (c *Client) Reward(ctx context.Context, id schema.RolloutID) (*schema.Reward, error) {
	return bus.RewardOf(ctx, c.js, id)
}

// Labels reads the labels of a rollout that stand by now, by index.
func (c *Client) Labels(ctx context.Context, id schema.RolloutID) (map[int]*schema.Label, error) {
	return bus.LabelsOf(ctx, c.js, id)
}

// Pauses between readings of what a plain message announced.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 5 * time.Second
)

// await subscribes to subject, then reads what stands there, and otherwise
// waits. A plain message says that something was offered under the subject: not
// that it was accepted, nor that it is stored yet. So what stands there is read
// again after it, soon at first; and now and then without it, since a plain
// message can be lost.
func await[T any](ctx context.Context, nc *nats.Conn, subject string, read func() (*T, error)) (*T, error) {
	arrived := make(chan *nats.Msg, 1)
	sub, err := nc.ChanSubscribe(subject, arrived)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	pause := lastPause
	for {
		got, err := read()
		if err != nil || got != nil {
			return got, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-arrived:
			pause = firstPause
		case <-timer.C:
			pause = min(2*pause, lastPause)
		}
		timer.Stop()
	}
}
