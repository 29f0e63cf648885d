package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Message is a delivery, its metadata parsed once.
type Message struct {
	jetstream.Msg
	Delivered int       // times delivered, this one included
	Seq       uint64    // in its stream
	Time      time.Time // the server's time stamp
}

// Header returns the first value of a header.
func (m *Message) Header(key string) string { return m.Headers().Get(key) }

// Result says what becomes of a delivery.
type Result struct {
	// Again is set when the message must be delivered again, after Delay.
	Again bool
	Delay time.Duration
	// Wake, if set, is called once the server has been told, with the reply
	// subject by which the wait can be cut short, and Delay.
	Wake func(reply string, delay time.Duration)
	// Outcome is for metrics and logs.
	Outcome string
}

// Done acknowledges the message.
func Done(outcome string) Result { return Result{Outcome: outcome} }

// Again asks for the message after delay.
func Again(delay time.Duration, outcome string) Result {
	return Result{Again: true, Delay: delay, Outcome: outcome}
}

// Handler is what a loop runs. Both methods must be safe for concurrent use and
// may be called more than once for one message.
type Handler interface {
	// Handle does everything the message asks for, and returns only when what
	// follows from it is safely published.
	Handle(ctx context.Context, m *Message) Result
	// Abandon is called instead of Handle for a message whose handling ended
	// the worker again and again. It must not decode the body.
	Abandon(ctx context.Context, m *Message) Result
}

// Runner pulls from one durable consumer.
type Runner struct {
	Conn    *bus.Conn
	Stream  string
	Stage   schema.Stage
	Handler Handler
	// Gate, if set, is asked before each pull.
	Gate Gate
	// Workers is how many messages are handled at once; default 32.
	Workers int
	// Priority is from 0, served first, to 9, where the consumer ranks those
	// who pull (see bus.GroupWorkers).
	Priority int
	// AckWait is that of the consumer; a sign of life is given every third.
	AckWait time.Duration
	// DrainTimeout is how long handlers may take to end after the context of
	// Run is done; default 20 s.
	DrainTimeout time.Duration
	Log          *slog.Logger
	Metrics      *Metrics

	attempts *attempts
	held     held
	turned   atomic.Int64
}

// Run pulls until ctx is done, then waits for the handlers that are at work. It
// returns an error only if the loop could not be started.
func (r *Runner) Run(ctx context.Context) error {
	if r.Workers == 0 {
		r.Workers = 32
	}
	if r.AckWait == 0 {
		r.AckWait = 30 * time.Second
	}
	if r.DrainTimeout == 0 {
		r.DrainTimeout = 20 * time.Second
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	r.Log = r.Log.With("stage", string(r.Stage))
	kv, err := r.Conn.JS.KeyValue(ctx, bus.BucketAttempts)
	if ctx.Err() != nil {
		return nil // stopped before it began
	}
	if err != nil {
		return fmt.Errorf("stage %s: opening bucket %s: %w", r.Stage, bus.BucketAttempts, err)
	}
	r.attempts = newAttempts(kv, r.Stream)

	// Handlers outlive ctx: they are given DrainTimeout to end by themselves.
	work, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	stopLife := r.held.keepAlive(work, r.AckWait/3)
	defer stopLife()

	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() { r.worker(ctx, work) })
	}
	<-ctx.Done()
	drained := make(chan struct{})
	go func() { workers.Wait(); close(drained) }()
	timer := time.NewTimer(r.DrainTimeout)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
		r.Log.Warn("handlers still at work after the drain time-out; their messages will be delivered again", "timeout", r.DrainTimeout)
		cut(errDraining)
		<-drained
	}
	return nil
}

var errDraining = errors.New("shutting down")

// LastTurn is when the loop last got a message or asked for one.
func (r *Runner) LastTurn() time.Time { return time.Unix(0, r.turned.Load()) }

// worker holds one pull of one message at a time, so that nothing waits in a
// buffer with its AckWait running while another replica is idle.
func (r *Runner) worker(ctx, work context.Context) {
	backoff := 100 * time.Millisecond
	for ctx.Err() == nil {
		err := r.pull(ctx, work)
		if ctx.Err() != nil {
			return
		}
		r.Log.Warn("pulling failed; trying again", "error", err, "in", backoff)
		select {
		case <-ctx.Done():
			return
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, 5*time.Second)
	}
}

