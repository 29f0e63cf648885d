package cache

import (
	"sync"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

// flights are the questions that are being asked now, each by one goroutine.
type flights struct {
	mu  sync.Mutex
	now map[string]*flight
}

type flight struct {
	done chan struct{}
	// verdict is nil if the one who asked got none; set before done is closed.
	verdict *llm.Remembered
}

func newFlights() *flights { return &flights{now: map[string]*flight{}} }

// join returns the flight for key, and whether the caller is to ask.
func (f *flights) join(key string) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ongoing := f.now[key]; ongoing != nil {
		return ongoing, false
	}
	own := &flight{done: make(chan struct{})}
	f.now[key] = own
	return own, true
}

func (f *flights) end(key string, own *flight) {
	f.mu.Lock()
	delete(f.now, key)
	f.mu.Unlock()
	close(own.done)
}
