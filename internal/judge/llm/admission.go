package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Outcome is what came of one HTTP attempt.
type Outcome struct {
	// OK: it was answered as asked.
	OK bool
	// Limited: the endpoint said 429, and asked to be left alone for
	// RetryAfter; 0 if it didn't say.
	Limited    bool
	RetryAfter time.Duration
	// Tokens is what the endpoint counted; 0 where unknown.
	Tokens int
}

// Limiter bounds the HTTP attempts at one endpoint, together with whoever else
// calls it.
type Limiter interface {
	// Acquire waits until an attempt of about tokens tokens, input and output,
	// may be sent. It returns the context to send it under, which ends when
	// the permission does, and what must be called once it has ended. An error
	// that is not ErrOverLimit passes.
	Acquire(ctx context.Context, tokens int) (context.Context, func(Outcome), error)
}

// Attempt describes a finished HTTP attempt to an observer.
type Attempt struct {
	Endpoint string
	// Outcome is ok, limited, refused (another 4xx), failed (5xx, network),
	// timeout or cancelled.
	Outcome string
	Took    time.Duration
	// Hedge: it was the second of two sent for one question.
	Hedge bool
}

// ErrOverLimit is what a Limiter returns for an attempt that its limit allows at
// no time.
var ErrOverLimit = errors.New("the call is larger than the limit allows")

// errQueued says that an attempt had to wait for its turn for too long, and was
// not sent.
var errQueued = errors.New("its turn under the shared limit did not come in time")

// downError says that no endpoint is up; nothing was sent.
type downError struct {
	since time.Time
	// next is how long until the next probe.
	next time.Duration
}

func (e *downError) Error() string {
	return "the endpoint has been down since " + e.since.UTC().Format(time.RFC3339)
}

// admit waits for the endpoint's limiter, at most for MaxWait and half of what
// is left of ctx, so that a step whose turn doesn't come goes back to the
// stream instead of spending its budget here.
func (t *transport) admit(ctx context.Context, e *endpoint, tokens int) (context.Context, func(Outcome), error) {
	if e.limiter == nil {
		return ctx, func(Outcome) {}, nil
	}
	wait := t.cfg.MaxWait
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, deadline.Sub(t.now())/2)
	}
	// The wait's time-out must not reach the attempt itself.
	waiting, stop := context.WithCancelCause(ctx)
	timer := time.AfterFunc(wait, func() { stop(errQueued) })
	sending, done, err := e.limiter.Acquire(waiting, tokens)
	if !timer.Stop() && err == nil {
		done(Outcome{})
		err = errQueued
	}
	if err != nil {
		late := errors.Is(context.Cause(waiting), errQueued)
		stop(nil)
		switch {
		case ctx.Err() != nil, errors.Is(err, ErrOverLimit):
			return nil, nil, err
		case late:
			return nil, nil, errQueued
		}
		return nil, nil, fmt.Errorf("%w: %w", errQueued, err) // nothing was sent
	}
	return sending, func(o Outcome) { done(o); stop(nil) }, nil
}