func (r *Runner) pull(ctx, work context.Context) error {
	consumer, err := r.Conn.JS.Consumer(ctx, r.Stream, string(r.Stage))
	if err != nil {
		return fmt.Errorf("looking up consumer %s of %s: %w", r.Stage, r.Stream, err)
	}
	options := []jetstream.PullMessagesOpt{jetstream.PullMaxMessages(1), jetstream.PullExpiry(10 * time.Second), jetstream.PullHeartbeat(4 * time.Second)}
	// By what the server has, not by what it should have: with --topology skip
	// the consumer may be older than the group.
	if slices.Contains(consumer.CachedInfo().Config.PriorityGroups, bus.GroupWorkers) {
		options = append(options, jetstream.PullPriorityGroup(bus.GroupWorkers), jetstream.PullPrioritized(r.Priority))
	}
	messages, err := consumer.Messages(options...)
	if err != nil {
		return fmt.Errorf("pulling from %s: %w", r.Stream, err)
	}
	defer messages.Stop()
	for {
		r.turned.Store(time.Now().UnixNano())
		if err := r.pass(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting to pull from %s: %w", r.Stream, err)
		}
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil && msg == nil {
			r.giveBack(messages)
			return nil
		}
		if err != nil {
			return fmt.Errorf("pulling from %s: %w", r.Stream, err)
		}
		r.one(work, msg)
		if ctx.Err() != nil {
			r.giveBack(messages)
			return nil
		}
	}
}

// giveBack returns a message that arrived while the loop was being stopped, so
// that it need not wait for its AckWait.
func (r *Runner) giveBack(messages jetstream.MessagesContext) {
	messages.Drain()
	for {
		msg, err := messages.Next()
		if err != nil {
			return
		}
		if err := msg.Nak(); err != nil {
			r.Log.Warn("giving a message back failed; it will be delivered again after AckWait", "subject", msg.Subject(), "error", err)
		}
	}
}

func (r *Runner) one(ctx context.Context, msg jetstream.Msg) {
	meta, err := msg.Metadata()
	if err != nil {
		r.Log.Error("a delivery without metadata", "subject", msg.Subject(), "error", err)
		return
	}
	m := &Message{Msg: msg, Delivered: int(meta.NumDelivered), Seq: meta.Sequence.Stream, Time: meta.Timestamp}
	start := time.Now()
	r.held.add(m)
	defer r.held.remove(m)

	result, clean := r.handle(ctx, m)
	if r.Metrics != nil {
		r.Metrics.observe(r.Stage, result.Outcome, time.Since(start))
	}
	if result.Again {
		if clean {
			r.attempts.ended(ctx, m, true)
		}
		r.held.remove(m)
		if err := m.NakWithDelay(result.Delay); err != nil {
			r.Log.Warn("asking for a message again failed; it will be delivered after AckWait", "subject", m.Subject(), "error", err)
			return
		}
		if result.Wake != nil {
			result.Wake(m.Reply(), result.Delay)
		}
		return
	}
	ackCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := m.DoubleAck(ackCtx); err != nil {
		r.Log.Warn("acknowledging failed; the message will be delivered and handled again", "subject", m.Subject(), "error", err)
		return
	}
	r.attempts.ended(ackCtx, m, false)
}

// handle runs the handler, and reports whether it came to an end by itself.
func (r *Runner) handle(ctx context.Context, m *Message) (result Result, clean bool) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("handling panicked", "subject", m.Subject(), "delivered", m.Delivered, "panic", p, "stack", string(debug.Stack()))
			if err := r.attempts.panicked(ctx, m); err != nil {
				r.Log.Error("marking the attempt failed", "subject", m.Subject(), "error", err)
			}
			result, clean = Again(time.Second, "panic"), false
		}
	}()
	if m.Delivered > 1 {
		over, err := r.attempts.began(ctx, m)
		switch {
		case errors.Is(err, errWornOut):
			r.Log.Error("giving up on a message that ended its worker again and again", "subject", m.Subject(), "attempts", maxAttempts)
			return r.Handler.Abandon(ctx, m), true
		case errors.Is(err, errQuarantine):
			return Again(backoff(1), "quarantine"), false
		case err != nil:
			r.Log.Warn("counting attempts failed", "subject", m.Subject(), "error", err)
			return Again(time.Second, "retry"), false
		}
		defer over()
	}
	return r.Handler.Handle(ctx, m), true
}
