package client

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Plan asks whether a planned query aims at what the question needs, before
// anything is retrieved. The answer is never rewarded.
func (c *Client) Plan(ctx context.Context, step *schema.Step) (*schema.LiveAnswer, error) {
	return c.ask(ctx, schema.LivePlan, step)
}

// Probe asks whether the passages that just came in are about what is needed,
// before anything is claimed. The answer is never rewarded.
func (c *Client) Probe(ctx context.Context, step *schema.Step) (*schema.LiveAnswer, error) {
	return c.ask(ctx, schema.LiveProbe, step)
}

func (c *Client) ask(ctx context.Context, kind schema.LiveKind, step *schema.Step) (*schema.LiveAnswer, error) {
	id := schema.StepID{Run: step.Run, Rollout: step.Rollout, Index: step.Index}
	body, err := EncodeStep(step)
	if err != nil {
		return nil, fmt.Errorf("live check not asked (%s): %w", id, err)
	}
	inbox := c.nc.NewInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("live check not asked (%s): %w", id, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	m := bus.Message(schema.LiveSubject(kind, id), body)
	m.Header.Set(schema.HeaderReply, inbox)
	if until, ok := ctx.Deadline(); ok {
		m.Header.Set(schema.HeaderDeadline, max(time.Until(until), time.Millisecond).String())
	}
	// No message id: the same plan may be asked about again.
	if _, err := bus.Publish(ctx, c.js, m); err != nil {
		return nil, fmt.Errorf("live check not asked (%s): %w", id, err)
	}
	reply, err := sub.NextMsgWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("live check of %s: no answer in time: %w", id, err)
	}
	answer := &schema.LiveAnswer{}
	if err := schema.Decode(reply.Data, answer); err != nil {
		return nil, fmt.Errorf("live check of %s: %w", id, err)
	}
	return answer, nil
}

// FollowRewards calls f with every reward of run, those that stand already and
// those to come, in the order they were given, until ctx is done or f returns
// an error.
func (c *Client) FollowRewards(ctx context.Context, run string, f func(*schema.Reward) error) error {
	return c.follow(ctx, bus.StreamRewards, schema.PrefixRewards+"."+run+".*", func(m jetstream.Msg) error {
		id, err := schema.ParseRollout(schema.PrefixRewards, m.Subject())
		if err != nil {
			return err
		}
		reward := &schema.Reward{}
		if err := schema.Decode(m.Data(), reward); err != nil {
			return fmt.Errorf("reward of %s: %w", id, err)
		}
		reward.Run, reward.Rollout = id.Run, id.Rollout
		return f(reward)
	})
}

// FollowLabels is FollowRewards for labels.
func (c *Client) FollowLabels(ctx context.Context, run string, f func(*schema.Label) error) error {
	return c.follow(ctx, bus.StreamLabels, schema.PrefixLabels+"."+run+".*.*", func(m jetstream.Msg) error {
		id, err := schema.ParseStep(schema.PrefixLabels, m.Subject())
		if err != nil {
			return err
		}
		label := &schema.Label{}
		if err := schema.Decode(m.Data(), label); err != nil {
			return fmt.Errorf("label of %s: %w", id, err)
		}
		label.Run, label.Rollout, label.Index = id.Run, id.Rollout, id.Index
		return f(label)
	})
}

func (c *Client) follow(ctx context.Context, stream, filter string, f func(jetstream.Msg) error) error {
	consumer, err := c.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}})
	if err != nil {
		return fmt.Errorf("following %s: %w", filter, err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("following %s: %w", filter, err)
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("following %s: %w", filter, err)
		}
		if err := f(m); err != nil {
			return err
		}
	}
}
