package stage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

const splitText = `<think>I need the author of The Glass Orchard.</think>
<search>author of The Glass Orchard</search>
<information>Doc 1(Title: "The Glass Orchard") The Glass Orchard is a novel by Mara Quill.</information>
<think>The Glass Orchard was written by Mara Quill. Now I need her birthplace.</think>
<search>Mara Quill birthplace</search>
<information>Doc 1(Title: "Mara Quill") Mara Quill was born in Harrowdale.</information>
<think>Mara Quill was born in Harrowdale.</think>
<answer>Harrowdale</answer>`

func glassOrchard(run, rollout string) *schema.Transcript {
	return &schema.Transcript{
		Run: run, Rollout: rollout, Text: splitText, Question: "Where was the author of The Glass Orchard born?",
		Gold: []string{"Harrowdale"}, Group: "q12", GroupSize: 4,
	}
}

func (w *world) client() *client.Client {
	w.t.Helper()
	c, err := client.New(w.conn.NC)
	require.NoError(w.t, err)
	return c
}

func splitter(conn *bus.Conn) stage.Handler {
	return stage.NewSplitHandler(stage.SplitOptions{Conn: conn})
}

// bodies reads every message of a stream by subject, the last of each.
func (w *world) bodies(stream string) map[string]*jetstream.RawStreamMsg {
	w.t.Helper()
	ctx := context.Background()
	s, err := w.conn.JS.Stream(ctx, stream)
	require.NoError(w.t, err)
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	require.NoError(w.t, err)
	all := map[string]*jetstream.RawStreamMsg{}
	for subject := range info.State.Subjects {
		m, err := s.GetLastMsgForSubject(ctx, subject)
		require.NoError(w.t, err)
		all[subject] = m
	}
	return all
}

func TestATranscriptBecomesWhatAClientWouldPublish(t *testing.T) {
	t.Parallel()
	w, direct := newWorld(t, bus.Options{}), newWorld(t, bus.Options{})
	source := glassOrchard("r", "o")
	require.NoError(t, w.client().PublishTranscript(t.Context(), source))
	w.run(schema.StageSplit, splitter)
	w.empty(bus.StreamTranscripts)

	rollout, err := transcript.FromMessage(source)
	require.NoError(t, err)
	require.Len(t, rollout.Steps, 3)
	end := &schema.RolloutEnd{Run: "r", Rollout: "o", Question: rollout.Question, Answer: "Harrowdale", Gold: source.Gold, Group: "q12", GroupSize: 4}
	c := direct.client()
	for i := range rollout.Steps {
		s := rollout.Steps[i]
		s.Run, s.Rollout = "r", "o"
		require.NotEmpty(t, s.Spans)
		ref, err := c.PublishStep(t.Context(), &s)
		require.NoError(t, err)
		end.Steps = append(end.Steps, ref)
	}
	require.NoError(t, c.PublishEnd(t.Context(), end))
	for _, stream := range []string{bus.StreamSteps, bus.StreamEnds} {
		want, got := direct.bodies(stream), w.bodies(stream)
		require.Len(t, got, len(want))
		for subject, m := range want {
			require.Equal(t, m.Data, got[subject].Data, subject)
			require.Equal(t, m.Header.Get("Nats-Msg-Id"), got[subject].Header.Get("Nats-Msg-Id"), subject)
		}
	}
}

func TestPromise_P1_ACrashAtAnyPointOfASplitCostsNothing(t *testing.T) {
	t.Parallel()
	for name, malformed := range map[string]bool{"read": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bus.Options{})
			c := w.client()
			rollouts := w.crashEverywhere(schema.StageSplit, splitter, func(rollout string) {
				if malformed {
					w.publish(bus.Message(schema.RolloutID{Run: "r", Rollout: rollout}.Subject(schema.PrefixTranscripts), []byte("no MessagePack")))
					return
				}
				require.NoError(t, c.PublishTranscript(t.Context(), glassOrchard("r", rollout)))
			})
			each := 4 // three steps and an end
			if malformed {
				each = 2 // an aborted end and a dead letter
			}
			require.Len(t, rollouts, 2*(each+1), "at every publish, and before the ack, twice")
			w.run(schema.StageSplit, splitter)
			w.empty(bus.StreamTranscripts)
			w.exactly(bus.StreamEnds, len(rollouts))
			if malformed {
				require.Zero(t, w.count(bus.StreamSteps))
				w.exactly(bus.StreamDead, len(rollouts))
				return
			}
			w.exactly(bus.StreamSteps, 3*len(rollouts))
			require.Zero(t, w.count(bus.StreamDead))
		})
	}
}

