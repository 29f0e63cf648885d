package bus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/schema"
)

// EachLabel calls f with every label of a run that stands by now, in the order
// in which they came. It holds one of them at a time.
func EachLabel(ctx context.Context, js jetstream.JetStream, run string, f func(*schema.Label) error) error {
	err := eachMessage(ctx, js, StreamLabels, strings.Join([]string{schema.PrefixLabels, run, "*", "*"}, "."), func(m jetstream.Msg, _ time.Time) error {
		label, err := decodeLabel(m.Subject(), m.Data())
		if err != nil {
			return err
		}
		return f(label)
	})
	if err != nil {
		return fmt.Errorf("reading the labels of run %s: %w", run, err)
	}
	return nil
}

// EachReward calls f with every reward of a run that stands by now, in the order
// in which they came, and when each came by the server's clock. It holds one of
// them at a time.
func EachReward(ctx context.Context, js jetstream.JetStream, run string, f func(*schema.Reward, time.Time) error) error {
	err := eachMessage(ctx, js, StreamRewards, strings.Join([]string{schema.PrefixRewards, run, "*"}, "."), func(m jetstream.Msg, at time.Time) error {
		reward, err := decodeReward(m.Subject(), m.Data())
		if err != nil {
			return err
		}
		return f(reward, at)
	})
	if err != nil {
		return fmt.Errorf("reading the rewards of run %s: %w", run, err)
	}
	return nil
}

// eachMessage calls f with every message under filter that stands by now.
func eachMessage(ctx context.Context, js jetstream.JetStream, name, filter string, f func(jetstream.Msg, time.Time) error) error {
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{filter},
		DeliverPolicy:  jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	if info.NumPending == 0 {
		return nil
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	defer messages.Stop()
	for left := uint64(1); left > 0; {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		left = meta.NumPending
		if err := f(m, meta.Timestamp); err != nil {
			return err
		}
	}
	return nil
}
