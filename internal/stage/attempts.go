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
	marked  map[uint64]bool // sequences with a mark of ours
	single  sync.Mutex
}

const clearedMax = 200_000

func newAttempts(kv jetstream.KeyValue, stream string) *attempts {
	return &attempts{kv: kv, prefix: stream + ".", cleared: map[uint64]bool{}, marked: map[uint64]bool{}}
}

func (a *attempts) key(seq uint64) string { return a.prefix + strconv.FormatUint(seq, 10) }

// began marks one more attempt and returns how many there were, this one
// included.
func (a *attempts) began(ctx context.Context, m *Message) (int, error) {
	a.mu.Lock()
	known := a.cleared[m.Seq]
	a.mu.Unlock()
	if known {
		return 0, nil
	}
	for {
		n, revision := 0, uint64(0)
		entry, err := a.kv.Get(ctx, a.key(m.Seq))
		switch {
		case err == nil:
			n, err = strconv.Atoi(string(entry.Value()))
			if err != nil {
				return 0, fmt.Errorf("attempts of %s: %w", m.Subject(), err)
			}
			revision = entry.Revision()
		case errors.Is(err, jetstream.ErrKeyNotFound):
		default:
			return 0, fmt.Errorf("attempts of %s: %w", m.Subject(), err)
		}
		n++
		value := []byte(strconv.Itoa(n))
		if revision == 0 {
			_, err = a.kv.Create(ctx, a.key(m.Seq), value)
		} else {
			_, err = a.kv.Update(ctx, a.key(m.Seq), value, revision)
		}
		if errors.Is(err, jetstream.ErrKeyExists) {
			continue // another process counts the same message; count after it
		}
		if err != nil {
			return 0, fmt.Errorf("attempts of %s: %w", m.Subject(), err)
		}
		a.mu.Lock()
		a.marked[m.Seq] = true
		a.mu.Unlock()
		return n, nil
	}
}

// ended removes the marks: this handling came to its end.
func (a *attempts) ended(ctx context.Context, m *Message) {
	a.mu.Lock()
	marked := a.marked[m.Seq]
	delete(a.marked, m.Seq)
	if len(a.cleared) >= clearedMax {
		clear(a.cleared)
	}
	if m.Delivered > 1 || marked {
		a.cleared[m.Seq] = true
	}
	a.mu.Unlock()
	if marked {
		// A mark that stays is one attempt too many in the count, no more.
		_ = a.kv.Purge(ctx, a.key(m.Seq))
	}
}

func (a *attempts) quarantine() (release func()) {
	a.single.Lock()
	return a.single.Unlock
}