// A transcript that can't be read gives its trainer a null reward at once.
func TestATranscriptThatCantBeReadGivesANullReward(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	c := w.client()
	w.run(schema.StageSplit, splitter)
	w.run(schema.StageReward, func(conn *bus.Conn) stage.Handler { return w.aggregator(conn) })

	encoded := func(tr schema.Transcript) []byte {
		b, err := schema.Encode(&tr)
		require.NoError(t, err)
		return b
	}
	cases := map[string]struct {
		body   []byte
		reason schema.Reason
		detail string
	}{
		"no-messagepack":  {[]byte("x"), schema.ReasonMalformed, "MessagePack"},
		"two-forms":       {encoded(schema.Transcript{Text: "a", Turns: []schema.Turn{{Think: "b"}}, Group: "g7", GroupSize: 2}), schema.ReasonMalformed, "more than one"},
		"other-run":       {encoded(schema.Transcript{Run: "other", Text: "a"}), schema.ReasonMalformed, "the body says"},
		"format":          {encoded(schema.Transcript{Text: "a", Format: "morse"}), schema.ReasonMalformed, "morse"},
		"no-question":     {encoded(schema.Transcript{Text: splitText}), schema.ReasonMalformed, "question"},
		"not-recognised":  {encoded(schema.Transcript{Text: "just words"}), schema.ReasonMalformed, "no rollout in any known format"},
		"group-too-long":  {encoded(schema.Transcript{Text: "a", Group: strings.Repeat("g", 600)}), schema.ReasonTooLarge, "group"},
		"bad-turn":        {encoded(schema.Transcript{Question: "?", Turns: []schema.Turn{{Query: "q", Answer: "a"}}}), schema.ReasonMalformed, "turns[0]"},
		"bad-role":        {encoded(schema.Transcript{Question: "?", Messages: []schema.ChatMessage{{Role: "wizard"}}}), schema.ReasonMalformed, "messages[0].role"},
		"not-utf8":        {encoded(schema.Transcript{Question: "?", Text: "\xff\xfe"}), schema.ReasonMalformed, "UTF-8"},
		"minus-deadline":  {encoded(schema.Transcript{Question: "?", Text: "a", StepDeadlineMS: -1}), schema.ReasonMalformed, "step_deadline_ms"},
		"endless-element": {[]byte{0xdd, 0x7f, 0xff, 0xff, 0xff}, schema.ReasonMalformed, "map"},
	}
	for name, k := range cases {
		id := schema.RolloutID{Run: "r", Rollout: name}
		w.publish(bus.Message(id.Subject(schema.PrefixTranscripts), k.body))
	}
	for name, k := range cases {
		id := schema.RolloutID{Run: "r", Rollout: name}
		reward := w.reward(id)
		require.Nil(t, reward.Process, name)
		require.Equal(t, schema.ReasonAborted, reward.Reason, name)
		require.Contains(t, reward.Detail, k.detail, name)
		d := w.dead(schema.StageSplit, id.Step(0))
		require.Equal(t, k.reason, d.Reason, name)
		require.Equal(t, k.body, d.Body, name)
		if name == "two-forms" {
			require.Equal(t, "g7", reward.Group, "whoever waits for the group is told as well")
		}
	}
	// A policy that wrote nothing is no fault of anyone's.
	require.NoError(t, c.PublishTranscript(t.Context(), &schema.Transcript{Run: "r", Rollout: "silent", Question: "?", Text: " \n"}))
	require.Equal(t, schema.ReasonNoSteps, w.reward(schema.RolloutID{Run: "r", Rollout: "silent"}).Reason)
	w.empty(bus.StreamTranscripts, bus.StreamEnds)
}

func TestAFullStageHoldsTranscriptsBackWithoutLosingAny(t *testing.T) {
	t.Parallel()
	const n = 6
	w := newWorld(t, bus.Options{WorkMsgs: 5})
	c := w.client()
	drained := make(chan struct{})
	go func() { // A, slowly at work
		defer close(drained)
		seen := map[string]bool{}
		for len(seen) < 3*n {
			m := w.take(w.conn, schema.StageEntity)
			seen[m.Subject()] = true
			if m.DoubleAck(context.Background()) != nil {
				return
			}
		}
	}()
	go func() {
		ends := 0
		for ends < n {
			m := w.take(w.conn, schema.StageReward)
			ends++
			if m.DoubleAck(context.Background()) != nil {
				return
			}
		}
	}()
	w.run(schema.StageSplit, splitter)
	for i := range n {
		require.Eventually(t, func() bool {
			return c.PublishTranscript(t.Context(), glassOrchard("r", fmt.Sprint("o", i))) == nil
		}, patience, tick)
	}
	within(t, drained, "every step")
	w.empty(bus.StreamTranscripts)
	require.Zero(t, w.count(bus.StreamDead))
}

// The steps' deadline runs from the transcript's acceptance, not from theirs.
func TestStepsOfALateTranscriptHaveWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	for rollout, k := range map[string]struct {
		after time.Duration
		want  time.Duration
	}{"in-time": {20 * time.Second, 40 * time.Second}, "late": {2 * time.Minute, time.Millisecond}} {
		source := glassOrchard("r", rollout)
		source.StepDeadlineMS = 60_000
		require.NoError(t, w.client().PublishTranscript(t.Context(), source))
		m := w.take(w.conn, schema.StageSplit)
		h := stage.NewSplitHandler(stage.SplitOptions{Conn: w.conn, Now: func() time.Time { return m.Time.Add(k.after) }})
		require.Equal(t, "split", h.Handle(t.Context(), m).Outcome)
		require.NoError(t, m.DoubleAck(t.Context()))
		step := w.last(bus.StreamSteps, schema.StepID{Run: "r", Rollout: rollout, Index: 1}.Subject(schema.PrefixSteps))
		require.Equal(t, k.want.String(), step.Header.Get(schema.HeaderDeadline), rollout)
	}
}

func TestPromise_P8_ATranscriptThatFansOutIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	turns := make([]schema.Turn, 200)
	for i := range turns {
		turns[i] = schema.Turn{Query: fmt.Sprint("query ", i), Passages: []schema.Document{{Text: fmt.Sprint(i, strings.Repeat(" filler", 2000))}}}
	}
	source := &schema.Transcript{Run: "r", Rollout: "o", Question: "?", Turns: turns}
	require.NoError(t, w.client().PublishTranscript(t.Context(), source))
	m := w.take(w.conn, schema.StageSplit)
	require.Equal(t, string(schema.ReasonTooLarge), splitter(w.conn).Handle(t.Context(), m).Outcome)
	require.Equal(t, schema.ReasonTooLarge, w.dead(schema.StageSplit, schema.RolloutID{Run: "r", Rollout: "o"}.Step(0)).Reason)
}
