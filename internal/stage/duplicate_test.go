package stage_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// otherBody is a valid step of the same id with another text.
func otherBody(t testing.TB, id schema.StepID) []byte {
	t.Helper()
	s := step(id)
	s.Text, s.Claim = "Her father was Paul.", "The father of Clara Ames was Paul."
	b, err := schema.Encode(s)
	require.NoError(t, err)
	return b
}

func TestPromise_P1_EverythingTwiceReorderedAndTwoLoops(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		const n = 40
		var messages []*nats.Msg
		all := ids("o", n)
		for _, id := range all {
			m := s.input(t, id, bodyOf(t, id))
			messages = append(messages, m, m)
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		// The loops disagree, so that a second label would show.
		w.runStage(s, verdict(schema.GapNone))
		w.runStage(s, verdict(schema.GapMissingBridge))
		for _, m := range messages {
			w.publish(m)
		}
		for _, id := range all {
			w.label(id)
		}
		w.empty(s.stream)
		w.exactly(bus.StreamLabels, n)
		require.Zero(t, w.count(bus.StreamDead), "a duplicate is no fault")
	})
}

func TestOtherContentUnderTheSameIDIsNeverAlreadyThere(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			return tree.Verdict(item, schema.GapNone, "", item.Step.Claim, schema.TrailEntry{Outcome: "entailment"}), nil
		}))
		id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
		w.publish(s.input(t, id, bodyOf(t, id)))
		first := w.label(id)
		other := otherBody(t, id)
		w.publish(s.input(t, id, other))
		d := w.dead(s.stage, id)
		require.Equal(t, schema.ReasonIDReused, d.Reason)
		require.Equal(t, other, d.Body)
		w.empty(s.stream)
		require.Equal(t, first, w.label(id), "the first label stands")
		w.exactly(bus.StreamLabels, 1)
	})
}

// Bad content under an id that is taken is still another content.
func TestGarbageUnderATakenIDChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[0]
	w.runStage(s, verdict(schema.GapNone))
	id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
	w.publish(s.input(t, id, bodyOf(t, id)))
	first := w.label(id)
	for _, c := range []func(*nats.Msg){
		func(m *nats.Msg) { m.Data = []byte("garbage") },
		func(m *nats.Msg) { m.Header.Set(schema.HeaderSchema, "9"); m.Data = []byte("of a newer wire") },
	} {
		m := s.input(t, id, bodyOf(t, id))
		c(m)
		w.publish(m)
		w.empty(s.stream)
	}
	require.Equal(t, first, w.label(id))
	require.Equal(t, schema.ReasonIDReused, w.dead(s.stage, id).Reason)
}

// A step of a newer wire is known by its digest like any other, or a later step
// with other content would be taken for its duplicate.
func TestAnUnreadableStepsLabelCarriesItsDigest(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, verdict(schema.GapNone))
		id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
		m := s.input(t, id, bodyOf(t, id))
		m.Header.Set(schema.HeaderSchema, "9")
		w.publish(m)
		l := w.label(id)
		require.Equal(t, schema.ReasonUnsupportedWire, l.Reason)
		require.Equal(t, schema.Digest(bodyOf(t, id)), l.Digest)
	})
}
