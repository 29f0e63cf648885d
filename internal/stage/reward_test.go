package stage_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

func profile(t testing.TB, name string) *rewardagg.Profile {
	t.Helper()
	p, err := rewardagg.LoadProfile(name)
	require.NoError(t, err)
	return p
}

func (w *world) aggregator(conn *bus.Conn, change ...func(*stage.RewardOptions)) stage.Handler {
	w.t.Helper()
	o := stage.RewardOptions{Conn: conn, Profile: profile(w.t, rewardagg.DefaultProfile)}
	for _, c := range change {
		c(&o)
	}
	if o.Waker == nil {
		o.Waker = w.waker(conn)
	}
	h, err := stage.NewRewardHandler(o)
	require.NoError(w.t, err)
	return h
}

func (w *world) runAggregator(change ...func(*stage.RewardOptions)) *loop {
	w.t.Helper()
	return w.run(schema.StageReward, func(conn *bus.Conn) stage.Handler { return w.aggregator(conn, change...) })
}

func rolloutID(name string) schema.RolloutID { return schema.RolloutID{Run: "r", Rollout: name} }

func digestOf(i int) string { return schema.Digest([]byte{byte(i), byte(i >> 8)}) }

// end is the end of a rollout with n steps.
func end(n int, change ...func(*schema.RolloutEnd)) *schema.RolloutEnd {
	e := &schema.RolloutEnd{Question: "q", Answer: "1929", Gold: []string{"1929"}, Group: "g", GroupSize: 8}
	for i := 1; i <= n; i++ {
		e.Steps = append(e.Steps, schema.StepRef{Index: i, Digest: digestOf(i)})
	}
	for _, c := range change {
		c(e)
	}
	return e
}

func (w *world) publishEnd(id schema.RolloutID, e *schema.RolloutEnd) []byte {
	w.t.Helper()
	body, err := schema.Encode(e)
	require.NoError(w.t, err)
	w.publish(bus.Message(id.Subject(schema.PrefixEnds), body))
	return body
}

func (w *world) standAll(id schema.RolloutID, n int) {
	for i := 1; i <= n; i++ {
		w.stand(id.Step(i), schema.GapNone, digestOf(i))
	}
}

func deadlineMS(d time.Duration) func(*schema.RolloutEnd) {
	return func(e *schema.RolloutEnd) { e.DeadlineMS = d.Milliseconds() }
}

func TestAnEndIsWokenByTheLastLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	results := make(chan stage.Result, 100)
	w.run(schema.StageReward, func(conn *bus.Conn) stage.Handler {
		return tap{Handler: w.aggregator(conn), after: func(_ *stage.Message, r stage.Result) { results <- r }}
	})
	id := rolloutID("o")
	body := w.publishEnd(id, end(2))
	first := within(t, results, "the first look")
	require.Equal(t, "wait", first.Outcome)
	require.GreaterOrEqual(t, first.Delay, time.Second)
	start := time.Now()
	w.standAll(id, 2)
	r := w.reward(id)
	require.Less(t, time.Since(start), first.Delay/2, "the label woke it, not the delay")
	require.NotNil(t, r.Process)
	require.True(t, r.Complete)
	require.Equal(t, schema.Digest(body), r.EndDigest)
	require.Equal(t, "g", r.Group)
	require.Equal(t, 8, r.GroupSize)
	require.NotNil(t, r.Outcome.EM)
	w.empty(bus.StreamEnds)
}

func TestEndsWhoseStepsNeverComeDoNotDelayACompleteRollout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	const waiting = 2000
	for i := range waiting {
		w.publishEnd(rolloutID(fmt.Sprintf("waits-%d", i)), end(3))
	}
	w.runAggregator()
	consumer, err := w.conn.JS.Consumer(context.Background(), bus.StreamEnds, string(schema.StageReward))
	require.NoError(t, err)
	w.eventually(func() bool {
		info, err := consumer.Info(context.Background())
		return err == nil && info.Delivered.Consumer >= waiting
	}, "the ends were not looked at")
	for i := range 20 {
		id := rolloutID(fmt.Sprintf("complete-%d", i))
		w.standAll(id, 2)
		w.publishEnd(id, end(2))
	}
	for i := range 20 {
		require.NotNil(t, w.reward(rolloutID(fmt.Sprintf("complete-%d", i))).Process)
	}
	w.eventually(func() bool { return w.count(bus.StreamEnds) == waiting }, "the others wait")
}

