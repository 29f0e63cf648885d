package stage_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

func crossStage() treeStage { return treeStages()[4] }

// waitsForAll decides as E does: once every earlier label stands.
func waitsForAll(calls chan<- int) tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		if calls != nil {
			calls <- len(item.Earlier)
		}
		for _, p := range item.Step.History {
			if item.Earlier[p.Index] == nil {
				return tree.Decision{Wait: true}, nil
			}
		}
		return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "entailment"}), nil
	})
}

// stand publishes a label as a stage would.
func (w *world) stand(id schema.StepID, gap schema.Gap, digest string) {
	w.t.Helper()
	l := schema.Label{Label: gap, Repair: gap.Repair(), Stage: schema.StageLocal, Digest: digest}
	body, err := schema.Encode(&l)
	require.NoError(w.t, err)
	first, err := bus.PublishOnce(context.Background(), w.conn.JS, bus.Message(id.Subject(schema.PrefixLabels), body))
	require.NoError(w.t, err)
	require.True(w.t, first)
}

func TestAConclusionIsWokenByTheLastLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := crossStage()
	calls, results := make(chan int, 1000), make(chan stage.Result, 1000)
	w.run(s.stage, func(conn *bus.Conn) stage.Handler {
		return tap{Handler: w.handler(conn, s, waitsForAll(calls)), after: func(_ *stage.Message, r stage.Result) { results <- r }}
	})
	earlier := ids("o", 3)
	w.stand(earlier[0], schema.GapNone, "")
	conclusion := schema.StepID{Run: "r", Rollout: "o", Index: 4}
	// Let its delay grow to what it is after long waiting.
	w.publish(s.input(t, conclusion, bodyOf(t, conclusion)))
	require.Equal(t, 1, within(t, calls, "the first look"))
	first := within(t, results, "the first wait")
	require.Equal(t, "wait", first.Outcome)
	require.NotNil(t, first.Wake)
	require.GreaterOrEqual(t, first.Delay, time.Second, "no busy waiting")

	w.stand(earlier[1], schema.GapMissingBridge, "")
	start := time.Now()
	w.stand(earlier[2], schema.GapNone, "")
	require.Equal(t, schema.GapNone, w.label(conclusion).Label)
	require.Less(t, time.Since(start), first.Delay/2, "the label woke it, not the delay")
	w.empty(s.stream)
}

// Many conclusions that wait hold up none that need not, and hold no
// worker.
func TestWaitingConclusionsHoldNoWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := crossStage()
	w.run(s.stage, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, waitsForAll(nil)) }, func(r *stage.Runner) { r.Workers = 1 })
	for _, id := range ids("waits", 31)[1:] {
		w.publish(s.input(t, id, bodyOf(t, id)))
	}
	id := schema.StepID{Run: "r", Rollout: "ready", Index: 1}
	w.publish(s.input(t, id, bodyOf(t, id)))
	require.Equal(t, schema.GapNone, w.label(id).Label)
	w.eventually(func() bool { return w.count(s.stream) == 30 }, "the others wait")
}

func TestAConclusionWhoseLabelsDoNotComeIsUngradedAtItsDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := crossStage()
	w.runStage(s, waitsForAll(nil))
	id := schema.StepID{Run: "r", Rollout: "o", Index: 2}
	m := s.input(t, id, bodyOf(t, id))
	m.Header.Set(schema.HeaderDeadline, "900ms")
	start := time.Now()
	w.publish(m)
	l := w.label(id)
	require.Equal(t, schema.ReasonUpstream, l.Reason)
	require.Less(t, time.Since(start), 4*time.Second, "the wait ends with the deadline")
	require.Equal(t, schema.ReasonUpstream, w.dead(s.stage, id).Reason)
	w.stand(schema.StepID{Run: "r", Rollout: "o", Index: 1}, schema.GapNone, "") // too late
	w.empty(s.stream)
	require.Equal(t, schema.ReasonUpstream, w.label(id).Reason)
}

// A decider that waits though every label stands must not be woken by them
// again and again.
func TestAWaitForNothingIsNotABusyLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := crossStage()
	results := w.watched(s, func(conn *bus.Conn) stage.Handler {
		return w.handler(conn, s, tree.DeciderFunc(func(context.Context, *tree.Item) (tree.Decision, error) { return tree.Decision{Wait: true}, nil }))
	})
	w.stand(schema.StepID{Run: "r", Rollout: "o", Index: 1}, schema.GapNone, "")
	id := schema.StepID{Run: "r", Rollout: "o", Index: 2}
	w.publish(s.input(t, id, bodyOf(t, id)))
	for range 2 {
		r := within(t, results, "a wait")
		require.Equal(t, "wait", r.Outcome)
		require.Nil(t, r.Wake)
	}
}

// Another stage than E has nothing to wait for.
func TestOnlyTheCrossStageMayWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	for _, s := range treeStages()[:4] {
		w.runStage(s, tree.DeciderFunc(func(context.Context, *tree.Item) (tree.Decision, error) { return tree.Decision{Wait: true}, nil }))
		id := schema.StepID{Run: "r", Rollout: s.stage.Letter(), Index: 1}
		w.publish(s.input(t, id, bodyOf(t, id)))
		require.Equal(t, schema.ReasonInternal, w.label(id).Reason)
		w.empty(s.stream)
	}
}
