package stage

import (
	"sync"
	"time"

	"github.com/stepgap/stepgap/internal/judge"
)

// failing remembers since when a judge has failed each step, for steps that have
// no deadline and would otherwise be tried for ever. It is kept in memory: a
// process that is started anew tries anew.
type failing struct {
	mu    sync.Mutex
	since map[uint64]time.Time // by sequence in the stream
}

// failingMax bounds what is remembered: more steps than can be on their way at
// once, so that only those that another process ended fill it. Past it all is
// forgotten, which costs patience and nothing else.
const failingMax = 100_000

// failed notes a temporary failure at now, and returns for how long the judge
// has failed this step. Waiting for our own limit is no failure, but where
// endpoints have failed all the while, they have failed every step.
func (f *failing) failed(seq uint64, je *judge.Error, now time.Time) time.Duration {
	if je.Queued {
		return je.Down
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since == nil || len(f.since) >= failingMax {
		f.since = map[uint64]time.Time{}
	}
	first, ok := f.since[seq]
	if !ok {
		first = now
		f.since[seq] = now
	}
	return max(now.Sub(first), je.Down)
}

// settled forgets a step.
func (f *failing) settled(seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.since, seq)
}
