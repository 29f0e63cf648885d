package limit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

// Bucket is what the limiter needs of a jetstream.KeyValue.
type Bucket interface {
	Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error)
	Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error)
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	Watch(ctx context.Context, keys string, opts ...jetstream.WatchOpt) (jetstream.KeyWatcher, error)
}

// Config of a Limiter.
type Config struct {
	Limits Limits
	Bucket Bucket
	// Key of the shared document in the bucket: one an endpoint.
	Key string
	// ID names this process among those that share; it must be unique.
	ID  string
	Log *slog.Logger
}

// errLease ends calls of a process that could not renew its lease.
var errLease = errors.New("the lease on the shared limit could not be renewed in time")

// Limiter is this process's part of a shared limit. It is an llm.Limiter, safe
// for concurrent use.
type Limiter struct {
	cfg  Config
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	slots   int // how many calls may be under way
	ceiling int // during a turn: no more calls than it reported
	turning bool
	busy    int // calls that have a slot
	queue   []*waiter
	pacing  []*waiter // have a slot, wait for a time
	booking []*waiter // of these, those that the turn under way asks for
	epoch   uint64
	limit   int
	hold    time.Time // local clock
	lease   time.Time // local clock
	flights map[*flight]struct{}

	served       int
	refund       int
	limited      bool
	limitedEpoch uint64
	retryAfter   time.Duration
	settling     bool // a 429 is on its way into the document
}

// waiter is a call that waits; ready is closed when it may go on.
type waiter struct {
	cost  int
	ready chan struct{}
	at    time.Time // when it may be sent, local clock
}

// flight is a call under way.
type flight struct {
	epoch  uint64
	cost   int
	cancel context.CancelCauseFunc
}

func (l *Limiter) paced() bool {
	return l.cfg.Limits.PerSecond > 0 || l.cfg.Limits.TokensPerMinute > 0
}

// may reports whether one more call may have a slot.
func (l *Limiter) may(now time.Time) bool {
	most := l.slots
	if l.turning {
		most = min(most, l.ceiling)
	}
	return l.busy < most && !l.settling && now.Before(l.lease) && !now.Before(l.hold)
}

// admit gives slots to those that waited longest.
func (l *Limiter) admit() {
	for now := time.Now(); len(l.queue) > 0 && l.may(now); {
		w := l.queue[0]
		l.queue = l.queue[1:]
		l.busy++
		close(w.ready)
	}
}

func (l *Limiter) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Acquire implements llm.Limiter: it waits until a call of about tokens tokens
// may be sent, and returns the context to send it under, which ends with the
// lease, and what to call once it has ended.
func (l *Limiter) Acquire(ctx context.Context, tokens int) (context.Context, func(llm.Outcome), error) {
	if most := l.cfg.Limits.TokensPerMinute; most > 0 && tokens > most {
		return nil, nil, fmt.Errorf("%w: it takes about %d tokens, and %d a minute are allowed", llm.ErrOverLimit, tokens, most)
	}
	w := &waiter{cost: tokens, ready: make(chan struct{})}
	l.mu.Lock()
	l.queue = append(l.queue, w)
	l.admit()
	waiting := len(l.queue) > 0
	l.mu.Unlock()
	if waiting {
		l.poke()
	}
	select {
	case <-w.ready:
	case <-ctx.Done():
		if l.withdraw(w) {
			return nil, nil, ctx.Err()
		}
	}
	if l.paced() {
		if err := l.pace(ctx, w); err != nil {
			l.finish()
			return nil, nil, err
		}
	}
	return l.begin(ctx, tokens)
}

// withdraw takes w out of the queue; false if it has been given a slot.
func (l *Limiter) withdraw(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	return i >= 0
}

// pace waits for the time at which a call that has its slot may be sent.
func (l *Limiter) pace(ctx context.Context, w *waiter) error {
	w.ready = make(chan struct{})
	l.mu.Lock()
	l.pacing = append(l.pacing, w)
	l.mu.Unlock()
	l.poke()
	select {
	case <-w.ready:
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		if i := slices.Index(l.pacing, w); i >= 0 {
			l.pacing = slices.Delete(l.pacing, i, i+1)
		} else {
			l.refund += w.cost
		}
		return ctx.Err()
	}
	timer := time.NewTimer(time.Until(w.at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refund += w.cost
		return ctx.Err()
	}
}

func (l *Limiter) begin(ctx context.Context, tokens int) (context.Context, func(llm.Outcome), error) {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &flight{cost: tokens, cancel: cancel}
	l.mu.Lock()
	f.epoch = l.epoch
	if time.Now().After(l.lease) { // it ran out while the call waited for its time
		l.mu.Unlock()
		cancel(errLease)
		l.finish()
		return nil, nil, errLease
	}
	l.flights[f] = struct{}{}
	l.mu.Unlock()
	return ctx, func(o llm.Outcome) {
		l.ended(f, o)
		cancel(nil)
	}, nil
}

// ended takes in what came of a call.
func (l *Limiter) ended(f *flight, o llm.Outcome) {
	l.mu.Lock()
	delete(l.flights, f)
	switch {
	case o.Limited:
		if f.epoch >= l.epoch {
			// Nothing more is sent until the lower limit stands: the slot would
			// only meet the next 429.
			l.limited, l.limitedEpoch, l.retryAfter = true, f.epoch, max(l.retryAfter, o.RetryAfter)
			l.settling = true
		}
		l.refund += f.cost
	case o.OK:
		l.served++
		if o.Tokens > 0 {
			l.refund += f.cost - o.Tokens
		}
	}
	l.mu.Unlock()
	l.finish()
}

// finish returns a slot to those that wait here.
func (l *Limiter) finish() {
	l.mu.Lock()
	l.busy--
	l.admit()
	l.mu.Unlock()
	l.poke()
}

// Snapshot says how the limiter stands, for metrics.
type Snapshot struct {
	// Limit is the shared limit on calls at once; Slots is this process's part
	// of it, Busy of these are in use, and Waiting calls have none.
	Limit, Slots, Busy, Waiting int
}

// Snapshot returns how the limiter stands now.
func (l *Limiter) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Snapshot{Limit: l.limit, Slots: l.slots, Busy: l.busy, Waiting: len(l.queue)}
}

// Close gives the lease back and ends the calls that are under way.
func (l *Limiter) Close() {
	l.stop()
	<-l.done
}

var _ llm.Limiter = (*Limiter)(nil)
