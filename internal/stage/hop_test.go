package stage_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestHopCarriesTheStepAsPublished(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		id := schema.StepID{Run: "r", Rollout: "o", Index: 2}
		body := bodyOf(t, id)
		m := s.input(t, id, body)
		m.Header.Set(schema.HeaderDeadline, "17m0s")
		var accepted int64
		if s.first {
			m.Header.Set(schema.HeaderAccepted, "1") // a publisher's word for it counts nothing
			m.Header.Set(schema.HeaderDigest, "forged")
		} else {
			accepted, _ = strconv.ParseInt(m.Header.Get(schema.HeaderAccepted), 10, 64)
		}
		w.publish(m)
		if s.first {
			accepted = w.last(s.stream, m.Subject).Time.UnixNano()
		}
		quote := schema.Quote{Passage: "d", ByStep: 1, Text: "q", End: 1, Match: schema.MatchExact}
		w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			return tree.Decision{Next: s.next, Abstaining: true, Quotes: []schema.Quote{quote}, Entry: schema.TrailEntry{Stage: s.stage, Outcome: "passed"}}, nil
		}))
		w.empty(s.stream)
		next := w.last(s.nextStream, id.Subject(s.nextPrefix))
		require.NotNil(t, next, "the step went on")
		require.Equal(t, schema.Version, next.Header.Get(schema.HeaderSchema))
		require.Equal(t, schema.Digest(body), next.Header.Get(schema.HeaderDigest))
		require.Equal(t, "17m0s", next.Header.Get(schema.HeaderDeadline))
		require.Equal(t, strconv.FormatInt(accepted, 10), next.Header.Get(schema.HeaderAccepted))
		var work schema.Work
		require.NoError(t, schema.Decode(next.Data, &work))
		require.Equal(t, body, work.Step, "byte for byte what the publisher sent")
		require.True(t, work.Abstaining)
		require.Empty(t, cmp.Diff([]schema.Quote{quote}, work.Quotes))
		last := work.Trail[len(work.Trail)-1]
		require.Equal(t, "passed", last.Outcome)
		require.Equal(t, s.stage, last.Stage)
		require.Zero(t, w.count(bus.StreamLabels))
		require.Zero(t, w.count(bus.StreamDead))
	})
}

func TestVerdictBecomesALabel(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, verdict(schema.GapMissingBridge))
		id := schema.StepID{Run: "r", Rollout: "o", Index: 2}
		body := bodyOf(t, id)
		w.publish(s.input(t, id, body))
		l := w.label(id)
		require.Equal(t, schema.GapMissingBridge, l.Label)
		require.Equal(t, schema.RepairBridgeSearch, l.Repair)
		require.Equal(t, s.stage, l.Stage)
		require.Equal(t, schema.Digest(body), l.Digest)
		require.NotZero(t, l.AcceptedNS)
		require.NotNil(t, l.Facts)
		require.Equal(t, "Clara Ames father", l.Facts.Query)
		require.NotEmpty(t, l.Trail)
		w.empty(s.stream)
		require.Zero(t, w.count(bus.StreamDead))
	})
}

func TestPromise_P2_ANumberThatIsNoneNeverLeaves(t *testing.T) {
	t.Parallel()
	bad := math.NaN()
	nan := schema.TrailEntry{Outcome: "entailment", Scores: &schema.Scores{Entailment: bad}}
	cases := map[string]tree.Decision{
		"nan-score":      {Gap: schema.GapNone, Entry: nan},
		"infinite-score": {Gap: schema.GapNone, Entry: schema.TrailEntry{Outcome: "entailment", Scores: &schema.Scores{Neutral: math.Inf(1)}}},
		"nan-confidence": {Gap: schema.GapNone, Entry: schema.TrailEntry{Outcome: "entailment", Confidence: &bad}},
		"nan-passed-on":  {Next: tree.HopLocal, Entry: nan},
		"no-label":       {Entry: schema.TrailEntry{Outcome: "entailment"}},
		"no-such-label":  {Gap: "fine", Entry: schema.TrailEntry{Outcome: "entailment"}},
		"no-such-stage":  {Next: "nowhere", Entry: schema.TrailEntry{Outcome: "passed"}},
		"no-reason":      {Gap: schema.GapUngraded, Entry: schema.TrailEntry{Outcome: "error"}},
	}
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			return cases[item.Step.Rollout], nil
		}))
		for name := range cases {
			id := schema.StepID{Run: "r", Rollout: name, Index: 1}
			w.publish(s.input(t, id, bodyOf(t, id)))
			label := w.label(id)
			require.Equal(t, schema.GapUngraded, label.Label, name)
			require.Equal(t, schema.ReasonInternal, label.Reason, name)
			require.Equal(t, s.stage, label.Stage, name)
			require.Equal(t, schema.ReasonInternal, w.dead(s.stage, id).Reason, name)
		}
		w.empty(s.stream)
	})
}

