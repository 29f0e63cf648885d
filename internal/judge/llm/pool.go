package llm

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"time"
)

// pool chooses among endpoints, and knows when none is up.
type pool struct {
	endpoints []*endpoint
	rand      func() float64
	now       func() time.Time

	mu      sync.Mutex
	changed chan struct{} // closed when an endpoint goes down or comes up
}

func newPool(cfg Config, rand func() float64, now func() time.Time) *pool {
	p := &pool{rand: rand, now: now, changed: make(chan struct{})}
	for _, base := range append([]string{cfg.BaseURL}, cfg.MoreURLs...) {
		p.endpoints = append(p.endpoints, &endpoint{base: strings.TrimRight(base, "/")})
	}
	return p
}

// pick chooses the better of two endpoints taken at random, among those that
// are up and have not just failed; not is avoided where there is another. Where
// all have just failed, one of them is tried all the same.
func (p *pool) pick(not *endpoint) (*endpoint, error) {
	now := p.now()
	var rested, up []*endpoint
	for _, e := range p.endpoints {
		isUp, isRested := e.standing(now)
		if !isUp || e == not {
			continue
		}
		up = append(up, e)
		if isRested {
			rested = append(rested, e)
		}
	}
	if len(rested) > 0 {
		up = rested
	}
	switch len(up) {
	case 0:
		if not != nil {
			return p.pick(nil)
		}
		return nil, p.downError(now)
	case 1:
		return up[0], nil
	}
	i := int(p.rand() * float64(len(up)))
	j := int(p.rand() * float64(len(up)-1))
	if j >= i {
		j++
	}
	if up[j].score() < up[i].score() {
		i = j
	}
	return up[i], nil
}

// other reports whether an endpoint besides e could be asked now.
func (p *pool) other(e *endpoint) bool {
	for _, o := range p.endpoints {
		if up, rested := o.standing(p.now()); o != e && up && rested {
			return true
		}
	}
	return false
}

func (p *pool) downError(now time.Time) *downError {
	d := &downError{next: lastProbe}
	for _, e := range p.endpoints {
		e.mu.Lock()
		if e.since.After(d.since) {
			d.since = e.since // all have been down only since the last one went
		}
		d.next = min(d.next, max(0, e.next.Sub(now)))
		e.mu.Unlock()
	}
	return d
}

// fruitless is for how long no endpoint has given anything but failures and
// 429s; 0 where one has, or where one was not asked lately.
func (p *pool) fruitless() time.Duration {
	now := p.now()
	least := time.Duration(math.MaxInt64)
	for _, e := range p.endpoints {
		e.mu.Lock()
		since, latest := e.since, e.latest
		e.mu.Unlock()
		if since.IsZero() || now.Sub(latest) > stale {
			return 0
		}
		least = min(least, now.Sub(since))
	}
	return least
}

func (p *pool) announce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.changed)
	p.changed = make(chan struct{})
}

// down says since when no endpoint is up, if so, and gives a channel that is
// closed when that may have changed.
func (p *pool) down() (since time.Time, down bool, changed <-chan struct{}) {
	p.mu.Lock()
	changed = p.changed
	p.mu.Unlock()
	_, err := p.pick(nil)
	var d *downError
	if errors.As(err, &d) {
		return d.since, true, changed
	}
	return time.Time{}, false, changed
}

// Standing is how an endpoint fares, for metrics.
type Standing struct {
	Endpoint string
	State    int // StateUp, StateDown or StateProbing
	InFlight int
	Limiter  Limiter
}

func (p *pool) standings() []Standing {
	var all []Standing
	for _, e := range p.endpoints {
		e.mu.Lock()
		all = append(all, Standing{e.base, e.state, e.inFlight, e.limiter})
		e.mu.Unlock()
	}
	return all
}

// Down says since when no endpoint is up, if so, and gives a channel that is
// closed when that may have changed.
func (c *Client) Down() (since time.Time, down bool, changed <-chan struct{}) { return c.t.pool.down() }

// Standings says how each endpoint fares.
func (c *Client) Standings() []Standing { return c.t.pool.standings() }

// probeLook is how often endpoints that are down are looked at.
const probeLook = 100 * time.Millisecond

// Probe asks endpoints that went down, each after a while, for one token, until
// ctx is done. Without it what went down stays down.
func (c *Client) Probe(ctx context.Context) {
	ticker := time.NewTicker(probeLook)
	defer ticker.Stop()
	var probes sync.WaitGroup
	defer probes.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, e := range c.t.pool.endpoints {
			if e.probe(c.t.now()) {
				probes.Go(func() { c.probe(ctx, e) })
			}
		}
	}
}

// probeTimeout bounds a probe; an endpoint that takes longer for one token is
// not up.
const probeTimeout = 15 * time.Second

func (c *Client) probe(ctx context.Context, e *endpoint) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, onlyKey{}, e)
	ctx, _ = withExchange(ctx)
	_, err := c.api.CreateChatCompletion(ctx, c.request(Request{
		Messages: []Message{{RoleUser, "Say ok."}}, MaxTokens: 1,
	}))
	// One that answered has come up by that.
	if e.stillDown(c.t.now()) && err != nil {
		c.t.log.Debug("the endpoint is still down", "endpoint", e.base, "error", scrub(err.Error(), c.cfg.Key))
	}
}

// onlyKey holds the endpoint that a probe is for.
type onlyKey struct{}
