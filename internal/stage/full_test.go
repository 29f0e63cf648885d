package stage_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
)

// limit changes how many messages a stream takes.
func (w *world) limit(stream string, change func(*jetstream.StreamConfig)) {
	w.t.Helper()
	ctx := context.Background()
	s, err := w.conn.JS.Stream(ctx, stream)
	require.NoError(w.t, err)
	config := s.CachedInfo().Config
	change(&config)
	_, err = w.conn.JS.UpdateStream(ctx, config)
	require.NoError(w.t, err)
}

// watched runs s and reports every result of its handler.
func (w *world) watched(s treeStage, build func(*bus.Conn) stage.Handler) <-chan stage.Result {
	results := make(chan stage.Result, 10_000)
	w.run(s.stage, func(conn *bus.Conn) stage.Handler {
		return tap{Handler: build(conn), after: func(_ *stage.Message, r stage.Result) { results <- r }}
	})
	return results
}

func untilRetry(t testing.TB, results <-chan stage.Result) {
	t.Helper()
	for {
		if r := within(t, results, "a retry"); r.Again {
			require.Equal(t, "retry", r.Outcome)
			require.Positive(t, r.Delay)
			return
		}
	}
}

func TestPromise_P4_AFullNextStageHoldsTheStepBack(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		const room, n = 2, 6
		w.limit(s.nextStream, func(c *jetstream.StreamConfig) { c.MaxMsgs = room })
		results := w.watched(s, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, forward(s.next)) })
		all := ids("o", n)
		for _, id := range all {
			w.publish(s.input(t, id, bodyOf(t, id)))
		}
		untilRetry(t, results)
		w.eventually(func() bool { return w.count(s.nextStream) == room }, "the next stage is not full")
		w.eventually(func() bool { return w.count(s.stream) == n-room }, "what did not fit is still there, and what did is acknowledged")
		require.Zero(t, w.count(bus.StreamLabels), "being full is no verdict")

		w.limit(s.nextStream, func(c *jetstream.StreamConfig) { c.MaxMsgs = -1 })
		w.empty(s.stream)
		for _, id := range all {
			require.NotNil(t, w.last(s.nextStream, id.Subject(s.nextPrefix)), id)
		}
		require.Zero(t, w.count(bus.StreamDead))
	})
}

func TestPromise_P4_AFullLabelStreamHoldsTheStepBack(t *testing.T) {
	t.Parallel()
	full := map[string]struct{ shut, open func(*jetstream.StreamConfig) }{
		"messages": {
			func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 },
			func(c *jetstream.StreamConfig) { c.MaxMsgs = -1 },
		},
		"bytes": {
			func(c *jetstream.StreamConfig) { c.MaxBytes = 1500 },
			func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 30 },
		},
	}
	for name, kind := range full {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
				const n = 6
				w.limit(bus.StreamLabels, kind.shut)
				results := w.watched(s, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, verdict(schema.GapNone)) })
				all := ids("o", n)
				for _, id := range all {
					w.publish(s.input(t, id, bodyOf(t, id)))
				}
				untilRetry(t, results)
				require.Less(t, w.count(bus.StreamLabels), n)
				w.limit(bus.StreamLabels, kind.open)
				for _, id := range all {
					require.Equal(t, schema.GapNone, w.label(id).Label)
				}
				w.empty(s.stream)
				w.exactly(bus.StreamLabels, n)
				require.Zero(t, w.count(bus.StreamDead))
			})
		})
	}
}

// The label stands and its dead letter doesn't fit: the step stays until it
// does.
func TestPromise_P4_AFullDeadLetterStreamHoldsTheStepBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[2]
	w.limit(bus.StreamDead, func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 })
	results := w.watched(s, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, verdict(schema.GapNone)) })
	all := ids("o", 3)
	for _, id := range all {
		w.publish(bus.Message(id.Subject(s.prefix), []byte("garbage")))
	}
	untilRetry(t, results)
	w.limit(bus.StreamDead, func(c *jetstream.StreamConfig) { c.MaxMsgs = -1 })
	w.empty(s.stream)
	w.exactly(bus.StreamLabels, len(all))
	w.exactly(bus.StreamDead, len(all))
}

// The next stage's stream is gone and comes back: the step waits for it.
func TestPromise_P4_AMissingNextStageHoldsTheStepBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[0]
	ctx := context.Background()
	stream, err := w.conn.JS.Stream(ctx, s.nextStream)
	require.NoError(t, err)
	config := stream.CachedInfo().Config
	require.NoError(t, w.conn.JS.DeleteStream(ctx, s.nextStream))
	results := w.watched(s, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, forward(s.next)) })
	id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
	w.publish(s.input(t, id, bodyOf(t, id)))
	untilRetry(t, results)
	_, err = w.conn.JS.CreateStream(ctx, config)
	require.NoError(t, err)
	w.empty(s.stream)
	require.NotNil(t, w.last(s.nextStream, id.Subject(s.nextPrefix)))
}
