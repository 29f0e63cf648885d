package stage

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/pkg/schema"
)

func (w *Waker) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, of := range w.waits {
		n += len(of)
	}
	if n != w.count {
		panic("the waker lost count")
	}
	return n
}

// wakerOf starts a waker, and returns what it says to the server.
func wakerOf(t *testing.T) (w *Waker, woken chan *nats.Msg, label func(rollout string, index int)) {
	t.Helper()
	conn, server := bustest.Start(t, bus.Options{Memory: true})
	w, err := NewWaker(conn.NC)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	require.NoError(t, conn.NC.Flush())
	other := bustest.Connect(t, server)
	woken = make(chan *nats.Msg, 100)
	_, err = other.NC.ChanSubscribe("reply.>", woken)
	require.NoError(t, err)
	require.NoError(t, other.NC.Flush())
	label = func(rollout string, index int) {
		subject := schema.StepID{Run: "r", Rollout: rollout, Index: index}.Subject(schema.PrefixLabels)
		require.NoError(t, other.NC.Publish(subject, []byte("label")))
	}
	return w, woken, label
}

func rollout(name string) schema.RolloutID { return schema.RolloutID{Run: "r", Rollout: name} }

func next(t *testing.T, woken chan *nats.Msg) string {
	t.Helper()
	select {
	case m := <-woken:
		require.Contains(t, string(m.Data), "-NAK")
		return m.Subject
	case <-time.After(time.Minute):
		require.FailNow(t, "nobody was woken")
		return ""
	}
}

func TestWakerWakesWithTheLastLabelAndNotBefore(t *testing.T) {
	t.Parallel()
	w, woken, label := wakerOf(t)
	arm, got, _ := w.Expect(rollout("a"), []int{1, 2, 3})
	got(1)
	arm("reply.a", time.Hour)
	label("a", 2)
	label("b", 3) // of another rollout
	// A second wait of the same kind shows that the first was not woken yet.
	armB, _, _ := w.Expect(rollout("b"), []int{4})
	armB("reply.b", time.Hour)
	label("b", 4)
	require.Equal(t, "reply.b", next(t, woken))
	label("a", 3)
	require.Equal(t, "reply.a", next(t, woken))
	require.Zero(t, w.size())
}

func TestWakerWakesAtOnceWhenTheLabelsCameBeforeTheServerHadTheMessage(t *testing.T) {
	t.Parallel()
	w, woken, label := wakerOf(t)
	arm, _, _ := w.Expect(rollout("a"), []int{1})
	label("a", 1)
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for e := range w.waits[rollout("a")] {
			return e.ready
		}
		return false
	}, time.Minute, time.Millisecond)
	arm("reply.a", time.Hour)
	require.Equal(t, "reply.a", next(t, woken))
	require.Zero(t, w.size())
}

// A message that waits for long is handled again and again: its earlier waits
// must neither pile up nor wake it while it is being handled.
func TestWakerForgetsAWaitWhoseDelayIsOver(t *testing.T) {
	t.Parallel()
	w, woken, label := wakerOf(t)
	for range 1000 {
		arm, _, _ := w.Expect(rollout("a"), []int{1, 2})
		arm("reply.stale", time.Millisecond)
	}
	_, _, drop := w.Expect(rollout("a"), []int{1, 2})
	drop()
	drop() // twice is once
	require.Eventually(t, func() bool { return w.size() == 0 }, time.Minute, time.Millisecond)
	arm, _, _ := w.Expect(rollout("a"), []int{2})
	arm("reply.live", time.Hour)
	label("a", 1)
	label("a", 2)
	require.Equal(t, "reply.live", next(t, woken))
	require.Zero(t, w.size())
	require.Empty(t, w.waits)
}
