package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// StepOptions configure one stage of the tree.
type StepOptions struct {
	Conn    *bus.Conn
	Stage   schema.Stage
	Decider tree.Decider
	// Pins holds runs to this stage's configuration; nil checks nothing.
	Pins *Pins
	// Waker cuts E's waits short; E alone needs one.
	Waker *Waker
	// Budget is how long one decision may take; default 60 s.
	Budget time.Duration
	// Deadline is the step deadline where the publisher gave none; default 30
	// minutes.
	Deadline time.Duration
	// GiveUp is how long a step that has no deadline is tried again while its
	// judge fails; 0 for ever.
	GiveUp time.Duration
	// Paid: the judge costs something by the call, so that what failed tries
	// cost is kept for the label's trail.
	Paid    bool
	Log     *slog.Logger
	Metrics *Metrics
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// place is where a stage stands in the pipeline.
type place struct {
	stream, prefix string
	first          bool
}

// places maps stages to where their work lies.
func places(stage schema.Stage) (place, bool) {
	switch stage {
	case schema.StageEntity:
		return place{bus.StreamSteps, schema.PrefixSteps, true}, true
	case schema.StageAbstain:
		return place{bus.StreamAbstain, schema.PrefixAbstain, false}, true
	case schema.StageQuote:
		return place{bus.StreamQuote, schema.PrefixQuote, false}, true
	case schema.StageLocal:
		return place{bus.StreamLocal, schema.PrefixLocal, false}, true
	case schema.StageCross:
		return place{bus.StreamCross, schema.PrefixCross, false}, true
	}
	return place{}, false
}

func prefixOf(hop tree.Hop) (string, bool) {
	switch hop {
	case tree.HopAbstain:
		return schema.PrefixAbstain, true
	case tree.HopQuote:
		return schema.PrefixQuote, true
	case tree.HopLocal:
		return schema.PrefixLocal, true
	case tree.HopCross:
		return schema.PrefixCross, true
	}
	return "", false
}

// stepHandler runs one stage of the tree.
type stepHandler struct {
	o       StepOptions
	place   place
	failing failing
	owed    *owed
	settler
}

// NewStepHandler returns the handler of one stage of the tree.
func NewStepHandler(o StepOptions) (Handler, error) {
	p, ok := places(o.Stage)
	if !ok {
		return nil, fmt.Errorf("%q is no stage of the tree", o.Stage)
	}
	if o.Stage == schema.StageCross && o.Waker == nil {
		return nil, fmt.Errorf("stage %s waits for labels and needs a waker", o.Stage)
	}
	if o.Budget == 0 {
		o.Budget = 60 * time.Second
	}
	if o.Deadline == 0 {
		o.Deadline = 30 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("stage", string(o.Stage))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &stepHandler{o: o, place: p, owed: newOwed(o.Conn.JS, o.Stage, o.Paid), settler: settler{o.Conn.JS, o.Stage, o.Log, o.Metrics}}, nil
}

// StreamOf names the stream that a stage pulls from.
func StreamOf(stage schema.Stage) string {
	switch stage {
	case schema.StageSplit:
		return bus.StreamTranscripts
	case schema.StageReward:
		return bus.StreamEnds
	case schema.StageLiveAim, schema.StageLiveText:
		return bus.StreamLive
	}
	p, _ := places(stage)
	return p.stream
}

func (h *stepHandler) Handle(ctx context.Context, m *Message) Result {
	id, err := schema.ParseStep(h.place.prefix, m.Subject())
	if err != nil {
		return h.nowhere(ctx, m, schema.ReasonOf(err), err)
	}
	env, err := openEnvelope(m, h.place.first, h.o.Deadline)
	if err != nil {
		return h.giveUp(ctx, m, id, env, schema.ReasonOf(err), err.Error(), nil)
	}
	left, inTime := env.left(h.o.Now())
	if !inTime {
		return h.tooLate(ctx, m, id, env)
	}
	if h.o.Pins != nil {
		if err := h.o.Pins.Check(ctx, id.Run); err != nil {
			return h.refuse(m, env, err)
		}
	}
	t, err := h.open(ctx, m, id)
	if err != nil {
		if errors.Is(err, errPassing) {
			return h.retry(m, err)
		}
		return h.giveUp(ctx, m, id, env, schema.ReasonOf(err), err.Error(), t)
	}
	return h.decide(ctx, m, id, env, t, left)
}

// Abandon labels the step without ever decoding it.
func (h *stepHandler) Abandon(ctx context.Context, m *Message) Result {
	id, err := schema.ParseStep(h.place.prefix, m.Subject())
	if err != nil {
		return h.nowhere(ctx, m, schema.ReasonCrash, err)
	}
	env, _ := openEnvelope(m, h.place.first, h.o.Deadline) // what can be read of it
	l := ungraded(id, env.digest, h.o.Stage, schema.ReasonCrash,
		fmt.Sprintf("handling this step ended its worker more than %d times", maxAttempts), nil)
	l.AcceptedNS = env.accepted.UnixNano()
	return h.label(ctx, l, m, m.Data())
}

func (h *stepHandler) tooLate(ctx context.Context, m *Message, id schema.StepID, env envelope) Result {
	reason, detail := schema.ReasonDeadline, fmt.Sprintf("the step's deadline of %s passed before %s could judge it", env.deadline, h.o.Stage)
	if h.o.Stage == schema.StageCross {
		reason, detail = schema.ReasonUpstream, fmt.Sprintf("the labels of earlier steps did not all come within the step's deadline of %s", env.deadline)
	}
	if h.o.Pins != nil {
		if err := h.o.Pins.Pinned(ctx, id.Run); err != nil {
			reason, detail = schema.ReasonConfigMismatch, fmt.Sprintf("no %s with the run's configuration took the step within its deadline of %s: %v", h.o.Stage, env.deadline, err)
		}
	}
	return h.giveUp(ctx, m, id, env, reason, detail, &task{item: tree.Item{Trail: h.past(ctx, m, id, env.digest)}})
}

// refuse leaves a step for a stage with the run's own configuration, until its
// deadline.
func (h *stepHandler) refuse(m *Message, env envelope, err error) Result {
	var mismatch *PinMismatch
	if !errors.As(err, &mismatch) {
		return h.retry(m, err)
	}
	h.o.Log.Error("refusing a step of a run with another configuration", "error", err)
	delay := h.o.Pins.refusalDelay()
	if left, _ := env.left(h.o.Now()); env.deadline > 0 {
		delay = min(delay, left+10*time.Millisecond)
	}
	return Again(delay, "config_mismatch")
}

// giveUp labels the step ungraded; the dead letter follows.
func (h *stepHandler) giveUp(ctx context.Context, m *Message, id schema.StepID, env envelope, reason schema.Reason, detail string, t *task) Result {
	l := ungraded(id, env.digest, h.o.Stage, reason, detail, nil)
	l.AcceptedNS = env.accepted.UnixNano()
	body := m.Data()
	if t != nil {
		if t.body != nil {
			body = t.body
		}
		l.Trail, l.Quotes = t.item.Trail, t.item.Quotes
		if t.item.Step != nil {
			l.Facts = factsOf(t.item.Step, l)
		}
	}
	return h.label(ctx, l, m, body)
}

func (h *stepHandler) decide(ctx context.Context, m *Message, id schema.StepID, env envelope, t *task, left time.Duration) Result {
	var arm func(string, time.Duration)
	var drop func()
	if h.o.Stage == schema.StageCross {
		var err error
		if arm, drop, err = h.readEarlier(ctx, id, &t.item); err != nil {
			return h.retry(m, err)
		}
		defer func() {
			if drop != nil {
				drop()
			}
		}()
	}
	budget := h.o.Budget
	if env.deadline > 0 {
		budget = min(budget, left)
	}
	decideCtx, cancel := context.WithTimeoutCause(ctx, budget, errBudget)
	defer cancel()
	start := time.Now()
	item := t.item // the decider's own: one that is left behind must share nothing
	decision, err := guarded(decideCtx, func() (tree.Decision, error) { return h.o.Decider.Decide(decideCtx, &item) })
	took := time.Since(start)
	if err != nil {
		return h.failed(ctx, decideCtx, m, id, env, t, err, took)
	}
	h.failing.settled(m.Seq)
	if decision.Wait && h.o.Stage != schema.StageCross {
		return h.giveUp(ctx, m, id, env, schema.ReasonInternal, fmt.Sprintf("stage %s would wait for labels, which only %s may", h.o.Stage, schema.StageCross), t)
	}
	if decision.Wait {
		delay := backoff(m.Delivered + 3)
		if env.deadline > 0 {
			delay = min(delay, left+10*time.Millisecond)
		}
		result := Again(delay, "wait")
		if arm != nil {
			result.Wake, drop = arm, nil
		}
		return result
	}
	decision.Entry.LatencyUS = took.Microseconds()
	trail := append(h.paid(ctx, m, id, env.digest, t.item.Trail), decision.Entry)
	h.metrics.judged(decision.Entry)
	if e := decision.Entry; finiteScores(e.Scores) != e.Scores || e.Confidence != nil && !finite(*e.Confidence) {
		// Stopped here, so that the label names the stage whose judge did it.
		t.item.Trail = withoutNonNumbers(trail)
		return h.giveUp(ctx, m, id, env, schema.ReasonInternal, fmt.Sprintf("the judge of %s gave a score that is not a number", h.o.Stage), t)
	}
	if decision.Next == tree.HopDone {
		l := &schema.Label{
			Run: id.Run, Rollout: id.Rollout, Index: id.Index, Digest: env.digest,
			Label: decision.Gap, Repair: decision.Gap.Repair(), Stage: h.o.Stage,
			Reason: decision.Reason, Detail: clip(decision.Detail, 4<<10),
			Quotes: decision.Quotes, Trail: trail,
			AcceptedNS: env.accepted.UnixNano(),
		}
		l.Facts = factsOf(t.item.Step, l)
		result := h.label(ctx, l, m, t.body)
		if result.Again {
			h.owe(ctx, m, id, env.digest, t.item.Trail, decision.Entry)
		}
		return result
	}
	prefix, ok := prefixOf(decision.Next)
	if !ok {
		return h.giveUp(ctx, m, id, env, schema.ReasonInternal, fmt.Sprintf("stage %s sent the step to %q, which is no stage", h.o.Stage, decision.Next), t)
	}
	work := schema.Work{Step: t.body, Abstaining: decision.Abstaining, Quotes: decision.Quotes, Trail: trail}
	body, err := schema.Encode(&work)
	if err != nil {
		return h.giveUp(ctx, m, id, env, schema.ReasonOf(err), err.Error(), t)
	}
	if _, err := bus.Publish(ctx, h.o.Conn.JS, env.address(id.Subject(prefix), body)); err != nil {
		h.owe(ctx, m, id, env.digest, t.item.Trail, decision.Entry)
		return h.retry(m, err)
	}
	return Done(string(decision.Next))
}

var errBudget = errors.New("the judge budget ran out")

// failed turns a decider's error into a retry or an ungraded label, never into
// a gap.
func (h *stepHandler) failed(ctx, decideCtx context.Context, m *Message, id schema.StepID, env envelope, t *task, err error, took time.Duration) Result {
	je := judge.AsError(err)
	reason, detail := schema.ReasonInternal, err.Error()
	entry := schema.TrailEntry{Stage: h.o.Stage, Outcome: "error"}
	if je != nil {
		reason = je.Reason
		entry = je.Meta.Entry(h.o.Stage, "error")
	}
	entry.LatencyUS = took.Microseconds()
	h.metrics.judged(entry)
	if ctx.Err() != nil { // the process is being stopped
		h.owe(ctx, m, id, env.digest, t.item.Trail, entry)
		return Again(0, "stopped")
	}
	if errors.Is(context.Cause(decideCtx), errBudget) {
		reason = schema.ReasonJudgeTimeout
		detail = fmt.Sprintf("no verdict of %s within %s: %v", h.o.Stage, took.Round(time.Millisecond), err)
		if _, inTime := env.left(h.o.Now()); !inTime {
			reason = schema.ReasonDeadline
		}
	} else if failed := h.outlasted(m, env, je); failed > 0 {
		detail = fmt.Sprintf("the judge of %s has failed for %s: %v", h.o.Stage, failed.Round(time.Second), err)
	} else if je != nil && je.Temporary {
		entry.Detail = detail
		h.owe(ctx, m, id, env.digest, t.item.Trail, entry)
		result := h.retry(m, fmt.Errorf("%s: %w", id, err))
		result.Delay = max(result.Delay, je.RetryAfter)
		if left, _ := env.left(h.o.Now()); env.deadline > 0 {
			result.Delay = min(result.Delay, left+10*time.Millisecond)
		}
		return result
	}
	h.failing.settled(m.Seq)
	entry.Detail = clip(detail, 1<<10)
	t.item.Trail = append(h.paid(ctx, m, id, env.digest, t.item.Trail), entry)
	return h.giveUp(ctx, m, id, env, reason, detail, t)
}

// outlasted is for how long the judge has failed, if that is too long for a step
// without a deadline to be tried again; else 0.
func (h *stepHandler) outlasted(m *Message, env envelope, je *judge.Error) time.Duration {
	if je == nil || !je.Temporary || env.deadline > 0 {
		return 0
	}
	failed := h.failing.failed(m.Seq, je, h.o.Now())
	if h.o.GiveUp == 0 || failed < h.o.GiveUp {
		return 0
	}
	return failed
}

// readEarlier reads the labels of earlier steps into item. The wait is
// registered first, so that a label that comes meanwhile is not missed.
// Where all of them stand there is nothing to be woken by: arm is nil.
func (h *stepHandler) readEarlier(ctx context.Context, id schema.StepID, item *tree.Item) (arm func(string, time.Duration), drop func(), err error) {
	var indices []int
	for _, p := range item.Step.History {
		indices = append(indices, p.Index)
	}
	arm, got, drop := h.o.Waker.Expect(id.RolloutID(), indices)
	labels, err := bus.LabelsOf(ctx, h.o.Conn.JS, id.RolloutID())
	if err != nil {
		drop()
		return nil, nil, err
	}
	for i := range maps.Keys(labels) {
		got(i)
	}
	item.Earlier = labels
	if !slices.ContainsFunc(indices, func(i int) bool { return labels[i] == nil }) {
		arm = nil
	}
	return arm, drop, nil
}
