package stage_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
)

// gated is a handler that counts, and holds what it has until gate is closed.
type gated struct {
	began atomic.Int64
	gate  chan struct{}
}

func (g *gated) Handle(ctx context.Context, _ *stage.Message) stage.Result {
	g.began.Add(1)
	select {
	case <-g.gate:
	case <-ctx.Done():
	}
	return stage.Done("seen")
}

func (g *gated) Abandon(context.Context, *stage.Message) stage.Result { return stage.Done("abandoned") }

func (w *world) rankedLoop(s schema.Stage, h stage.Handler, priority, workers int) *loop {
	return w.run(s, func(*bus.Conn) stage.Handler { return h }, func(r *stage.Runner) { r.Priority, r.Workers = priority, workers })
}

// waitingPulls waits until so many pulls wait at the consumer of s.
func (w *world) waitingPulls(s schema.Stage, n int) {
	w.t.Helper()
	w.eventually(func() bool {
		c, err := w.conn.JS.Consumer(context.Background(), stage.StreamOf(s), string(s))
		return err == nil && c.CachedInfo().NumWaiting == n
	}, "no %d pulls of %s", n, s)
}

func (w *world) feed(s treeStage, all []schema.StepID) {
	w.t.Helper()
	for _, id := range all {
		w.publish(s.input(w.t, id, bodyOf(w.t, id)))
	}
}

// TestWorkersOfLowerRankTakeTheOverflow: what fits the first rank's free workers
// goes to it alone; what is over goes to the others, at once; and everything
// once the first rank is gone.
func TestWorkersOfLowerRankTakeTheOverflow(t *testing.T) {
	t.Parallel()
	for _, s := range treeStages() {
		if s.stage != schema.StageLocal && s.stage != schema.StageCross {
			continue
		}
		t.Run(s.stage.Letter(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bus.Options{AckWait: patience})
			gpu, cpu := &gated{gate: make(chan struct{})}, &gated{gate: make(chan struct{})}
			// The slow one pulls first: order of arrival must not matter.
			w.rankedLoop(s.stage, cpu, 5, 4)
			w.waitingPulls(s.stage, 4)
			first := w.rankedLoop(s.stage, gpu, 0, 4)
			w.waitingPulls(s.stage, 8)

			steps := ids("o", 8)
			w.feed(s, steps[:4])
			w.eventually(func() bool { return gpu.began.Load() == 4 }, "the first rank did not take what it can")
			require.Zero(t, cpu.began.Load(), "there was no overflow")

			w.feed(s, steps[4:7])
			w.eventually(func() bool { return cpu.began.Load() == 3 }, "the overflow waits although a worker is free")
			require.Equal(t, int64(4), gpu.began.Load())

			close(gpu.gate)
			close(cpu.gate)
			first.stop()
			w.waitingPulls(s.stage, 4)
			w.feed(s, steps[7:])
			w.eventually(func() bool { return cpu.began.Load() == 4 }, "nobody took over from the first rank")
		})
	}
}

// TestAWorkerPullsWhereThereIsNoPriorityGroup: consumers made before there were
// groups work, and a group that appears under a running worker too.
func TestAWorkerPullsWhereThereIsNoPriorityGroup(t *testing.T) {
	t.Parallel()
	s := treeStages()[3]
	require.Equal(t, schema.StageLocal, s.stage)
	w := newWorld(t, bus.Options{})
	consumer, err := w.conn.JS.Consumer(t.Context(), s.stream, string(s.stage))
	require.NoError(t, err)
	config := consumer.CachedInfo().Config
	config.PriorityPolicy, config.PriorityGroups = jetstream.PriorityPolicyNone, nil
	_, err = w.conn.JS.UpdateConsumer(t.Context(), s.stream, config)
	require.NoError(t, err)

	seen := &gated{gate: make(chan struct{})}
	close(seen.gate)
	w.rankedLoop(s.stage, seen, 0, 2)
	steps := ids("o", 2)
	w.feed(s, steps[:1])
	w.eventually(func() bool { return seen.began.Load() == 1 }, "not handled without a group")

	drift, err := bus.Ensure(t.Context(), w.conn.JS, bus.NewTopology(bus.Options{Memory: true, AckWait: ackWait}))
	require.NoError(t, err)
	require.NotEmpty(t, drift)
	w.feed(s, steps[1:])
	w.eventually(func() bool { return seen.began.Load() == 2 }, "not handled once the group was there")
}
