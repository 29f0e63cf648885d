package stage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

func (w *world) runLive(s schema.Stage, check stage.LiveFunc, change ...func(*stage.LiveOptions)) {
	w.t.Helper()
	w.run(s, func(conn *bus.Conn) stage.Handler {
		o := stage.LiveOptions{Conn: conn, Stage: s, Check: check}
		for _, c := range change {
			c(&o)
		}
		return stage.NewLiveHandler(o)
	})
}

func says(gap schema.Gap, detail string) stage.LiveFunc {
	return func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		return gap, detail, schema.TrailEntry{Outcome: detail}, nil
	}
}

func liveStep(passages bool) *schema.Step {
	s := step(schema.StepID{Index: 1})
	s.Run, s.Rollout, s.Index, s.Text, s.Claim = "r", "o", 1, "", ""
	if passages {
		s.Passages = []schema.Passage{{Title: "Clara Ames", Text: "Clara Ames was a daughter of John Ames.", ByStep: 1}}
	}
	return s
}

func TestLiveChecksAreAnsweredToTheirAsker(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		probe            bool
		passages         bool
		aim, text        stage.LiveFunc
		label            schema.Gap
		detail           string
		reason           schema.Reason
		answeredByStages []string
	}{
		"plan well aimed":    {aim: says(schema.GapNone, "aligned"), text: says(schema.GapIrrelevant, "never asked"), label: schema.GapNone, detail: "aligned"},
		"plan misaimed":      {aim: says(schema.GapContradicted, "misaligned"), text: says(schema.GapNone, "never asked"), label: schema.GapContradicted, detail: "misaligned"},
		"probe goes on to C": {probe: true, passages: true, aim: says(schema.GapNone, "aligned"), text: says(schema.GapIrrelevant, "about another"), label: schema.GapIrrelevant, detail: "about another"},
		"probe ends at A":    {probe: true, passages: true, aim: says(schema.GapContradicted, "misaligned"), text: says(schema.GapNone, "never asked"), label: schema.GapContradicted, detail: "misaligned"},
		"probe of nothing":   {probe: true, aim: says(schema.GapNone, "aligned"), text: says(schema.GapIrrelevant, "never asked"), label: schema.GapNone, detail: "aligned"},
		"the judge is down": {aim: func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
			return "", "", schema.TrailEntry{}, &judge.Error{Reason: schema.ReasonJudgeError, Temporary: true, Err: errors.New("503")}
		}, label: schema.GapUngraded, reason: schema.ReasonJudgeError},
		"C's judge is confused": {probe: true, passages: true, aim: says(schema.GapNone, "aligned"), text: func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
			return "", "", schema.TrailEntry{}, &judge.Error{Reason: schema.ReasonJudgeMalformed, Err: errors.New("no JSON")}
		}, label: schema.GapUngraded, reason: schema.ReasonJudgeMalformed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bus.Options{})
			w.runLive(schema.StageLiveAim, c.aim)
			w.runLive(schema.StageLiveText, c.text)
			asker, err := client.New(w.dial().NC)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			ask, kind := asker.Plan, schema.LivePlan
			if c.probe {
				ask, kind = asker.Probe, schema.LiveProbe
			}
			answer, err := ask(ctx, liveStep(c.passages))
			require.NoError(t, err)
			require.Equal(t, c.label, answer.Label)
			require.Equal(t, c.label.Repair(), answer.Repair)
			require.Equal(t, c.reason, answer.Reason)
			require.Equal(t, kind, answer.Kind)
			require.Equal(t, "r", answer.Run)
			if c.reason == "" {
				require.Equal(t, c.detail, answer.Detail)
				require.Equal(t, c.detail, answer.Trail[0].Outcome)
			}
			w.empty(bus.StreamLive)
			require.Zero(t, w.count(bus.StreamLabels), "a live check is never a label")
			require.Zero(t, w.count(bus.StreamDead))
		})
	}
}

