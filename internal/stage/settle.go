package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// settler publishes what ends a step: its label and, for what could not be
// judged, its dead letter.
type settler struct {
	js      jetstream.JetStream
	stage   schema.Stage
	log     *slog.Logger
	metrics *Metrics
}

// label publishes l. body is the step as published, for the dead letter that an
// ungraded label or a reused id is followed by.
func (s *settler) label(ctx context.Context, l *schema.Label, m *Message, body []byte) Result {
	id := schema.StepID{Run: l.Run, Rollout: l.Rollout, Index: l.Index}
	if err := l.Validate(); err != nil {
		// A fault of a judge or of ours: never let a number that is none out.
		s.log.Error("a label failed its own checks", "run", id.Run, "rollout", id.Rollout, "step", id.Index, "error", err)
		l = ungraded(id, l.Digest, s.stage, schema.ReasonInternal, err.Error(), withoutNonNumbers(l.Trail))
	}
	encoded, err := encodeLabel(l)
	if err != nil {
		s.log.Error("a label could not be encoded", "run", id.Run, "rollout", id.Rollout, "step", id.Index, "error", err)
		l = ungraded(id, l.Digest, s.stage, schema.ReasonInternal, err.Error(), nil)
		if encoded, err = schema.Encode(l); err != nil {
			return s.retry(m, fmt.Errorf("encoding the label of %s: %w", id, err))
		}
	}
	stands, err := bus.PublishOnce(ctx, s.js, bus.Message(id.Subject(schema.PrefixLabels), encoded))
	if err != nil {
		return s.retry(m, err)
	}
	if stands {
		s.metrics.label(l)
		if l.Label == schema.GapUngraded {
			return s.dead(ctx, m, id, l.Reason, l.Detail, body, "ungraded")
		}
		return Done(string(l.Label))
	}
	standing, err := bus.LabelOf(ctx, s.js, id)
	switch {
	case err != nil:
		return s.retry(m, err)
	case standing == nil: // it expired between the two
		return s.retry(m, fmt.Errorf("the label of %s was there and is gone", id))
	case standing.Digest != "" && standing.Digest != l.Digest:
		return s.dead(ctx, m, id, schema.ReasonIDReused, "another step was published under the same run, rollout and index, and its label stands; use a fresh run id for each start", body, "id_reused")
	case standing.Label == schema.GapUngraded:
		// Sealed or given up before this verdict came, or by an earlier
		// delivery of this message that died before its dead letter.
		return s.dead(ctx, m, id, standing.Reason, standing.Detail, body, "late")
	default:
		return Done("duplicate")
	}
}

// encodeLabel encodes l, shedding what is only there for people if it is too
// large for one message.
func encodeLabel(l *schema.Label) ([]byte, error) {
	b, err := schema.Encode(l)
	if err == nil {
		return b, nil
	}
	slim := *l
	if l.Facts != nil {
		facts := *l.Facts
		facts.Text = clip(facts.Text, 16<<10)
		facts.Claim = clip(facts.Claim, 16<<10)
		slim.Facts = &facts
	}
	slim.Trail = nil
	for _, t := range l.Trail {
		t.Premise, t.Hypothesis, t.Detail = clip(t.Premise, 4<<10), clip(t.Hypothesis, 4<<10), clip(t.Detail, 1<<10)
		slim.Trail = append(slim.Trail, t)
	}
	if len(slim.Quotes) > 4 {
		slim.Quotes = slim.Quotes[:4]
	}
	return schema.Encode(&slim)
}

// dead publishes a dead letter, once a message's label stands.
func (s *settler) dead(ctx context.Context, m *Message, id schema.StepID, reason schema.Reason, detail string, body []byte, outcome string) Result {
	d := schema.Dead{
		Stage: s.stage, Reason: reason, Detail: clip(detail, 4<<10), Subject: m.Subject(),
		Body: body[:min(len(body), schema.MaxDeadBody)], BodySize: len(body),
		Headers: headersOf(m.Headers()), Delivered: m.Delivered, AtNS: m.Time.UnixNano(),
	}
	encoded, err := schema.Encode(&d)
	if err != nil {
		return s.retry(m, fmt.Errorf("encoding a dead letter: %w", err))
	}
	letter := bus.Message(schema.DeadSubject(s.stage, id), encoded)
	letter.Header.Set(schema.HeaderReason, string(reason))
	if _, err := bus.PublishOnce(ctx, s.js, letter); err != nil {
		return s.retry(m, err)
	}
	s.log.Warn("dead letter", "run", id.Run, "rollout", id.Rollout, "step", id.Index, "reason", string(reason), "detail", detail)
	return Done(outcome)
}

// nowhere publishes the dead letter of a message whose subject names nothing
// that a label or a reward could be given to. Many such subjects read the same
// once mended, so the place in the stream tells them apart.
func (s *settler) nowhere(ctx context.Context, m *Message, reason schema.Reason, problem error) Result {
	return s.dead(ctx, m, schema.StepID{Index: int(m.Seq)}, reason, problem.Error(), m.Data(), string(reason))
}

// retry sends the message back with a growing delay: the fault can pass.
func (s *settler) retry(m *Message, err error) Result {
	delay := backoff(m.Delivered)
	level := slog.LevelWarn
	if errors.Is(err, context.Canceled) {
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, "handling failed; the message will be delivered again", "subject", m.Subject(), "error", err, "in", delay)
	return Again(delay, "retry")
}

// backoff grows from half a second to 15, with full jitter above half of it, so
// that workers that failed together don't come back together.
func backoff(delivered int) time.Duration {
	ceiling := min(500*time.Millisecond<<min(max(delivered-1, 0), 5), 15*time.Second)
	return ceiling/2 + rand.N(ceiling/2)
}

func ungraded(id schema.StepID, digest string, stage schema.Stage, reason schema.Reason, detail string, trail []schema.TrailEntry) *schema.Label {
	return &schema.Label{
		Run: id.Run, Rollout: id.Rollout, Index: id.Index, Digest: digest,
		Label: schema.GapUngraded, Repair: schema.RepairNone,
		Stage: stage, Reason: reason, Detail: clip(detail, 4<<10), Trail: trail,
	}
}

// withoutNonNumbers drops the numbers that are none from a trail, so that what is
// known of a failed judgement can be kept.
func withoutNonNumbers(trail []schema.TrailEntry) []schema.TrailEntry {
	clean := slices.Clone(trail[:min(len(trail), schema.MaxTrail)])
	for i := range clean {
		clean[i].Scores = finiteScores(clean[i].Scores)
		if c := clean[i].Confidence; c != nil && !finite(*c) {
			clean[i].Confidence = nil
		}
	}
	return clean
}

func finiteScores(s *schema.Scores) *schema.Scores {
	if s == nil || finite(s.Entailment) && finite(s.Neutral) && finite(s.Contradiction) {
		return s
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// clip cuts s to at most n bytes on a code point's border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

func headersOf(h nats.Header) map[string]string {
	out := map[string]string{}
	for k, v := range h {
		if len(out) == 32 {
			break
		}
		if len(v) > 0 {
			out[clip(k, 256)] = clip(v[0], 1024)
		}
	}
	return out
}
