package limit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// calm is the least time between two turns that can wait.
	calm = 20 * time.Millisecond
	// look is how often a process that wants more looks at the document it has,
	// which costs nothing.
	look = 250 * time.Millisecond
	// patience bounds one exchange with the bucket; a fifth of the lease does,
	// if that is less.
	patience = 2 * time.Second
)

// agent keeps the lease: it alone reads and writes the shared document.
type agent struct {
	*Limiter
	state    State
	revision uint64
	offset   time.Duration // the server's clock less ours
	wrote    uint64        // a revision of ours, written at wroteAt
	wroteAt  time.Time
	last     time.Time // last turn that came through
	want     int       // as last reported
	later    time.Time // when calls that got no time ask again
	failed   int       // turns in a row that did not come through
	retry    time.Time // not before then
	log      *slog.Logger
}

// Open joins the processes that share cfg.Key. Close leaves them.
func Open(ctx context.Context, cfg Config) (*Limiter, error) {
	if cfg.Limits.Lease == 0 {
		cfg.Limits.Lease = 10 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &Limiter{cfg: cfg, wake: make(chan struct{}, 1), stop: stop, done: make(chan struct{}), flights: map[*flight]struct{}{}}
	a := &agent{Limiter: l, log: cfg.Log.With("limit", cfg.Key)}
	if err := a.join(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("joining the shared limit %s: %w", cfg.Key, err)
	}
	watcher, err := cfg.Bucket.Watch(running, cfg.Key)
	if err != nil {
		stop()
		return nil, fmt.Errorf("watching the shared limit %s: %w", cfg.Key, err)
	}
	go func() {
		defer close(l.done)
		a.run(running, watcher.Updates())
		_ = watcher.Stop() // its context is done
		a.leave()
	}()
	return l, nil
}

// join writes the document once as it stands, to learn the server's clock, and
// then takes a first turn.
func (a *agent) join(ctx context.Context) error {
	for {
		if err := a.read(ctx); err != nil {
			return err
		}
		start := time.Now()
		err := a.write(ctx, a.state)
		if errors.Is(err, errConflict) {
			continue
		}
		if err != nil {
			return err
		}
		middle := start.Add(time.Since(start) / 2)
		wrote := a.revision
		entry, err := a.cfg.Bucket.Get(ctx, a.cfg.Key)
		if err != nil {
			return err
		}
		a.take(entry)
		if entry.Revision() == wrote {
			a.offset = entry.Created().Sub(middle)
			break
		}
	}
	return a.turn(ctx)
}

func (a *agent) run(ctx context.Context, updates <-chan jetstream.KeyValueEntry) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		case <-timer.C:
		case entry, ok := <-updates:
			if !ok {
				updates = nil // stopped; turns still read the document
			}
			if entry != nil && entry.Revision() > a.revision {
				a.take(entry)
			}
			if entry != nil {
				a.learn(entry)
			}
		}
		a.fence()
		wait := a.due()
		if wait <= 0 {
			if err := a.turn(ctx); err != nil && ctx.Err() == nil {
				wait = min(50*time.Millisecond<<min(a.failed, 6), patience)
				a.failed, a.retry = a.failed+1, time.Now().Add(wait)
				a.log.Warn("writing the shared limit failed; trying again", "error", err, "in", wait)
			} else {
				a.failed, a.retry = 0, time.Time{}
			}
			wait = a.due()
		}
		timer.Reset(max(wait, time.Millisecond))
	}
}

// learn corrects the clock by the server's stamp on a write of ours.
func (a *agent) learn(entry jetstream.KeyValueEntry) {
	if entry.Revision() == a.wrote {
		a.offset = entry.Created().Sub(a.wroteAt)
	}
}

// fence ends what is under way once the lease has run out: the others are about
// to take its slots.
func (a *agent) fence() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.lease) {
		a.admit() // a hold may be over
		return
	}
	for f := range a.flights {
		f.cancel(errLease)
	}
	a.slots = 0
}

// report is what the process has to say now. While it is being written, no more
// calls begin than it says.
func (a *agent) report(freeze bool) Turn {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := Turn{
		ID: a.cfg.ID, Busy: a.busy, Want: a.busy + len(a.queue),
		Served: a.served, Refund: a.refund,
		Limited: a.limited, LimitedEpoch: a.limitedEpoch, RetryAfter: a.retryAfter,
	}
	for _, w := range a.pacing {
		t.Costs = append(t.Costs, w.cost)
	}
	if freeze {
		a.turning, a.ceiling = true, a.busy
		a.booking = slices.Clone(a.pacing)
	}
	return t
}

