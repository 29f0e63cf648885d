package gateway

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// slots bounds what is under way at once.
type slots chan struct{}

// take returns a function that gives the slot back, which may be called more
// than once, or nil if there is none.
func (s slots) take() func() {
	select {
	case s <- struct{}{}:
		return sync.OnceFunc(func() { <-s })
	default:
		return nil
	}
}

// rates bounds what each caller may ask for a second.
type rates struct {
	limit rate.Limit
	burst int

	mu  sync.Mutex
	all map[string]*callerRate
}

type callerRate struct {
	limiter *rate.Limiter
	used    time.Time
}

// manyCallers is when callers that have been quiet are forgotten.
const manyCallers = 1024

// newRates allows each caller limit a second, and burst at once; nil for no
// bound.
func newRates(limit float64, burst int) *rates {
	if limit <= 0 {
		return nil
	}
	return &rates{limit: rate.Limit(limit), burst: max(burst, int(math.Ceil(limit))), all: map[string]*callerRate{}}
}

// take charges caller with n, or says how long it must wait.
func (r *rates) take(caller string, n int, now time.Time) time.Duration {
	if r == nil {
		return 0
	}
	reservation := r.of(caller, now).ReserveN(now, n)
	if !reservation.OK() {
		return time.Second // more than a burst: can't be, since burst holds a batch
	}
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (r *rates) of(caller string, now time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.all[caller]
	if c == nil {
		if len(r.all) >= manyCallers {
			r.forget(now)
		}
		c = &callerRate{limiter: rate.NewLimiter(r.limit, r.burst)}
		r.all[caller] = c
	}
	c.used = now
	return c.limiter
}

// forget drops callers whose allowance is whole again: forgetting them changes
// nothing.
func (r *rates) forget(now time.Time) {
	whole := time.Duration(float64(r.burst) / float64(r.limit) * float64(time.Second))
	for name, c := range r.all {
		if now.Sub(c.used) >= whole {
			delete(r.all, name)
		}
	}
}
