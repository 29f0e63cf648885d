package stage

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// LiveFunc answers a live check: the gap that the plan or the passages would
// lead to, one sentence for people, and the trail entry.
type LiveFunc func(ctx context.Context, step *schema.Step) (schema.Gap, string, schema.TrailEntry, error)

// LiveOptions configure a live stage.
type LiveOptions struct {
	Conn *bus.Conn
	// Stage is StageLiveAim (A) or StageLiveText (C).
	Stage schema.Stage
	Check LiveFunc
	// Deadline is how long a check may take from its acceptance where the asker
	// didn't say; default 10 s.
	Deadline time.Duration
	Log      *slog.Logger
	// Now is the clock; default time.Now.
	Now func() time.Time
}

type liveVerdict struct {
	gap    schema.Gap
	detail string
	entry  schema.TrailEntry
}

// inboxPrefix is what every inbox starts with, custom ones too. An answer goes
// nowhere else: a stage may publish labels, and the asker may not make it do so.
const inboxPrefix = "_INBOX"

// liveHandler answers live checks on the asker's inbox. They are never
// rewarded, and a check whose asker has stopped waiting is dropped.
type liveHandler struct{ o LiveOptions }

// NewLiveHandler returns the handler of a live stage.
func NewLiveHandler(o LiveOptions) Handler {
	if o.Deadline == 0 {
		o.Deadline = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("stage", string(o.Stage))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &liveHandler{o: o}
}

func (h *liveHandler) Handle(ctx context.Context, m *Message) Result {
	kind, id, err := schema.ParseLive(m.Subject())
	if err != nil {
		h.o.Log.Warn("dropping a live check", "subject", m.Subject(), "error", err)
		return Done("malformed")
	}
	answer := schema.LiveAnswer{Run: id.Run, Rollout: id.Rollout, Index: id.Index, Kind: kind}
	if kind == schema.LiveRelevance {
		answer.Kind = schema.LiveProbe
	}
	env, err := openEnvelope(m, kind != schema.LiveRelevance, h.o.Deadline)
	if err != nil {
		return h.refuse(m, answer, schema.ReasonOf(err), err.Error())
	}
	left, inTime := env.left(h.o.Now())
	if !inTime {
		return h.refuse(m, answer, schema.ReasonNotLive, "the check came too late")
	}
	step, err := h.open(ctx, m, id)
	if err != nil {
		return h.refuse(m, answer, schema.ReasonOf(err), err.Error())
	}
	if env.deadline == 0 {
		left = h.o.Deadline // somebody waits for the answer, and not for ever
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	v, err := guarded(ctx, func() (liveVerdict, error) {
		gap, detail, entry, err := h.o.Check(ctx, step)
		return liveVerdict{gap, detail, entry}, err
	})
	gap, detail, entry := v.gap, v.detail, v.entry
	if err != nil {
		reason := schema.ReasonInternal
		if je := judge.AsError(err); je != nil {
			reason = je.Reason
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			reason = schema.ReasonJudgeTimeout
		}
		return h.refuse(m, answer, reason, err.Error())
	}
	answer.Trail = []schema.TrailEntry{entry}
	if kind == schema.LiveProbe && gap == schema.GapNone && len(step.Passages) > 0 {
		// Well aimed: C says whether the passages are about it.
		next := env.address(schema.LiveSubject(schema.LiveRelevance, id), m.Data())
		next.Header.Set(schema.HeaderReply, m.Header(schema.HeaderReply))
		if _, err := bus.Publish(ctx, h.o.Conn.JS, next); err != nil {
			return h.refuse(m, answer, schema.ReasonInternal, err.Error())
		}
		return Done("relevance")
	}
	answer.Label, answer.Repair, answer.Detail = gap, gap.Repair(), clip(detail, 4<<10)
	return h.reply(m, answer)
}

// Abandon tells the asker that there will be no verdict.
func (h *liveHandler) Abandon(_ context.Context, m *Message) Result {
	kind, id, _ := schema.ParseLive(m.Subject())
	return h.refuse(m, schema.LiveAnswer{Run: id.Run, Rollout: id.Rollout, Index: id.Index, Kind: kind}, schema.ReasonCrash, "the check ended its worker again and again")
}

func (h *liveHandler) open(ctx context.Context, m *Message, id schema.StepID) (*schema.Step, error) {
	step := &schema.Step{}
	if err := schema.Decode(m.Data(), step); err != nil {
		return nil, err
	}
	if err := step.BindStep(id); err != nil {
		return nil, err
	}
	if err := step.Validate(); err != nil {
		return nil, err
	}
	return step, resolve(ctx, h.o.Conn, step)
}

func (h *liveHandler) refuse(m *Message, answer schema.LiveAnswer, reason schema.Reason, detail string) Result {
	answer.Label, answer.Repair = schema.GapUngraded, schema.RepairNone
	answer.Reason, answer.Detail = reason, clip(detail, 4<<10)
	return h.reply(m, answer)
}

func (h *liveHandler) reply(m *Message, answer schema.LiveAnswer) Result {
	inbox := m.Header(schema.HeaderReply)
	if inbox == "" {
		return Done("no_reply")
	}
	if !strings.HasPrefix(inbox, inboxPrefix) || len(inbox) > 256 || strings.ContainsAny(inbox, "*> \t\r\n") {
		h.o.Log.Warn("not answering a live check: its reply subject is no inbox", "subject", m.Subject(), "reply", clip(inbox, 64))
		return Done("no_inbox")
	}
	body, err := schema.Encode(&answer)
	if err != nil {
		h.o.Log.Error("encoding a live answer failed", "subject", m.Subject(), "error", err)
		return Done("internal")
	}
	if err := h.o.Conn.NC.PublishMsg(bus.Message(inbox, body)); err != nil {
		return Again(backoff(m.Delivered), "retry")
	}
	return Done(string(answer.Label))
}