func TestPromise_P1_AnEndIsSealedAtItsDeadlineAndALateVerdictChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runAggregator()
	id := rolloutID("o")
	s := treeStages()[3]
	late := id.Step(2)
	body := bodyOf(t, late)
	w.stand(id.Step(1), schema.GapNone, digestOf(1))
	w.publishEnd(id, end(2, deadlineMS(500*time.Millisecond), func(e *schema.RolloutEnd) { e.Steps[1].Digest = schema.Digest(body) }))
	r := w.reward(id)
	require.False(t, r.Complete)
	require.Equal(t, 1, r.Ungraded)
	sealed := w.label(late)
	require.Equal(t, schema.ReasonMissing, sealed.Reason)
	require.Equal(t, schema.StageReward, sealed.Stage)

	w.runStage(s, verdict(schema.GapContradicted))
	w.publish(s.input(t, late, body))
	w.empty(s.stream, bus.StreamEnds)
	require.Equal(t, sealed, w.label(late), "a verdict that comes late is refused")
	require.Equal(t, r, w.reward(id))
	require.Equal(t, schema.ReasonMissing, w.dead(s.stage, late).Reason, "and is not lost without a trace")
	w.exactly(bus.StreamLabels, 2)
	w.exactly(bus.StreamRewards, 1)
}

func TestEndsWithoutANumberSayWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runAggregator()
	cases := map[string]struct {
		end    *schema.RolloutEnd
		labels int
		reason schema.Reason
	}{
		"aborted":         {end(2, func(e *schema.RolloutEnd) { e.Aborted, e.AbortReason = true, "out of tokens" }), 0, schema.ReasonAborted},
		"no-steps":        {end(0), 0, schema.ReasonNoSteps},
		"none-graded":     {end(2, deadlineMS(300*time.Millisecond)), 0, schema.ReasonTooFewGraded},
		"other-content":   {end(2, func(e *schema.RolloutEnd) { e.Steps[1].Digest = digestOf(99) }), 2, schema.ReasonIDReused},
		"index-too-large": {end(1, func(e *schema.RolloutEnd) { e.Steps[0].Index = schema.MaxIndex + 1 }), 0, schema.ReasonMalformed},
		"index-twice":     {end(2, func(e *schema.RolloutEnd) { e.Steps[1].Index = 1 }), 0, schema.ReasonMalformed},
		"no-digest":       {end(1, func(e *schema.RolloutEnd) { e.Steps[0].Digest = "" }), 0, schema.ReasonMalformed},
		"other-run":       {end(1, func(e *schema.RolloutEnd) { e.Run = "other" }), 0, schema.ReasonMalformed},
	}
	for name, c := range cases {
		w.standAll(rolloutID(name), c.labels)
		w.publishEnd(rolloutID(name), c.end)
	}
	garbage := rolloutID("garbage")
	w.publish(bus.Message(garbage.Subject(schema.PrefixEnds), []byte{0xdd, 0xff, 0xff, 0xff, 0xff}))
	wire := bus.Message(rolloutID("wire").Subject(schema.PrefixEnds), nil)
	wire.Header.Set(schema.HeaderSchema, "2")
	w.publish(wire)
	for name, c := range cases {
		r := w.reward(rolloutID(name))
		require.Nil(t, r.Process, name)
		require.Equal(t, c.reason, r.Reason, "%s: %s", name, r.Detail)
		for _, s := range r.Steps {
			require.Nil(t, s.Reward, name)
		}
	}
	require.Equal(t, schema.ReasonMalformed, w.reward(garbage).Reason)
	require.Equal(t, schema.ReasonMalformed, w.dead(schema.StageReward, garbage.Step(0)).Reason)
	require.Equal(t, schema.ReasonUnsupportedWire, w.reward(rolloutID("wire")).Reason)
	w.empty(bus.StreamEnds)
	w.exactly(bus.StreamRewards, len(cases)+2)
}

