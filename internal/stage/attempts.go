package stage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// maxAttempts is how often a message may end its worker.
	maxAttempts = 8
	// quarantineAfter attempts a message is handled one at a time.
	quarantineAfter = 3
)

// attempts counts handlings that began and never ended, across processes. The
// server's delivery count can't serve: it also counts every wait and every
// retry while an endpoint is down. A first delivery costs nothing here; a
// redelivery that this process has itself sent back costs nothing either.
type attempts struct {
	kv     jetstream.KeyValue
	prefix string

	mu      sync.Mutex
	cleared map[uint64]bool // sequences that this process sent back in good order
	marked  map[uint64]bool // sequences with a mark that we know of
	single  sync.Mutex      // held while a suspect is handled
}

const clearedMax = 200_000

var (
	// errWornOut says that a message has had all of its attempts.
	errWornOut = errors.New("handling it ended its worker again and again")
	// errQuarantine says that another suspect is being handled.
	errQuarantine = errors.New("another suspect is being handled")
)

func newAttempts(kv jetstream.KeyValue, stream string) *attempts {
	return &attempts{kv: kv, prefix: stream + ".", cleared: map[uint64]bool{}, marked: map[uint64]bool{}}
}

func (a *attempts) key(seq uint64) string { return a.prefix + strconv.FormatUint(seq, 10) }

// began marks that m, which was delivered before, is about to be handled, and
// returns what to call when the handling is over. One suspect is handled at a
// time, so that what was in flight beside the culprit gets through and only the
// culprit goes on counting; a suspect is marked only once its turn has come, or
// the culprit's end would count for all that wait behind it. The error is
// errWornOut, errQuarantine, or one of the store.
func (a *attempts) began(ctx context.Context, m *Message) (over func(), err error) {
	a.mu.Lock()
	known := a.cleared[m.Seq]
	a.mu.Unlock()
	if known {
		return func() {}, nil
	}
	over = func() {}
	err = a.raise(ctx, m, func(n int) error {
		if n >= maxAttempts {
			return errWornOut
		}
		if n >= quarantineAfter {
			if !a.single.TryLock() {
				return errQuarantine
			}
			over = sync.OnceFunc(a.single.Unlock)
		}
		return nil
	})
	if err != nil {
		over()
		return nil, err
	}
	return over, nil
}

// panicked marks a handling that came to no good end and was not marked when it
// began.
func (a *attempts) panicked(ctx context.Context, m *Message) error {
	a.mu.Lock()
	known := m.Delivered == 1 || a.cleared[m.Seq]
	delete(a.cleared, m.Seq)
	a.mu.Unlock()
	if !known {
		return nil
	}
	return a.raise(ctx, m, func(int) error { return nil })
}

// raise adds one to the count of m, if may agrees to the count so far. It asks
// once, however often another process's writing makes it start over.
func (a *attempts) raise(ctx context.Context, m *Message, may func(n int) error) error {
	for asked := false; ; {
		n, revision, err := a.count(ctx, m)
		if err != nil {
			return err
		}
		if !asked {
			if err := may(n); err != nil {
				return err
			}
			asked = true
		}
		value := []byte(strconv.Itoa(n + 1))
		if revision == 0 {
			_, err = a.kv.Create(ctx, a.key(m.Seq), value)
		} else {
			_, err = a.kv.Update(ctx, a.key(m.Seq), value, revision)
		}
		if errors.Is(err, jetstream.ErrKeyExists) {
			continue // another process counts the same message; count after it
		}
		if err != nil {
			return fmt.Errorf("attempts of %s: %w", m.Subject(), err)
		}
		a.mark(m.Seq)
		return nil
	}
}

func (a *attempts) count(ctx context.Context, m *Message) (n int, revision uint64, err error) {
	entry, err := a.kv.Get(ctx, a.key(m.Seq))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("attempts of %s: %w", m.Subject(), err)
	}
	if n, err = strconv.Atoi(string(entry.Value())); err != nil {
		return 0, 0, fmt.Errorf("attempts of %s: %w", m.Subject(), err)
	}
	a.mark(m.Seq)
	return n, entry.Revision(), nil
}

func (a *attempts) mark(seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.marked[seq] = true
}

// ended removes the marks: this handling came to its end, and the message is
// settled or, if again is set, sent back in good order.
func (a *attempts) ended(ctx context.Context, m *Message, again bool) {
	a.mu.Lock()
	marked := a.marked[m.Seq]
	delete(a.marked, m.Seq)
	delete(a.cleared, m.Seq)
	if again && (m.Delivered > 1 || marked) {
		if len(a.cleared) >= clearedMax {
			clear(a.cleared)
		}
		a.cleared[m.Seq] = true
	}
	a.mu.Unlock()
	if marked {
		// A mark that stays is one attempt too many in the count, no more.
		_ = a.kv.Purge(ctx, a.key(m.Seq))
	}
}