// due is how long the next turn can wait; 0 for not at all.
func (a *agent) due() time.Duration {
	if wait := time.Until(a.retry); wait > 0 {
		return wait
	}
	t := a.report(false)
	since := time.Since(a.last)
	if t.Limited || since >= a.cfg.Limits.Lease/3 {
		return 0
	}
	renew := a.cfg.Limits.Lease/3 - since
	if len(t.Costs) > 0 {
		if wait := time.Until(a.later); wait > 0 {
			renew = min(renew, wait)
		} else {
			return 0
		}
	}
	a.mu.Lock()
	slots, hold := a.slots, time.Until(a.hold)
	a.mu.Unlock()
	if hold > 0 {
		return min(renew, hold)
	}
	_, g := a.state.Next(a.cfg.Limits, a.now(), t)
	most := a.cfg.Limits.most()
	if g.Slots < slots {
		return 0 // the others wait for it
	}
	news := g.Slots > slots || g.Held != a.state.Members[a.cfg.ID].Slots || g.Epoch != a.epoch ||
		t.Want != a.want && (t.Want > slots || a.want > slots) ||
		t.Served >= 2*max(1, g.Limit) && t.Want >= slots && g.Limit < most
	switch {
	case news && since >= calm:
		return 0
	case news:
		return calm - since
	case t.Want > slots:
		return min(renew, look)
	}
	return renew
}

func (a *agent) now() int64 { return time.Now().Add(a.offset).UnixNano() }

// turn writes what the process reports and takes what it is granted.
func (a *agent) turn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(patience, a.cfg.Limits.Lease/5))
	defer cancel()
	t := a.report(true)
	defer func() {
		a.mu.Lock()
		a.turning = false
		a.admit()
		a.mu.Unlock()
	}()
	for {
		start := time.Now()
		next, grant := a.state.Next(a.cfg.Limits, a.now(), t)
		err := a.write(ctx, next)
		if errors.Is(err, errConflict) {
			err = a.read(ctx)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		a.wrote, a.wroteAt = a.revision, start.Add(time.Since(start)/2)
		a.last, a.want = start, min(t.Want, grant.Limit+1)
		a.granted(start, t, grant)
		return nil
	}
}

// granted takes in what a turn has brought.
func (a *agent) granted(start time.Time, t Turn, g Grant) {
	local := func(ns int64) time.Time { return time.Unix(0, ns).Add(-a.offset) }
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slots, a.limit, a.epoch = g.Slots, g.Limit, g.Epoch
	// The others wait for the whole lease; the rest is for the clocks, and for
	// a turn that does not come through.
	a.lease = start.Add(a.cfg.Limits.Lease * 7 / 10)
	a.hold = time.Time{}
	if g.Hold > 0 {
		a.hold = local(g.Hold)
	}
	a.served -= t.Served
	a.refund -= t.Refund
	if a.limitedEpoch == t.LimitedEpoch {
		a.limited, a.retryAfter, a.settling = false, 0, false
	}
	a.later = time.Time{}
	if g.Later > 0 {
		a.later = local(g.Later)
	}
	for i, at := range g.Sends {
		w := a.booking[i]
		k := slices.Index(a.pacing, w)
		if k < 0 { // it has given up meanwhile
			a.refund += w.cost
			continue
		}
		a.pacing = slices.Delete(a.pacing, k, k+1)
		w.at = local(at)
		close(w.ready)
	}
}

// leave gives the lease back, as far as the bucket can be reached.
func (a *agent) leave() {
	a.mu.Lock()
	a.lease = time.Time{}
	for f := range a.flights {
		f.cancel(context.Canceled)
	}
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		next, _ := a.state.Next(a.cfg.Limits, a.now(), Turn{ID: a.cfg.ID, Leave: true})
		err := a.write(ctx, next)
		if errors.Is(err, errConflict) {
			if err = a.read(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			a.log.Debug("giving the lease back failed; it runs out by itself", "error", err)
		}
		return
	}
}

// errConflict says that another process has written meanwhile.
var errConflict = errors.New("the document has changed")

func (a *agent) write(ctx context.Context, s State) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding the document: %w", err)
	}
	var revision uint64
	if a.revision == 0 {
		revision, err = a.cfg.Bucket.Create(ctx, a.cfg.Key, b)
	} else {
		revision, err = a.cfg.Bucket.Update(ctx, a.cfg.Key, b, a.revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		return errConflict
	}
	if err != nil {
		return err
	}
	a.state, a.revision = s, revision
	return nil
}

func (a *agent) read(ctx context.Context) error {
	entry, err := a.cfg.Bucket.Get(ctx, a.cfg.Key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		a.state, a.revision = State{}, 0
		return nil
	}
	if err != nil {
		return err
	}
	a.take(entry)
	return nil
}

// take takes the document over. One that can't be read is started afresh: it
// holds nothing that isn't found out again.
func (a *agent) take(entry jetstream.KeyValueEntry) {
	a.state, a.revision = State{}, entry.Revision()
	if entry.Operation() != jetstream.KeyValuePut {
		a.revision = 0
		return
	}
	if err := json.Unmarshal(entry.Value(), &a.state); err != nil {
		a.log.Error("the shared limit can't be read; it is started afresh", "error", err)
		a.state = State{}
	}
}