func TestPromise_P8_BadEndSubjectsAllLandInDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runAggregator()
	tails := []string{"r!.o", "r.o!", "é.o", "r:.o", "r!.p"}
	for _, tail := range tails {
		w.publishTo(schema.PrefixEnds+"."+tail, end(1))
	}
	w.empty(bus.StreamEnds)
	require.Equal(t, len(tails), w.count(bus.StreamDead))
	require.Zero(t, w.count(bus.StreamRewards))
}

func (w *world) publishTo(subject string, e *schema.RolloutEnd) {
	w.t.Helper()
	body, err := schema.Encode(e)
	require.NoError(w.t, err)
	w.publish(bus.Message(subject, body))
}

func TestAnEndOlderThanTheLabelsGetsNoNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runAggregator(func(o *stage.RewardOptions) {
		o.LabelsAge = time.Hour
		o.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	})
	id := rolloutID("o")
	w.publishEnd(id, end(2))
	r := w.reward(id)
	require.Nil(t, r.Process)
	require.Equal(t, schema.ReasonLabelsExpired, r.Reason)
	require.Zero(t, w.count(bus.StreamLabels), "nothing is sealed whose verdict may have been there")
	w.empty(bus.StreamEnds)
}

// A deadline that no duration can hold is a long one, not one that has passed.
func TestAnEndlessDeadlineIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	results := make(chan stage.Result, 1000)
	w.run(schema.StageReward, func(conn *bus.Conn) stage.Handler {
		return tap{Handler: w.aggregator(conn), after: func(_ *stage.Message, r stage.Result) { results <- r }}
	})
	id := rolloutID("o")
	w.publishEnd(id, end(2, func(e *schema.RolloutEnd) { e.DeadlineMS = 1 << 60 }))
	require.Equal(t, "wait", within(t, results, "the first look").Outcome)
	w.standAll(id, 2)
	require.NotNil(t, w.reward(id).Process)
}

func TestASecondEndWithOtherContentIsDeadAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runAggregator()
	id := rolloutID("o")
	w.standAll(id, 2)
	w.publishEnd(id, end(2))
	r := w.reward(id)
	w.publishEnd(id, end(2)) // a plain duplicate
	w.empty(bus.StreamEnds)
	require.Zero(t, w.count(bus.StreamDead))
	other := w.publishEnd(id, end(1))
	d := w.dead(schema.StageReward, id.Step(0))
	require.Equal(t, schema.ReasonIDReused, d.Reason)
	require.Equal(t, other, d.Body)
	w.empty(bus.StreamEnds)
	require.Equal(t, r, w.reward(id))
	w.exactly(bus.StreamRewards, 1)
}

func TestPromise_P1_ACrashAtAnyPointOfAnEnd(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w *world, id schema.RolloutID){
		"complete": func(w *world, id schema.RolloutID) {
			w.standAll(id, 2)
			w.publishEnd(id, end(2))
		},
		"sealed": func(w *world, id schema.RolloutID) { // dies between seals, and between seal and reward
			w.stand(id.Step(2), schema.GapNone, digestOf(2))
			w.publishEnd(id, end(3))
		},
		"malformed": func(w *world, id schema.RolloutID) {
			w.publish(bus.Message(id.Subject(schema.PrefixEnds), []byte("garbage")))
		},
	}
	atDeadline := func(o *stage.RewardOptions) { o.Deadline = time.Nanosecond }
	for name, publish := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bus.Options{})
			build := func(conn *bus.Conn) stage.Handler { return w.aggregator(conn, atDeadline) }
			rollouts := w.crashEverywhere(schema.StageReward, build, func(rollout string) { publish(w, rolloutID(rollout)) })
			w.runAggregator(atDeadline)
			for _, rollout := range rollouts {
				r := w.reward(rolloutID(rollout))
				require.Equal(t, name == "malformed", r.Reason == schema.ReasonMalformed, r.Reason)
				if name == "sealed" {
					require.Equal(t, 2, r.Ungraded)
					require.Equal(t, 1, r.Graded)
				}
			}
			w.empty(bus.StreamEnds)
			w.exactly(bus.StreamRewards, len(rollouts))
			if name == "sealed" {
				require.Len(t, rollouts, 8, "before and after two seals and the reward, and before the ack, twice")
				w.exactly(bus.StreamLabels, 3*len(rollouts))
			}
		})
	}
}

