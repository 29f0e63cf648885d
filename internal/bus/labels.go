package bus

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/schema"
)

// EachLabel calls f with every label of a run that stands by now, in the order
// in which they came. It holds one of them at a time.
func EachLabel(ctx context.Context, js jetstream.JetStream, run string, f func(*schema.Label) error) error {
	stream, err := js.Stream(ctx, StreamLabels)
	if err != nil {
		return fmt.Errorf("reading the labels of run %s: %w", run, err)
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{strings.Join([]string{schema.PrefixLabels, run, "*", "*"}, ".")},
		DeliverPolicy:  jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("reading the labels of run %s: %w", run, err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return fmt.Errorf("reading the labels of run %s: %w", run, err)
	}
	if info.NumPending == 0 {
		return nil
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("reading the labels of run %s: %w", run, err)
	}
	defer messages.Stop()
	for left := uint64(1); left > 0; {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return fmt.Errorf("reading the labels of run %s: %w", run, err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("reading the labels of run %s: %w", run, err)
		}
		left = meta.NumPending
		label, err := decodeLabel(m.Subject(), m.Data())
		if err != nil {
			return err
		}
		if err := f(label); err != nil {
			return err
		}
	}
	return nil
}