// raw asks with a message of the test's own making.
func (w *world) raw(change func(*nats.Msg)) *schema.LiveAnswer {
	w.t.Helper()
	inbox := w.conn.NC.NewInbox()
	sub, err := w.conn.NC.SubscribeSync(inbox)
	require.NoError(w.t, err)
	s := liveStep(false)
	body, err := client.EncodeStep(s)
	require.NoError(w.t, err)
	m := bus.Message(schema.LiveSubject(schema.LivePlan, schema.StepID{Run: "r", Rollout: "o", Index: 1}), body)
	m.Header.Set(schema.HeaderReply, inbox)
	change(m)
	w.publish(m)
	reply, err := sub.NextMsg(patience)
	require.NoError(w.t, err)
	answer := &schema.LiveAnswer{}
	require.NoError(w.t, schema.Decode(reply.Data, answer))
	return answer
}

func TestBadLiveChecksAreAnsweredWithTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runLive(schema.StageLiveAim, says(schema.GapNone, "aligned"))
	cases := map[string]struct {
		change func(*nats.Msg)
		reason schema.Reason
	}{
		"garbage":      {func(m *nats.Msg) { m.Data = []byte("garbage") }, schema.ReasonMalformed},
		"bomb":         {func(m *nats.Msg) { m.Data = []byte{0xdd, 0xff, 0xff, 0xff, 0xff} }, schema.ReasonMalformed},
		"other wire":   {func(m *nats.Msg) { m.Header.Set(schema.HeaderSchema, "2") }, schema.ReasonUnsupportedWire},
		"bad deadline": {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "soon") }, schema.ReasonMalformed},
		"too late":     {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "1ns") }, schema.ReasonNotLive},
	}
	for name, c := range cases {
		answer := w.raw(c.change)
		require.Equal(t, schema.GapUngraded, answer.Label, name)
		require.Equal(t, c.reason, answer.Reason, name)
		require.Equal(t, 1, answer.Index, name)
	}
	w.empty(bus.StreamLive)
}

func TestALiveCheckNobodyWaitsForIsNotJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	asked := make(chan struct{}, 1)
	w.runLive(schema.StageLiveAim, func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		asked <- struct{}{}
		return schema.GapNone, "", schema.TrailEntry{}, nil
	}, func(o *stage.LiveOptions) { o.Now = func() time.Time { return time.Now().Add(time.Minute) } })
	require.Equal(t, schema.ReasonNotLive, w.raw(func(*nats.Msg) {}).Reason)
	w.empty(bus.StreamLive)
	require.Empty(t, asked)
}

func TestPromise_P3_AHungLiveCheckEndsWithItsDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	w.runLive(schema.StageLiveAim, func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		<-forever
		return schema.GapNone, "", schema.TrailEntry{}, nil
	}, func(o *stage.LiveOptions) { o.Deadline = 3 * time.Second })
	for _, deadline := range []string{"", "0"} {
		answer := w.raw(func(m *nats.Msg) {
			if deadline != "" {
				m.Header.Set(schema.HeaderDeadline, deadline)
			}
		})
		require.Equal(t, schema.ReasonJudgeTimeout, answer.Reason, "deadline %q", deadline)
	}
	w.empty(bus.StreamLive)
}

// A stage may publish labels; whoever asks it something may not make it do so.
func TestPromise_P7_ALiveAnswerGoesToAnInboxAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runLive(schema.StageLiveAim, says(schema.GapNone, "aligned"))
	id := schema.StepID{Run: "r", Rollout: "victim", Index: 1}
	body, err := client.EncodeStep(liveStep(false))
	require.NoError(t, err)
	for _, reply := range []string{
		id.Subject(schema.PrefixLabels), id.RolloutID().Subject(schema.PrefixRewards), "$JS.API.STREAM.DELETE." + bus.StreamLabels,
		id.Subject(schema.PrefixSteps), "_INBOX.*", "_INBOX.>", "inbox", "",
	} {
		m := bus.Message(schema.LiveSubject(schema.LivePlan, id), body)
		m.Header.Set(schema.HeaderReply, reply)
		w.publish(m)
	}
	w.empty(bus.StreamLive)
	for _, stream := range []string{bus.StreamLabels, bus.StreamRewards, bus.StreamSteps} {
		require.Zero(t, w.count(stream), stream)
	}
}

func TestALiveCheckThatPanicsIsAnsweredInTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runLive(schema.StageLiveAim, func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) { panic("poison") })
	require.Contains(t, []schema.Reason{schema.ReasonCrash, schema.ReasonNotLive}, w.raw(func(*nats.Msg) {}).Reason)
	w.empty(bus.StreamLive)
}