// Seals and verdicts race: whatever wins, the reward says what the label says.
func TestPromise_P1_ARewardSaysWhatTheLabelsSayHoweverTheyRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	w.runAggregator()
	w.runAggregator()
	const n = 100
	var racers sync.WaitGroup
	for i := range n {
		id := rolloutID(fmt.Sprintf("o%d", i))
		body, err := schema.Encode(&schema.Label{Label: schema.GapNone, Stage: schema.StageLocal, Repair: schema.RepairNone, Digest: digestOf(1)})
		require.NoError(t, err)
		w.publishEnd(id, end(1, deadlineMS(time.Millisecond)))
		racers.Go(func() {
			_, err := bus.PublishOnce(context.Background(), w.conn.JS, bus.Message(id.Step(1).Subject(schema.PrefixLabels), body))
			if err != nil {
				t.Error(err)
			}
		})
	}
	racers.Wait()
	for i := range n {
		id := rolloutID(fmt.Sprintf("o%d", i))
		r, l := w.reward(id), w.label(id.Step(1))
		require.Len(t, r.Steps, 1)
		require.Equal(t, l.Label, r.Steps[0].Label)
		require.Equal(t, l.Label.Graded(), r.Process != nil)
	}
	w.empty(bus.StreamEnds)
	w.exactly(bus.StreamRewards, n)
}

func TestAnEndWaitsForAnAggregatorWithItsRunsProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	pinnedTo := func(name string) func(*stage.RewardOptions) {
		return func(o *stage.RewardOptions) {
			o.Profile = profile(t, name)
			o.Pins = w.pins(w.conn, schema.StageReward, o.Profile.Hash())
		}
	}
	first := w.runAggregator(pinnedTo("stepgap"))
	w.standAll(rolloutID("a"), 2)
	w.publishEnd(rolloutID("a"), end(2))
	require.Equal(t, "stepgap", w.reward(rolloutID("a")).Profile)
	first.stop()

	results := make(chan stage.Result, 1000)
	w.run(schema.StageReward, func(conn *bus.Conn) stage.Handler {
		return tap{Handler: w.aggregator(conn, pinnedTo("paper")), after: func(_ *stage.Message, r stage.Result) { results <- r }}
	})
	w.standAll(rolloutID("b"), 2)
	w.publishEnd(rolloutID("b"), end(2))
	require.Equal(t, "config_mismatch", within(t, results, "the refusal").Outcome)
	other := schema.RolloutID{Run: "r2", Rollout: "a"}
	w.standAll(other, 2)
	w.publishEnd(other, end(2))
	require.Equal(t, "paper", w.reward(other).Profile)

	// An end that no aggregator of its profile ever takes gets its reward too.
	w.publishEnd(rolloutID("c"), end(2, deadlineMS(300*time.Millisecond)))
	r := w.reward(rolloutID("c"))
	require.Nil(t, r.Process)
	require.Equal(t, schema.ReasonConfigMismatch, r.Reason)

	w.runAggregator(pinnedTo("stepgap"))
	require.Equal(t, "stepgap", w.reward(rolloutID("b")).Profile)
	w.empty(bus.StreamEnds)
}
