package stage_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

const (
	// patience bounds every wait on the server's state.
	patience = time.Minute
	tick     = 10 * time.Millisecond
	ackWait  = 400 * time.Millisecond
)

// treeStage is one stage of the tree, as the suite drives it.
type treeStage struct {
	stage  schema.Stage
	stream string
	prefix string
	first  bool
	// next is a hop that the suite lets it take.
	next       tree.Hop
	nextStream string
	nextPrefix string
}

func treeStages() []treeStage {
	return []treeStage{
		{schema.StageEntity, bus.StreamSteps, schema.PrefixSteps, true, tree.HopAbstain, bus.StreamAbstain, schema.PrefixAbstain},
		{schema.StageAbstain, bus.StreamAbstain, schema.PrefixAbstain, false, tree.HopQuote, bus.StreamQuote, schema.PrefixQuote},
		{schema.StageQuote, bus.StreamQuote, schema.PrefixQuote, false, tree.HopLocal, bus.StreamLocal, schema.PrefixLocal},
		{schema.StageLocal, bus.StreamLocal, schema.PrefixLocal, false, tree.HopCross, bus.StreamCross, schema.PrefixCross},
		{schema.StageCross, bus.StreamCross, schema.PrefixCross, false, tree.HopLocal, bus.StreamLocal, schema.PrefixLocal},
	}
}

// eachStage runs f for every stage of the tree, each in parallel with a server
// of its own.
func eachStage(t *testing.T, o bus.Options, f func(t *testing.T, w *world, s treeStage)) {
	t.Helper()
	for _, s := range treeStages() {
		t.Run(s.stage.Letter(), func(t *testing.T) {
			t.Parallel()
			f(t, newWorld(t, o), s)
		})
	}
}

// world is one test's server and a connection for looking at it.
type world struct {
	t      testing.TB
	conn   *bus.Conn
	server *embedded.Server
}

func newWorld(t testing.TB, o bus.Options) *world {
	t.Helper()
	o.Memory = true
	if o.AckWait == 0 {
		o.AckWait = ackWait
	}
	conn, server := bustest.Start(t, o)
	return &world{t: t, conn: conn, server: server}
}

func (w *world) dial() *bus.Conn { return bustest.Connect(w.t, w.server) }

func (w *world) waker(conn *bus.Conn) *stage.Waker {
	w.t.Helper()
	waker, err := stage.NewWaker(conn.NC)
	require.NoError(w.t, err)
	w.t.Cleanup(waker.Close)
	require.NoError(w.t, conn.NC.Flush())
	return waker
}

func step(id schema.StepID) *schema.Step {
	s := &schema.Step{
		Kind: schema.KindSearch, Question: "When did the father of Clara Ames die?",
		Query: "Clara Ames father", Text: "Her father was John Ames.", Claim: "The father of Clara Ames was John Ames.",
	}
	for i := 1; i < id.Index; i++ {
		s.History = append(s.History, schema.Prior{Index: i, Query: "query " + strconv.Itoa(i)})
	}
	return s
}

func bodyOf(t testing.TB, id schema.StepID) []byte {
	t.Helper()
	b, err := schema.Encode(step(id))
	require.NoError(t, err)
	return b
}

// input is a message as it reaches stage s with the step's body.
func (s treeStage) input(t testing.TB, id schema.StepID, body []byte) *nats.Msg {
	t.Helper()
	if s.first {
		return bus.Message(id.Subject(s.prefix), body)
	}
	work, err := schema.Encode(&schema.Work{Step: body, Trail: []schema.TrailEntry{{Stage: schema.StageEntity, Outcome: "aligned"}}})
	require.NoError(t, err)
	m := bus.Message(id.Subject(s.prefix), work)
	m.Header.Set(schema.HeaderDigest, schema.Digest(body))
	m.Header.Set(schema.HeaderAccepted, strconv.FormatInt(time.Now().UnixNano(), 10))
	m.Header.Set(schema.HeaderDeadline, "30m0s")
	return m
}

func (w *world) publish(m *nats.Msg) {
	w.t.Helper()
	_, err := bus.Publish(context.Background(), w.conn.JS, m)
	require.NoError(w.t, err)
}

// handler builds the handler of s over conn.
func (w *world) handler(conn *bus.Conn, s treeStage, decider tree.Decider, change ...func(*stage.StepOptions)) stage.Handler {
	w.t.Helper()
	o := stage.StepOptions{Conn: conn, Stage: s.stage, Decider: decider}
	for _, c := range change {
		c(&o)
	}
	if s.stage == schema.StageCross && o.Waker == nil {
		o.Waker = w.waker(conn)
	}
	h, err := stage.NewStepHandler(o)
	require.NoError(w.t, err)
	return h
}

// loop is a runner at work.
type loop struct {
	conn *bus.Conn
	stop func() // as SIGTERM does: returns when Run has
	kill func() // as SIGKILL does, for the server: the connection drops
}

// run starts a loop with a connection of its own, as a process would.
func (w *world) run(s schema.Stage, build func(*bus.Conn) stage.Handler, change ...func(*stage.Runner)) *loop {
	w.t.Helper()
	conn := w.dial()
	r := &stage.Runner{Conn: conn, Stream: stage.StreamOf(s), Stage: s, Handler: build(conn), Workers: 8, AckWait: ackWait, DrainTimeout: 5 * time.Second}
	for _, c := range change {
		c(r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	l := &loop{conn: conn}
	stopped := false
	l.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			require.NoError(w.t, err)
		case <-time.After(patience):
			w.t.Errorf("the loop of %s did not end", s)
		}
	}
	l.kill = func() {
		stopped = true // nobody waits for the dead
		conn.Close()
		cancel()
	}
	w.t.Cleanup(l.stop)
	return l
}

