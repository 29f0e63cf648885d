package stage

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Waker cuts waits short. A message that waits for labels has been sent back to
// the server with a delay; when the last of its labels goes by on a plain
// subscription, the waker asks for it at once. It holds no message, only the
// reply subject under which the server can be told, so a waker that dies or
// forgets costs the rest of the delay and nothing else.
type Waker struct {
	nc  *nats.Conn
	sub *nats.Subscription

	mu    sync.Mutex
	waits map[schema.RolloutID]map[*wait]bool
	count int
	// recent and older are the labels that went by in the last seconds: a
	// plain subscription sees a label before the stream has stored it, so a
	// reader can be told of it, read, and not find it yet.
	recent, older map[schema.StepID]bool
	turned        time.Time
}

// recentFor is how long, at least, a label counts as on its way into the
// stream.
const recentFor = time.Second

type wait struct {
	missing map[int]bool
	reply   string // set once the server has the message back
	ready   bool   // the last label came before reply was known
	dropped bool
	expiry  *time.Timer
}

// unarmedMax is how long a wait that is never armed is kept: longer than any
// handling.
const unarmedMax = 5 * time.Minute

// wakerMax bounds the memory of a waker; beyond it, waits run their full delay.
const wakerMax = 500_000

// NewWaker subscribes to every label.
func NewWaker(nc *nats.Conn) (*Waker, error) {
	w := &Waker{nc: nc, waits: map[schema.RolloutID]map[*wait]bool{}, recent: map[schema.StepID]bool{}}
	sub, err := nc.Subscribe(schema.PrefixLabels+".*.*.*", w.seen)
	if err != nil {
		return nil, fmt.Errorf("subscribing to labels: %w", err)
	}
	// A waker that falls behind must not be cut off.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, fmt.Errorf("subscribing to labels: %w", err)
	}
	w.sub = sub
	return w, nil
}

// Close ends the subscription.
func (w *Waker) Close() { _ = w.sub.Unsubscribe() }

// Expect registers a wait for the labels of id at missing. It is called before
// the labels are read, so that none slips between reading and waiting. drop
// ends it; armed with the reply subject of a message that the server has back,
// it takes effect until the delay is over and the message comes anyway: a later
// NAK would have it delivered while it is being handled.
func (w *Waker) Expect(id schema.RolloutID, missing []int) (arm func(reply string, delay time.Duration), got func(index int), drop func()) {
	entry := &wait{missing: map[int]bool{}}
	w.mu.Lock()
	for _, i := range missing {
		if step := id.Step(i); !w.recent[step] && !w.older[step] {
			entry.missing[i] = true
		}
	}
	entry.ready = len(entry.missing) == 0
	if w.count < wakerMax {
		if w.waits[id] == nil {
			w.waits[id] = map[*wait]bool{}
		}
		w.waits[id][entry] = true
		w.count++
	} else {
		entry.dropped = true
	}
	drop = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.forget(id, entry)
	}
	entry.expiry = time.AfterFunc(unarmedMax, drop)
	w.mu.Unlock()
	arm = func(reply string, delay time.Duration) {
		w.mu.Lock()
		entry.reply = reply
		ready := entry.ready && !entry.dropped
		if ready {
			w.forget(id, entry)
		} else if !entry.dropped {
			entry.expiry.Reset(delay)
		}
		w.mu.Unlock()
		if ready {
			w.wake(reply)
		}
	}
	got = func(index int) { w.arrived(id, index, entry) }
	return arm, got, drop
}

func (w *Waker) seen(m *nats.Msg) {
	id, err := schema.ParseStep(schema.PrefixLabels, m.Subject)
	if err != nil {
		return
	}
	w.mu.Lock()
	if now := time.Now(); now.Sub(w.turned) > recentFor {
		w.older, w.recent, w.turned = w.recent, map[schema.StepID]bool{}, now
	}
	w.recent[id] = true
	w.mu.Unlock()
	w.arrived(id.RolloutID(), id.Index, nil)
}

// arrived notes a label, for one wait or for all of its rollout.
func (w *Waker) arrived(id schema.RolloutID, index int, only *wait) {
	var replies []string
	w.mu.Lock()
	for entry := range w.waits[id] {
		if only != nil && entry != only {
			continue
		}
		delete(entry.missing, index)
		if len(entry.missing) > 0 || entry.ready {
			continue
		}
		entry.ready = true
		if entry.reply != "" {
			replies = append(replies, entry.reply)
			w.forget(id, entry)
		}
	}
	w.mu.Unlock()
	for _, reply := range replies {
		w.wake(reply)
	}
}

// forget is called with mu held.
func (w *Waker) forget(id schema.RolloutID, entry *wait) {
	if entry.dropped {
		return
	}
	entry.dropped = true
	entry.expiry.Stop()
	delete(w.waits[id], entry)
	if len(w.waits[id]) == 0 {
		delete(w.waits, id)
	}
	w.count--
}

// wakeDelay is about what the stream takes to store a label that went by.
const wakeDelay = 10 * time.Millisecond

// wake sends a bare Nak for a message that is already waiting out a delay: the
// server then delivers it at once. (A Nak with a shorter delay does not do it:
// the server looks at delays in its own time.)
func (w *Waker) wake(reply string) {
	time.AfterFunc(wakeDelay, func() {
		_ = w.nc.Publish(reply, []byte("-NAK")) // lost: the delay runs its course
	})
}
