package stage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// dying is a JetStream context whose process dies at its nth publish: before
// the server has it, or after, so that the answer is lost.
type dying struct {
	jetstream.JetStream
	nc       *nats.Conn
	at       int
	accepted bool
	n        int
	died     bool
}

var errDied = errors.New("the process is dead")

func (d *dying) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if d.died {
		return nil, errDied
	}
	d.n++
	if d.n != d.at {
		return d.JetStream.PublishMsg(ctx, m, opts...)
	}
	if d.accepted {
		if _, err := d.JetStream.PublishMsg(ctx, m, opts...); err != nil {
			return nil, err
		}
	}
	d.died = true
	d.nc.Close()
	return nil, errDied
}

// crash takes one message of s and dies while handling it, at its nth publish
// or, beyond the last, just before it would acknowledge. It reports whether
// there was an nth publish.
func (w *world) crash(s schema.Stage, build func(*bus.Conn) stage.Handler, n int, accepted bool) bool {
	w.t.Helper()
	conn := w.dial()
	d := &dying{JetStream: conn.JS, nc: conn.NC, at: n, accepted: accepted}
	handler := build(&bus.Conn{NC: conn.NC, JS: d})
	handler.Handle(context.Background(), w.take(conn, s))
	conn.Close()
	return d.died
}

// crashEverywhere publishes a message and kills its worker at one point of the
// hop, for every point that there is, and returns how many rollouts it made.
func (w *world) crashEverywhere(s schema.Stage, build func(*bus.Conn) stage.Handler, publish func(rollout string)) (rollouts []string) {
	w.t.Helper()
	w.setAckWait(s, longAckWait) // or a message that was crashed on would come again too early
	defer w.setAckWait(s, ackWait)
	for _, accepted := range []bool{false, true} {
		for n, died := 1, true; died; n++ {
			require.Less(w.t, n, 20)
			rollout := fmt.Sprintf("accepted-%t-publish-%d", accepted, n)
			publish(rollout)
			died = w.crash(s, build, n, accepted)
			rollouts = append(rollouts, rollout)
		}
	}
	return rollouts
}

func (w *world) setAckWait(s schema.Stage, wait time.Duration) {
	w.t.Helper()
	ctx := context.Background()
	consumer, err := w.conn.JS.Consumer(ctx, stage.StreamOf(s), string(s))
	require.NoError(w.t, err)
	config := consumer.CachedInfo().Config
	config.AckWait = wait
	_, err = w.conn.JS.UpdateConsumer(ctx, stage.StreamOf(s), config)
	require.NoError(w.t, err)
}

// exactly checks that a stream holds want messages and one under each subject.
func (w *world) exactly(stream string, want int) {
	w.t.Helper()
	s, err := w.conn.JS.Stream(context.Background(), stream)
	require.NoError(w.t, err)
	info, err := s.Info(context.Background(), jetstream.WithSubjectFilter(">"))
	require.NoError(w.t, err)
	require.Len(w.t, info.State.Subjects, want, stream)
	for subject, n := range info.State.Subjects {
		require.EqualValues(w.t, 1, n, subject)
	}
}

func TestPromise_P1_ACrashAtAnyPointOfALabelCostsNoTruth(t *testing.T) {
	t.Parallel()
	deciders := map[string]tree.Decider{
		"graded": verdict(schema.GapContradicted),
		"ungraded": tree.DeciderFunc(func(context.Context, *tree.Item) (tree.Decision, error) {
			return tree.Decision{}, &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("refused")}
		}),
	}
	for name, decider := range deciders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
				id := func(rollout string) schema.StepID { return schema.StepID{Run: "r", Rollout: rollout, Index: 1} }
				build := func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, decider) }
				rollouts := w.crashEverywhere(s.stage, build, func(rollout string) {
					w.publish(s.input(t, id(rollout), bodyOf(t, id(rollout))))
				})
				require.GreaterOrEqual(t, len(rollouts), 4)
				w.runStage(s, decider)
				for _, rollout := range rollouts {
					l := w.label(id(rollout))
					require.Equal(t, name == "graded", l.Label.Graded(), rollout)
				}
				w.empty(s.stream)
				w.exactly(bus.StreamLabels, len(rollouts))
				if name == "graded" {
					require.Zero(t, w.count(bus.StreamDead))
				} else {
					w.exactly(bus.StreamDead, len(rollouts))
				}
			})
		})
	}
}

func TestPromise_P1_ACrashAtAnyPointOfAHopLosesNoStep(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		id := func(rollout string) schema.StepID { return schema.StepID{Run: "r", Rollout: rollout, Index: 1} }
		build := func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, forward(s.next)) }
		rollouts := w.crashEverywhere(s.stage, build, func(rollout string) {
			w.publish(s.input(t, id(rollout), bodyOf(t, id(rollout))))
		})
		require.Len(t, rollouts, 4, "before and after the one publish, and before the ack, twice")
		w.runStage(s, forward(s.next))
		for _, next := range treeStages() {
			if next.prefix == s.nextPrefix {
				w.runStage(next, verdict(schema.GapNone))
			}
		}
		for _, rollout := range rollouts {
			require.Equal(t, schema.GapNone, w.label(id(rollout)).Label)
		}
		w.empty(s.stream, s.nextStream)
		w.exactly(bus.StreamLabels, len(rollouts))
		require.Zero(t, w.count(bus.StreamDead))
	})
}

func TestPromise_P1_ACrashAtAnyPointOfGivingUpOnABadStep(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		id := func(rollout string) schema.StepID { return schema.StepID{Run: "r", Rollout: rollout, Index: 1} }
		build := func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, verdict(schema.GapNone)) }
		rollouts := w.crashEverywhere(s.stage, build, func(rollout string) {
			w.publish(bus.Message(id(rollout).Subject(s.prefix), []byte("no MessagePack")))
		})
		require.Len(t, rollouts, 6)
		w.runStage(s, verdict(schema.GapNone))
		for _, rollout := range rollouts {
			require.Equal(t, schema.ReasonMalformed, w.label(id(rollout)).Reason)
			require.Equal(t, schema.ReasonMalformed, w.dead(s.stage, id(rollout)).Reason)
		}
		w.empty(s.stream)
		w.exactly(bus.StreamLabels, len(rollouts))
		w.exactly(bus.StreamDead, len(rollouts))
	})
}

// The connection drops while the judge is at work: the process goes on, its
// message is handled a second time elsewhere.
func TestPromise_P1_AKilledLoopsStepsAreHandledByTheNext(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		const n = 8
		all := ids("o", n)
		began, hang := make(chan struct{}, n), make(chan struct{})
		t.Cleanup(func() { close(hang) })
		doomed := w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			began <- struct{}{}
			<-hang
			return tree.Verdict(item, schema.GapMissingBridge, "", "", schema.TrailEntry{Outcome: "neutral"}), nil
		}))
		for _, id := range all {
			w.publish(s.input(t, id, bodyOf(t, id)))
		}
		for range n {
			within(t, began, "the doomed loop's handlers")
		}
		doomed.kill()
		w.runStage(s, verdict(schema.GapNone))
		for _, id := range all {
			require.Equal(t, schema.GapNone, w.label(id).Label)
		}
		w.empty(s.stream)
		w.exactly(bus.StreamLabels, n)
	})
}