func (w *world) runStage(s treeStage, decider tree.Decider, change ...func(*stage.StepOptions)) *loop {
	w.t.Helper()
	return w.run(s.stage, func(conn *bus.Conn) stage.Handler { return w.handler(conn, s, decider, change...) })
}

// take fetches one message of s without handling it, as a worker that is about
// to die does.
func (w *world) take(conn *bus.Conn, s schema.Stage) *stage.Message {
	w.t.Helper()
	consumer, err := conn.JS.Consumer(context.Background(), stage.StreamOf(s), string(s))
	require.NoError(w.t, err)
	batch, err := consumer.Fetch(1, fetchOptions(consumer, patience)...)
	require.NoError(w.t, err)
	msg, ok := <-batch.Messages()
	require.True(w.t, ok, "no message came for %s: %v", s, batch.Error())
	meta, err := msg.Metadata()
	require.NoError(w.t, err)
	return &stage.Message{Msg: msg, Delivered: int(meta.NumDelivered), Seq: meta.Sequence.Stream, Time: meta.Timestamp}
}

// fetchOptions are those of a pull beside the loop, which names the consumer's
// priority group as the loop does.
func fetchOptions(c jetstream.Consumer, wait time.Duration) []jetstream.FetchOpt {
	o := []jetstream.FetchOpt{jetstream.FetchMaxWait(wait)}
	for _, g := range c.CachedInfo().Config.PriorityGroups {
		o = append(o, jetstream.FetchPriorityGroup(g))
	}
	return o
}

// verdict is a decider that gives gap.
func verdict(gap schema.Gap) tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		return tree.Verdict(item, gap, "", "", schema.TrailEntry{Outcome: string(gap)}), nil
	})
}

// forward is a decider that passes on to hop.
func forward(hop tree.Hop) tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		return tree.Forward(item, hop, schema.TrailEntry{Outcome: "passed"}), nil
	})
}

func ids(rollout string, n int) []schema.StepID {
	var all []schema.StepID
	for i := range n {
		all = append(all, schema.StepID{Run: "r", Rollout: rollout, Index: i + 1})
	}
	return all
}

// label waits for the label of id.
func (w *world) label(id schema.StepID) *schema.Label {
	w.t.Helper()
	var found *schema.Label
	w.eventually(func() bool {
		l, err := bus.LabelOf(context.Background(), w.conn.JS, id)
		found = l
		return err == nil && l != nil
	}, "no label of %s", id)
	require.NoError(w.t, found.Validate())
	return found
}

// dead waits for the dead letter of id.
func (w *world) dead(s schema.Stage, id schema.StepID) *schema.Dead {
	w.t.Helper()
	d := &schema.Dead{}
	w.eventually(func() bool {
		m := w.last(bus.StreamDead, schema.DeadSubject(s, id))
		return m != nil && schema.Decode(m.Data, d) == nil
	}, "no dead letter of %s at %s", id, s)
	return d
}

func (w *world) reward(id schema.RolloutID) *schema.Reward {
	w.t.Helper()
	var found *schema.Reward
	w.eventually(func() bool {
		r, err := bus.RewardOf(context.Background(), w.conn.JS, id)
		found = r
		return err == nil && r != nil
	}, "no reward of %s", id)
	require.NoError(w.t, found.Validate())
	return found
}

func (w *world) last(stream, subject string) *jetstream.RawStreamMsg {
	s, err := w.conn.JS.Stream(context.Background(), stream)
	require.NoError(w.t, err)
	m, err := s.GetLastMsgForSubject(context.Background(), subject)
	if err != nil {
		return nil
	}
	return m
}

func (w *world) count(stream string) int {
	s, err := w.conn.JS.Stream(context.Background(), stream)
	require.NoError(w.t, err)
	return int(s.CachedInfo().State.Msgs)
}

// empty waits until nothing is left in streams.
func (w *world) empty(streams ...string) {
	w.t.Helper()
	for _, s := range streams {
		w.eventually(func() bool { return w.count(s) == 0 }, "messages are left in %s", s)
	}
}

func (w *world) eventually(f func() bool, format string, args ...any) {
	w.t.Helper()
	require.Eventually(w.t, f, patience, tick, fmt.Sprintf(format, args...))
}

// within waits for ch.
func within[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "waited too long for "+what)
		panic("unreachable")
	}
}

// tap lets a test see what a handler is given and what it makes of it.
type tap struct {
	stage.Handler
	before func(*stage.Message)
	after  func(*stage.Message, stage.Result)
}

func (h tap) Handle(ctx context.Context, m *stage.Message) stage.Result {
	if h.before != nil {
		h.before(m)
	}
	result := h.Handler.Handle(ctx, m)
	if h.after != nil {
		h.after(m, result)
	}
	return result
}

// hurry ends the delay that a message is waiting out.
func (w *world) hurry(m *stage.Message) {
	w.t.Helper()
	require.NoError(w.t, w.conn.NC.Publish(m.Reply(), []byte("-NAK")))
	require.NoError(w.t, w.conn.NC.Flush())
}
