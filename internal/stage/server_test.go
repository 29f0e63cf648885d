package stage_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// The waker stands on what the server does with a bare "-NAK" for a message
// that is waiting out a delay.
func TestServerDeliversAWaitingMessageAtOnceAfterABareNak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{AckWait: 30 * time.Second})
	ctx := context.Background()
	end := schema.RolloutID{Run: "r", Rollout: "o"}.Subject(schema.PrefixEnds)
	w.publish(bus.Message(end, []byte("x")))
	consumer, err := w.conn.JS.Consumer(ctx, bus.StreamEnds, string(schema.StageReward))
	require.NoError(t, err)
	next := func(wait time.Duration) jetstream.Msg {
		batch, err := consumer.Fetch(1, fetchOptions(consumer, wait)...)
		require.NoError(t, err)
		return <-batch.Messages()
	}
	first := next(patience)
	require.NotNil(t, first)
	require.NoError(t, first.NakWithDelay(time.Hour))

	require.NoError(t, w.conn.NC.Publish(first.Reply(), []byte("-NAK")))
	start := time.Now()
	second := next(patience)
	require.NotNil(t, second, "a bare NAK ends the delay")
	require.Less(t, time.Since(start), 5*time.Second)
	meta, err := second.Metadata()
	require.NoError(t, err)
	require.EqualValues(t, 2, meta.NumDelivered)

	// So does one with a shorter delay.
	require.NoError(t, second.NakWithDelay(time.Hour))
	require.NoError(t, w.conn.NC.Publish(second.Reply(), []byte(`-NAK {"delay": 10000000}`)))
	second = next(patience)
	require.NotNil(t, second, "a NAK with a short delay ends a long one")

	// A second waker that says so too late makes the server deliver it again
	// while it is being handled: time, not truth.
	require.NoError(t, w.conn.NC.Publish(first.Reply(), []byte("-NAK")))
	third := next(patience)
	require.NotNil(t, third)

	// The acknowledgement of any delivery ends it, and a NAK after that is
	// ignored.
	require.NoError(t, second.DoubleAck(ctx))
	require.NoError(t, w.conn.NC.Publish(first.Reply(), []byte("-NAK")))
	require.NoError(t, w.conn.NC.Publish(third.Reply(), []byte("-NAK")))
	require.NoError(t, third.DoubleAck(ctx), "acknowledging twice is no error")
	require.Nil(t, next(200*time.Millisecond))
	w.empty(bus.StreamEnds)
	info, err := consumer.Info(ctx)
	require.NoError(t, err)
	require.Zero(t, info.NumAckPending)
	require.Zero(t, info.NumRedelivered)
}
