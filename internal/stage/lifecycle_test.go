package stage_test

import (
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// longAckWait is far beyond a test's patience: what is not given back is lost
// to it.
const longAckWait = 5 * time.Minute

func TestStoppingWaitsForTheHandlersAtWork(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{AckWait: longAckWait}, func(t *testing.T, w *world, s treeStage) {
		const n = 4
		began, release := make(chan struct{}, n), make(chan struct{})
		var handled atomic.Int32
		l := w.runStage(s, tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
			began <- struct{}{}
			<-release
			handled.Add(1)
			return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "x"}), ctx.Err()
		}))
		all := ids("o", n)
		for _, id := range all {
			w.publish(s.input(t, id, bodyOf(t, id)))
		}
		for range n {
			within(t, began, "the handlers")
		}
		stopped := make(chan struct{})
		go func() { l.stop(); close(stopped) }()
		select {
		case <-stopped:
			require.FailNow(t, "Run returned while handlers were at work")
		case <-time.After(200 * time.Millisecond):
		}
		close(release)
		within(t, stopped, "the loop to end")
		require.EqualValues(t, n, handled.Load(), "each once")
		for _, id := range all {
			l, err := bus.LabelOf(context.Background(), w.conn.JS, id)
			require.NoError(t, err)
			require.NotNil(t, l, "its label stood before Run returned")
		}
		require.Zero(t, w.count(s.stream), "and it was acknowledged")
	})
}

func TestWhatOutlastsTheDrainIsGivenBack(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{AckWait: longAckWait}, func(t *testing.T, w *world, s treeStage) {
		began := make(chan struct{}, 1)
		forever := make(chan struct{})
		t.Cleanup(func() { close(forever) })
		l := w.run(s.stage, func(conn *bus.Conn) stage.Handler {
			return w.handler(conn, s, tree.DeciderFunc(func(ctx context.Context, _ *tree.Item) (tree.Decision, error) {
				began <- struct{}{}
				<-forever // heeds nothing
				return tree.Decision{}, ctx.Err()
			}))
		}, func(r *stage.Runner) { r.DrainTimeout = 100 * time.Millisecond })
		id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
		w.publish(s.input(t, id, bodyOf(t, id)))
		within(t, began, "the handler")
		l.stop()
		require.NoError(t, l.conn.NC.Flush())
		w.runStage(s, verdict(schema.GapNone))
		require.Equal(t, schema.GapNone, w.label(id).Label, "stopping is no verdict")
		w.empty(s.stream)
	})
}

// Loops come and go while messages flow: what reaches one that is being stopped
// goes to the next at once.
func TestAMessageThatMeetsAStoppingLoopIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{AckWait: longAckWait}, func(t *testing.T, w *world, s treeStage) {
		const rounds, each = 8, 15
		all := ids("o", rounds*each)
		for round := range rounds {
			got := make(chan struct{}, len(all))
			l := w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
				got <- struct{}{}
				return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "x"}), nil
			}))
			for _, id := range all[round*each : (round+1)*each] {
				w.publish(s.input(t, id, bodyOf(t, id)))
			}
			within(t, got, "a message")
			l.stop() // with the others still on their way
		}
		w.runStage(s, verdict(schema.GapNone))
		for _, id := range all {
			w.label(id)
		}
		w.empty(s.stream)
		w.exactly(bus.StreamLabels, len(all))
	})
}

func TestALoopRecoversFromALostConsumerAndALostStream(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		ctx := context.Background()
		w.runStage(s, verdict(schema.GapNone))
		work := func(rollout string) {
			id := schema.StepID{Run: "r", Rollout: rollout, Index: 1}
			w.publish(s.input(t, id, bodyOf(t, id)))
			require.Equal(t, schema.GapNone, w.label(id).Label, rollout)
			w.empty(s.stream)
		}
		ensure := func() {
			_, err := bus.Ensure(ctx, w.conn.JS, bus.NewTopology(bus.Options{Memory: true, AckWait: ackWait}))
			require.NoError(t, err)
		}
		work("before")
		require.NoError(t, w.conn.JS.DeleteConsumer(ctx, s.stream, string(s.stage)))
		ensure()
		work("consumer-came-back")
		require.NoError(t, w.conn.JS.DeleteStream(ctx, s.stream))
		ensure()
		work("stream-came-back")
	})
}

// The server goes away and comes back with what it had.
func TestALoopRecoversFromARestartedServer(t *testing.T) {
	t.Parallel()
	dir, port := t.TempDir(), freePort(t)
	start := func() *embedded.Server {
		server, err := embedded.Start(embedded.Options{Dir: dir, Port: port})
		require.NoError(t, err)
		return server
	}
	server := start()
	dial := func() *bus.Conn {
		conn, err := bus.Connect(context.Background(), bus.Config{URL: server.URL()})
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		return conn
	}
	w := &world{t: t, conn: dial(), server: server}
	_, err := bus.Ensure(t.Context(), w.conn.JS, bus.NewTopology(bus.Options{AckWait: ackWait}))
	require.NoError(t, err)
	s := treeStages()[0]
	conn := dial()
	began, release := make(chan struct{}, 10), make(chan struct{})
	r := &stage.Runner{Conn: conn, Stream: s.stream, Stage: s.stage, Workers: 4, AckWait: ackWait,
		Handler: w.handler(conn, s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			began <- struct{}{}
			<-release
			return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "x"}), nil
		}))}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	all := ids("o", 6)
	for _, id := range all[:2] {
		w.publish(s.input(t, id, bodyOf(t, id)))
	}
	within(t, began, "a handler at work")
	server.Close()
	close(release) // its label meets no server
	server = start()
	t.Cleanup(func() { server.Close() })
	w.eventually(func() bool { _, err := w.conn.JS.AccountInfo(context.Background()); return err == nil }, "not connected again")
	for _, id := range all[2:] {
		w.publish(s.input(t, id, bodyOf(t, id)))
	}
	for _, id := range all {
		require.Equal(t, schema.GapNone, w.label(id).Label)
	}
	w.empty(s.stream)
	w.exactly(bus.StreamLabels, len(all))

	// Stopping doesn't hang on a server that is gone.
	server.Close()
	cancel()
	require.NoError(t, within(t, ended, "the loop to end without a server"))
	server = start()
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	return n
}

func TestALoopWithoutItsBucketSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	require.NoError(t, w.conn.JS.DeleteKeyValue(t.Context(), bus.BucketAttempts))
	r := &stage.Runner{Conn: w.conn, Stream: bus.StreamSteps, Stage: schema.StageEntity}
	require.ErrorIs(t, r.Run(t.Context()), jetstream.ErrBucketNotFound)
}