func TestJudgeErrorsAreReasonsNotGaps(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rollout string
		err     error
		reason  schema.Reason
	}{
		{"refused", &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("401")}, schema.ReasonJudgeError},
		{"unreadable", &judge.Error{Reason: schema.ReasonJudgeMalformed, Err: errors.New("no JSON")}, schema.ReasonJudgeMalformed},
		{"model", &judge.Error{Reason: schema.ReasonModelError, Err: errors.New("shape")}, schema.ReasonModelError},
		{"plain", errors.New("a fault of ours"), schema.ReasonInternal},
	}
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		byQuestion := map[string]error{}
		for _, c := range cases {
			byQuestion[c.rollout] = c.err
		}
		w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			return tree.Decision{}, byQuestion[item.Step.Rollout]
		}))
		for _, c := range cases {
			id := schema.StepID{Run: "r", Rollout: c.rollout, Index: 1}
			w.publish(s.input(t, id, bodyOf(t, id)))
			l := w.label(id)
			require.Equal(t, schema.GapUngraded, l.Label, c.rollout)
			require.Equal(t, c.reason, l.Reason, c.rollout)
			require.Equal(t, "error", l.Trail[len(l.Trail)-1].Outcome)
			d := w.dead(s.stage, id)
			require.Equal(t, c.reason, d.Reason)
			require.Equal(t, bodyOf(t, id), d.Body, "the dead letter holds the step as published, for a replay")
		}
		w.empty(s.stream)
	})
}

func TestATemporaryJudgeErrorIsRetriedWhenTheEndpointSaidSo(t *testing.T) {
	t.Parallel()
	const away, failures = 1500 * time.Millisecond, 2
	eachStage(t, bus.Options{AckWait: longAckWait}, func(t *testing.T, w *world, s treeStage) {
		calls := make(chan time.Time, 100)
		n := 0
		w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
			calls <- time.Now()
			if n++; n <= failures {
				return tree.Decision{}, &judge.Error{Reason: schema.ReasonJudgeError, Temporary: true, RetryAfter: away, Err: errors.New("429")}
			}
			return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "entailment"}), nil
		}))
		id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
		w.publish(s.input(t, id, bodyOf(t, id)))
		require.Equal(t, schema.GapNone, w.label(id).Label)
		last := within(t, calls, "the first call")
		for range failures {
			at := within(t, calls, "another call")
			require.GreaterOrEqual(t, at.Sub(last), away-20*time.Millisecond)
			last = at
		}
		w.empty(s.stream)
		require.Zero(t, w.count(bus.StreamDead))
	})
}

// An endpoint that is down for long is no crash: retries are not attempts.
func TestRetriesAreNeverCountedAsAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	s := treeStages()[0]
	id := schema.StepID{Run: "r", Rollout: "o", Index: 1}
	w.publish(s.input(t, id, bodyOf(t, id)))
	down := tree.DeciderFunc(func(context.Context, *tree.Item) (tree.Decision, error) {
		return tree.Decision{}, &judge.Error{Reason: schema.ReasonJudgeError, Temporary: true, Err: errors.New("503")}
	})
	// Twelve processes in a row take the step and send it back in good order.
	for range 12 {
		handled := make(chan *stage.Message, 100)
		l := w.run(s.stage, func(conn *bus.Conn) stage.Handler {
			return tap{Handler: w.handler(conn, s, down), after: func(m *stage.Message, r stage.Result) {
				require.True(t, r.Again)
				handled <- m
			}}
		})
		m := within(t, handled, "the call")
		l.stop()
		require.NoError(t, l.conn.NC.Flush())
		w.hurry(m)
	}
	w.runStage(s, verdict(schema.GapNone))
	require.Equal(t, schema.GapNone, w.label(id).Label)
	w.empty(s.stream)
}
