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

// hangs are the ways in which a judge does not come back.
func hangs(t *testing.T) map[string]func(context.Context) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	return map[string]func(context.Context){
		"heeds its time": func(ctx context.Context) { <-ctx.Done() },
		"heeds nothing":  func(context.Context) { <-forever },
	}
}

func TestPromise_P3_OneHungJudgeDelaysOnlyItsOwnStep(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		const n, hung = 64, 17
		all := ids("o", n)
		slow := all[hung-1]
		began, release := make(chan struct{}, n), make(chan struct{})
		w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			if item.Step.Index == hung {
				began <- struct{}{}
				<-release
			}
			return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "entailment"}), nil
		}), func(o *stage.StepOptions) { o.Budget = 10 * patience })
		w.publish(s.input(t, slow, bodyOf(t, slow)))
		within(t, began, "the hung judge's step")
		for _, id := range all {
			if id != slow {
				w.publish(s.input(t, id, bodyOf(t, id)))
			}
		}
		for _, id := range all {
			if id != slow {
				require.Equal(t, schema.GapNone, w.label(id).Label)
			}
		}
		w.eventually(func() bool { return w.count(s.stream) == 1 }, "the others are not done")
		close(release)
		require.Equal(t, schema.GapNone, w.label(slow).Label, "slow is not wrong")
		w.empty(s.stream)
		w.exactly(bus.StreamLabels, n)
		require.Zero(t, w.count(bus.StreamDead))
	})
}

func TestPromise_P3_AHungJudgesStepIsUngradedAtItsBudget(t *testing.T) {
	t.Parallel()
	const budget = 2 * ackWait
	for name, hang := range hangs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
				w.runStage(s, tree.DeciderFunc(func(ctx context.Context, _ *tree.Item) (tree.Decision, error) {
					hang(ctx)
					return tree.Decision{}, ctx.Err()
				}), func(o *stage.StepOptions) { o.Budget = budget })
				id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
				w.publish(s.input(t, id, bodyOf(t, id)))
				l := w.label(id)
				require.Equal(t, schema.ReasonJudgeTimeout, l.Reason)
				last := l.Trail[len(l.Trail)-1]
				require.GreaterOrEqual(t, last.LatencyUS, budget.Microseconds(), "it had its whole budget, beyond AckWait")
				d := w.dead(s.stage, id)
				require.Equal(t, schema.ReasonJudgeTimeout, d.Reason)
				require.Contains(t, d.Detail, string(s.stage), "the slow one is named")
				w.empty(s.stream)
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
