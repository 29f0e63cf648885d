package stage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
)

func (w *world) pins(conn *bus.Conn, s schema.Stage, hash string) *stage.Pins {
	w.t.Helper()
	p, err := stage.OpenPins(w.t.Context(), conn, s, hash)
	require.NoError(w.t, err)
	return p
}

// pinned runs s with a configuration, and reports what its handler makes of
// every message.
func (w *world) pinned(s treeStage, hash string, gap schema.Gap, change ...func(*stage.StepOptions)) (*loop, <-chan stage.Result) {
	results := make(chan stage.Result, 10_000)
	l := w.run(s.stage, func(conn *bus.Conn) stage.Handler {
		change := append(change, func(o *stage.StepOptions) { o.Pins = w.pins(conn, s.stage, hash) })
		return tap{Handler: w.handler(conn, s, verdict(gap), change...), after: func(_ *stage.Message, r stage.Result) { results <- r }}
	}, func(r *stage.Runner) { r.Workers = 32 })
	return l, results
}

func TestARollingDeployCannotMixJudgesWithinARun(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		old, _ := w.pinned(s, "old", schema.GapNone)
		all := ids("o", 3)
		w.publish(s.input(t, all[0], bodyOf(t, all[0])))
		require.Equal(t, schema.GapNone, w.label(all[0]).Label)
		old.stop()

		// The new configuration refuses the run, and says so.
		_, results := w.pinned(s, "new", schema.GapMissingBridge)
		w.publish(s.input(t, all[1], bodyOf(t, all[1])))
		refused := within(t, results, "the refusal")
		require.Equal(t, "config_mismatch", refused.Outcome)
		require.True(t, refused.Again)
		// Another run is none of its business.
		other := schema.StepID{Run: "r2", Rollout: "o", Index: 1}
		w.publish(s.input(t, other, bodyOf(t, other)))
		require.Equal(t, schema.GapMissingBridge, w.label(other).Label)
		w.eventually(func() bool { return w.count(s.stream) == 1 }, "the refused step waits for its own configuration")

		w.pinned(s, "old", schema.GapNone)
		w.publish(s.input(t, all[2], bodyOf(t, all[2])))
		for _, id := range all {
			require.Equal(t, schema.GapNone, w.label(id).Label, "judged by the configuration of the first step")
		}
		w.empty(s.stream)
		require.Zero(t, w.count(bus.StreamDead))
	})
}

// A run that nobody can judge must not keep the others waiting.
func TestManyRefusedStepsDoNotHoldUpAnotherRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[0]
	const refused = 500
	require.NoError(t, w.pins(w.conn, s.stage, "old").Check(t.Context(), "r"))
	for _, id := range ids("o", refused) {
		w.publish(bus.Message(id.Subject(s.prefix), bodyOf(t, schema.StepID{Index: 1})))
	}
	w.pinned(s, "new", schema.GapNone)
	for i := range 20 {
		id := schema.StepID{Run: "r2", Rollout: "o", Index: i + 1}
		w.publish(s.input(t, id, bodyOf(t, id)))
		w.label(id)
	}
	w.eventually(func() bool { return w.count(s.stream) == refused }, "the refused ones wait")
}

func TestAStepThatNoStageOfItsConfigurationTookSaysSo(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		require.NoError(t, w.pins(w.conn, s.stage, "old").Check(t.Context(), "r"))
		w.pinned(s, "new", schema.GapMissingBridge)
		id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
		m := s.input(t, id, bodyOf(t, id))
		m.Header.Set(schema.HeaderDeadline, "700ms")
		w.publish(m)
		l := w.label(id)
		require.Equal(t, schema.ReasonConfigMismatch, l.Reason)
		require.Equal(t, schema.ReasonConfigMismatch, w.dead(s.stage, id).Reason)
		w.empty(s.stream)
	})
}

func TestALateStepPinsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[0]
	w.pinned(s, "late", schema.GapNone, func(o *stage.StepOptions) {
		o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	})
	id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
	w.publish(s.input(t, id, bodyOf(t, id)))
	require.Equal(t, schema.ReasonDeadline, w.label(id).Reason)
	require.NoError(t, w.pins(w.conn, s.stage, "other").Check(t.Context(), "r"))
}

// Many processes pin one run at the same moment: one hash wins everywhere.
func TestOnePinWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	hashes := []string{"a", "b", "c", "d"}
	errs := make(chan error, len(hashes))
	for _, hash := range hashes {
		p := w.pins(w.dial(), schema.StageQuote, hash)
		go func() { errs <- p.Check(t.Context(), "r") }()
	}
	won := 0
	for range hashes {
		err := <-errs
		if err == nil {
			won++
			continue
		}
		var mismatch *stage.PinMismatch
		require.ErrorAs(t, err, &mismatch)
	}
	require.Equal(t, 1, won)
}
