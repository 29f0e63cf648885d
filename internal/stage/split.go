package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// SplitOptions configure the splitter of transcripts.
type SplitOptions struct {
	Conn *bus.Conn
	// Deadline of the steps of a transcript that gives none, counted from the
	// transcript's acceptance; default 30 minutes.
	Deadline time.Duration
	// Budget is the time that reading one transcript may take; default 60 s.
	Budget  time.Duration
	Log     *slog.Logger
	Metrics *Metrics
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// splitHandler cuts transcripts into steps and ends. It holds no state: what it
// publishes is a function of the transcript, so a second delivery publishes the
// same steps and end, which the labels and the reward refuse as duplicates.
type splitHandler struct {
	o SplitOptions
	settler
}

// NewSplitHandler returns the splitter's handler.
func NewSplitHandler(o SplitOptions) Handler {
	if o.Deadline == 0 {
		o.Deadline = 30 * time.Minute
	}
	if o.Budget == 0 {
		o.Budget = 60 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("stage", string(schema.StageSplit))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &splitHandler{o: o, settler: settler{o.Conn.JS, schema.StageSplit, o.Log, o.Metrics}}
}

func (h *splitHandler) Handle(ctx context.Context, m *Message) Result {
	id, err := schema.ParseRollout(schema.PrefixTranscripts, m.Subject())
	if err != nil {
		return h.nowhere(ctx, m, schema.ReasonOf(err), err)
	}
	t := &schema.Transcript{}
	if err := openTranscript(m, id, t); err != nil {
		return h.abort(ctx, m, id, t, err)
	}
	rollout, err := h.read(ctx, t)
	if err == nil {
		err = h.publish(ctx, m, id, t, rollout)
	}
	var unusable *unusableError
	switch {
	case err == nil:
		return Done("split")
	case errors.As(err, &unusable):
		return h.abort(ctx, m, id, t, unusable.err)
	default:
		return h.retry(m, err)
	}
}

// unusableError is what no further try would mend.
type unusableError struct{ err error }

func (e *unusableError) Error() string { return e.err.Error() }
func (e *unusableError) Unwrap() error { return e.err }

// maxFanOut bounds the bytes of one transcript's steps: each carries the
// passages of those before it, so that a small transcript of many searches could
// fill a stream.
const maxFanOut = 128 << 20

func openTranscript(m *Message, id schema.RolloutID, t *schema.Transcript) error {
	if v := m.Header(schema.HeaderSchema); v != "" && v != schema.Version {
		return &schema.FieldError{Field: "header " + schema.HeaderSchema, Problem: fmt.Sprintf("is %.20q, this program reads %s", v, schema.Version), Reason: schema.ReasonUnsupportedWire}
	}
	var read schema.Transcript
	if err := schema.Decode(m.Data(), &read); err != nil {
		return err
	}
	if err := read.BindRollout(id); err != nil {
		return err
	}
	*t = read
	return read.Validate()
}

// read cuts a transcript into steps.
func (h *splitHandler) read(ctx context.Context, t *schema.Transcript) (*transcript.Rollout, error) {
	reading, cancel := context.WithTimeout(ctx, h.o.Budget)
	defer cancel()
	rollout, err := guarded(reading, func() (*transcript.Rollout, error) { return transcript.FromMessage(t) })
	switch {
	case err == nil:
		return rollout, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, errStuck):
		err = &schema.FieldError{Field: "text", Problem: fmt.Sprintf("could not be read within %s", h.o.Budget), Reason: schema.ReasonInternal}
	}
	return nil, &unusableError{err}
}

// publish sends what follows from a transcript as a client would: its steps one
// by one, and last its end.
func (h *splitHandler) publish(ctx context.Context, m *Message, id schema.RolloutID, t *schema.Transcript, rollout *transcript.Rollout) error {
	end := &schema.RolloutEnd{
		Run: id.Run, Rollout: id.Rollout, Question: rollout.Question, Steps: []schema.StepRef{},
		Answer: rollout.Answer, Gold: t.Gold, Group: t.Group, GroupSize: t.GroupSize, DeadlineMS: t.DeadlineMS,
	}
	room := maxFanOut
	for i := range rollout.Steps {
		step := &rollout.Steps[i]
		step.Run, step.Rollout = id.Run, id.Rollout
		next, ref, err := client.StepMessage(step, client.Deadline(h.left(m, t)))
		if err != nil {
			return &unusableError{fmt.Errorf("step %d: %w", step.Index, err)}
		}
		if room -= len(next.Data); room < 0 {
			return &unusableError{&schema.FieldError{Field: "text", Reason: schema.ReasonTooLarge,
				Problem: fmt.Sprintf("its first %d steps of %d carry more than %d bytes of passages; shorten the passages, or publish them by ref", step.Index, len(rollout.Steps), maxFanOut)}}
		}
		if err := h.send(ctx, next); err != nil {
			return err
		}
		end.Steps = append(end.Steps, ref)
	}
	last, err := client.EndMessage(end)
	if err != nil {
		return &unusableError{fmt.Errorf("end: %w", err)}
	}
	return h.send(ctx, last)
}

func (h *splitHandler) send(ctx context.Context, m *nats.Msg) error {
	_, err := bus.Publish(ctx, h.js, m)
	var wrong *schema.FieldError
	if errors.As(err, &wrong) {
		return &unusableError{err}
	}
	return err
}

// left is what remains of the steps' deadline, which runs from the transcript's
// acceptance. One that has passed is as good as none for whoever waits; A says
// so of each step.
func (h *splitHandler) left(m *Message, t *schema.Transcript) time.Duration {
	deadline := h.o.Deadline
	if t.StepDeadlineMS > 0 {
		deadline = time.Duration(t.StepDeadlineMS) * time.Millisecond
	}
	return max(deadline-h.o.Now().Sub(m.Time), time.Millisecond).Round(time.Millisecond)
}

// abort ends the rollout of a transcript that can't be read, so that whoever
// waits for its reward gets a null one, and then keeps the transcript for
// operators. The end is a function of the transcript, as the steps are.
func (h *splitHandler) abort(ctx context.Context, m *Message, id schema.RolloutID, t *schema.Transcript, problem error) Result {
	reason, detail := schema.ReasonOf(problem), clip(problem.Error(), 4<<10)
	end := &schema.RolloutEnd{
		Run: id.Run, Rollout: id.Rollout, Steps: []schema.StepRef{}, Group: t.Group, GroupSize: t.GroupSize,
		Aborted: true, AbortReason: fmt.Sprintf("the transcript could not be read (%s): %s", reason, detail),
	}
	last, err := client.EndMessage(end)
	if err != nil { // its group may be what was wrong
		end.Group, end.GroupSize = "", 0
		last, err = client.EndMessage(end)
	}
	if err != nil {
		return h.retry(m, fmt.Errorf("ending %s: %w", id, err))
	}
	if _, err := bus.Publish(ctx, h.js, last); err != nil {
		return h.retry(m, err)
	}
	return h.dead(ctx, m, id.Step(0), reason, detail, m.Data(), string(reason))
}

// Abandon ends the rollout without ever decoding its transcript.
func (h *splitHandler) Abandon(ctx context.Context, m *Message) Result {
	id, err := schema.ParseRollout(schema.PrefixTranscripts, m.Subject())
	if err != nil {
		return h.nowhere(ctx, m, schema.ReasonCrash, err)
	}
	return h.abort(ctx, m, id, &schema.Transcript{}, &schema.FieldError{
		Field: "message", Reason: schema.ReasonCrash, Problem: fmt.Sprintf("handling this transcript ended its worker more than %d times", maxAttempts),
	})
}
