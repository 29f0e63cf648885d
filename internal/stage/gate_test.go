package stage_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
)

// door is a gate that is opened once.
type door struct {
	opened chan struct{}
	asked  atomic.Int64
}

func (d *door) Wait(ctx context.Context) error {
	d.asked.Add(1)
	select {
	case <-d.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestBehindAClosedGateMessagesWaitInTheStream(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{AckWait: longAckWait}, func(t *testing.T, w *world, s treeStage) {
		d := &door{opened: make(chan struct{})}
		var delivered atomic.Int64
		w.run(s.stage, func(conn *bus.Conn) stage.Handler {
			return tap{Handler: w.handler(conn, s, verdict(schema.GapNone)), before: func(m *stage.Message) {
				delivered.Add(1)
				if m.Delivered != 1 {
					t.Errorf("delivery %d: the gate must cost none", m.Delivered)
				}
			}}
		}, func(r *stage.Runner) { r.Gate = d })
		all := ids("o", 5)
		for _, id := range all {
			w.publish(s.input(t, id, bodyOf(t, id)))
		}
		w.eventually(func() bool { return d.asked.Load() == 8 }, "each worker asks")
		require.Zero(t, delivered.Load())
		w.exactly(s.stream, len(all))
		close(d.opened)
		for _, id := range all {
			require.Equal(t, schema.GapNone, w.label(id).Label)
		}
		w.empty(s.stream)
	})
}

func TestALoopBehindAClosedGateEndsWhenItIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[0]
	d := &door{opened: make(chan struct{})}
	l := w.run(s.stage, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, verdict(schema.GapNone)) },
		func(r *stage.Runner) { r.Gate = d })
	w.eventually(func() bool { return d.asked.Load() > 0 }, "a worker asks")
	l.stop()
}

func TestGates_AreOpenWhereAllAre(t *testing.T) {
	t.Parallel()
	open := stage.GateFunc(func(context.Context) error { return nil })
	shut := errors.New("shut")
	closed := stage.GateFunc(func(context.Context) error { return shut })
	require.NoError(t, stage.Gates{}.Wait(t.Context()))
	require.NoError(t, stage.Gates{open, open}.Wait(t.Context()))
	require.ErrorIs(t, stage.Gates{open, closed}.Wait(t.Context()), shut)
}
