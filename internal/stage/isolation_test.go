package stage_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestPromise_P3_OneHungJudgeDelaysOnlyItsOwnStep(t *testing.T) {
	t.Parallel()
	const budget = 3 * time.Second
	hangs := map[string]func(ctx context.Context, forever <-chan struct{}){
		"heeds its time": func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() },
		"heeds nothing":  func(_ context.Context, forever <-chan struct{}) { <-forever },
	}
	for name, hang := range hangs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
				const n, hung = 64, 17
				all := ids("o", n)
				forever, began := make(chan struct{}), make(chan struct{}, 1)
				t.Cleanup(func() { close(forever) })
				w.runStage(s, tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
					if item.Step.Index == hung {
						began <- struct{}{}
						hang(ctx, forever)
						return tree.Decision{}, ctx.Err()
					}
					return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "entailment"}), nil
				}), func(o *stage.StepOptions) { o.Budget = budget })
				for _, id := range all {
					w.publish(s.input(t, id, bodyOf(t, id)))
				}
				within(t, began, "the hung judge's step")
				start := time.Now()
				for i, id := range all {
					if i+1 != hung {
						require.Equal(t, schema.GapNone, w.label(id).Label)
					}
				}
				require.Less(t, time.Since(start), budget, "the others did not wait for the hung one")
				l, err := bus.LabelOf(context.Background(), w.conn.JS, all[hung-1])
				require.NoError(t, err)
				require.Nil(t, l, "it has its whole budget, far beyond AckWait")

				l = w.label(all[hung-1])
				require.Equal(t, schema.ReasonJudgeTimeout, l.Reason)
				require.GreaterOrEqual(t, time.Since(start), budget-500*time.Millisecond)
				d := w.dead(s.stage, all[hung-1])
				require.Equal(t, schema.ReasonJudgeTimeout, d.Reason)
				require.Contains(t, d.Detail, string(s.stage), "the slow one is named")
				require.Equal(t, 1, d.Delivered, "signs of life kept it from being delivered again")
				w.empty(s.stream)
				w.exactly(bus.StreamLabels, n)
				w.exactly(bus.StreamDead, 1)
			})
		})
	}
}

// The budget ends where the step's deadline does.
func TestAJudgeIsNotGivenMoreThanTheStepHasLeft(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, tree.DeciderFunc(func(ctx context.Context, _ *tree.Item) (tree.Decision, error) {
			<-ctx.Done()
			return tree.Decision{}, ctx.Err()
		}))
		id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
		m := s.input(t, id, bodyOf(t, id))
		m.Header.Set(schema.HeaderDeadline, "1s")
		w.publish(m)
		require.Equal(t, schema.ReasonDeadline, w.label(id).Reason)
		w.empty(s.stream)
	})
}

// Prefetching would let a message wait behind a slow one while another replica
// is idle.
func TestNoMessageWaitsBehindABusyWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{AckWait: 30 * time.Second})
	s := treeStages()[0]
	began, release := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(release) })
	w.run(s.stage, func(conn *bus.Conn) stage.Handler {
		return w.handler(conn, s, tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
			began <- struct{}{}
			<-release
			return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "x"}), nil
		}))
	}, func(r *stage.Runner) { r.Workers = 1 })
	all := ids("o", 3)
	w.publish(s.input(t, all[0], bodyOf(t, all[0])))
	within(t, began, "the slow worker")
	var handled atomic.Int32
	w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		handled.Add(1)
		return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "x"}), nil
	}))
	for _, id := range all[1:] {
		w.publish(s.input(t, id, bodyOf(t, id)))
		w.label(id)
	}
	require.EqualValues(t, 2, handled.Load())
}
