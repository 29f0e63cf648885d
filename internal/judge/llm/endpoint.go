package llm

import (
	"sync"
	"time"
)

// Breaker states, as metrics show them.
const (
	StateUp      = 0 // calls go to it
	StateDown    = 1 // it has failed again and again; probes alone go to it
	StateProbing = 2 // a probe is under way
)

const (
	// firstPause is how long an endpoint that failed is left alone while
	// others are there; it doubles with each failure in a row, to lastPause.
	firstPause, lastPause = 500 * time.Millisecond, 30 * time.Second
	// firstProbe is how long after it went down an endpoint is probed; the
	// time doubles to lastProbe.
	firstProbe, lastProbe = 500 * time.Millisecond, 10 * time.Second
	// smoothing weighs the newest latency in the mean.
	smoothing = 0.2
)

// endpoint is one of the places that a call can be sent to, and how it fares.
type endpoint struct {
	base    string
	limiter Limiter

	mu       sync.Mutex
	inFlight int
	latency  float64 // mean seconds of its answers; 0 before the first
	failures int     // in a row
	restful  time.Time
	state    int
	since    time.Time // nothing but failures and 429s since then; zero where it answers
	latest   time.Time // of these
	probes   int
	next     time.Time // of the next probe
}

// score is what the choice of two weighs: how long a call would take here.
func (e *endpoint) score() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return float64(e.inFlight+1) * max(e.latency, 1e-3)
}

// standing says whether calls may go to the endpoint, and whether they better
// shouldn't yet.
func (e *endpoint) standing(now time.Time) (up, rested bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state == StateUp, !now.Before(e.restful)
}

func (e *endpoint) began() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight++
}

// health is what an attempt says about its endpoint.
type health int

const (
	healthUnknown health = iota // it was cancelled
	healthGood                  // it answered, if only that the request was bad
	healthBusy                  // it said 429
	healthBad                   // 5xx, no connection, no answer in time
)

// ended takes in an attempt, and reports whether the endpoint went down by it
// or came up.
func (e *endpoint) ended(h health, took, rest time.Duration, now time.Time, limit int) (down, up bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
	switch h {
	case healthGood:
		if e.latency == 0 {
			e.latency = took.Seconds()
		}
		e.latency += smoothing * (took.Seconds() - e.latency)
		e.since = time.Time{}
		up = e.state != StateUp
		e.failures, e.probes, e.state, e.restful = 0, 0, StateUp, time.Time{}
	case healthBusy:
		e.fruitless(now)
		up = e.state != StateUp
		e.failures, e.probes, e.state, e.restful = 0, 0, StateUp, now.Add(rest)
	case healthBad:
		e.fruitless(now)
		e.failures++
		e.restful = now.Add(max(rest, min(firstPause<<min(e.failures-1, 10), lastPause)))
		if limit > 0 && e.failures >= limit && e.state == StateUp {
			e.state, e.probes, down = StateDown, 0, true
			e.next = now.Add(firstProbe)
		}
	}
	return down, up
}

// stale is how long after a failure the next one no longer belongs to the same
// outage: more than any wait between two calls.
const stale = 2 * time.Minute

func (e *endpoint) fruitless(now time.Time) {
	if e.since.IsZero() || now.Sub(e.latest) > stale {
		e.since = now
	}
	e.latest = now
}

// probe reports whether a probe is due, and claims it.
func (e *endpoint) probe(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != StateDown || now.Before(e.next) {
		return false
	}
	e.state = StateProbing
	return true
}

// stillDown ends a probe that has brought no answer, and reports whether it
// was one.
func (e *endpoint) stillDown(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != StateProbing {
		return false
	}
	e.probes++
	e.state = StateDown
	e.next = now.Add(min(firstProbe<<min(e.probes, 10), lastProbe))
	return true
}
