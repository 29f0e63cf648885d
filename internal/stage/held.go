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

func (h *held) olderThan(age time.Duration) []*Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	var old []*Message
	for m, since := range h.messages {
		if time.Since(since) >= age {
			old = append(old, m)
		}
	}
	return old
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
			for _, m := range h.olderThan(every / 2) {
				// An error means that the message was settled meanwhile, or
				// that the connection is down and it will be redelivered.
				_ = m.InProgress()
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
