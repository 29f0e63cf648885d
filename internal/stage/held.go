package stage

import (
	"context"
	"sync"
	"time"
)

// held is the set of messages being handled; one ticker gives a sign of life
// for all of them.
type held struct {
	mu       sync.Mutex
	messages map[*Message]time.Time
}

func (h *held) add(m *Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.messages == nil {
		h.messages = map[*Message]time.Time{}
	}
	h.messages[m] = time.Now()
}

func (h *held) remove(m *Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.messages, m)
}

// signOfLife tells the server of every message that was held for age. It keeps
// the lock while it does: once remove has returned, no sign of life follows. One
// that reached the server after a NAK would undo its delay and hold the message
// back for a whole AckWait.
func (h *held) signOfLife(age time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m, since := range h.messages {
		if time.Since(since) >= age {
			// An error means that the connection is down, and that the message
			// will be redelivered.
			_ = m.InProgress()
		}
	}
}

func (h *held) keepAlive(ctx context.Context, every time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			h.signOfLife(every / 2)
		}
	})
	return func() { cancel(); done.Wait() }
}
