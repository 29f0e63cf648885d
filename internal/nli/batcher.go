package nli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stepgap/stepgap/internal/lru"
	"github.com/stepgap/stepgap/pkg/schema"
	"golang.org/x/sync/semaphore"
)

// BatcherOptions size a Batcher. A zero field takes its default.
type BatcherOptions struct {
	// Lanes is how many batches run at once; default 1. On CPU the best use of
	// n cores is n lanes of one thread each; a GPU wants 1 or 2.
	Lanes int
	// TokenBudget bounds a batch: rows times its longest row; default 512. On
	// CPU more brings nothing but longer waits; a GPU wants 16384 or so.
	TokenBudget int
	// MaxRows bounds a batch's rows; default 64. With 1 every pair runs alone,
	// in a shape of its own.
	MaxRows int
	// MaxPadding is the share of a batch that may be padding; default 0.05.
	MaxPadding float64
	// Spread shares a few pairs out over all lanes that are free, as fits
	// lanes on cores of their own. Without it the first takes all it can.
	Spread bool
	// MaxWaiting bounds the pairs that wait for a lane; default 4096. A caller
	// that would exceed it blocks until there is room or its ctx ends, which
	// is how a busy model pushes back.
	MaxWaiting int
	// CacheSize is how many results are kept; default 65536, negative for none.
	CacheSize int
	// NoJoin runs a pair that is on its way already again for each caller: for
	// measurements alone.
	NoJoin bool
}

func (o BatcherOptions) withDefaults() BatcherOptions {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Lanes, 1)
	def(&o.TokenBudget, 512)
	def(&o.MaxRows, 64)
	def(&o.MaxWaiting, 4096)
	def(&o.CacheSize, 65536)
	if o.MaxPadding == 0 {
		o.MaxPadding = 0.05
	}
	return o
}

// Batcher is a Scorer that joins the pairs of many callers into padded batches
// of similar length. A lane takes what waits as soon as it is free: nothing
// waits while a lane is idle, and under load batches fill up by themselves, so
// there is no timer. A pair already waiting or running is joined, not run
// again, and results are cached.
type Batcher struct {
	model Model
	info  Info
	opts  BatcherOptions
	cache *lru.Cache[key, schema.Scores]
	room  *semaphore.Weighted // one unit a waiting entry
	lanes sync.WaitGroup

	mu      sync.Mutex
	wake    *sync.Cond
	waiting queue
	flight  map[key]*entry
	idle    int
	closed  bool
	stats   Stats
}

// entry is a pair on its way. Guarded by Batcher.mu until done is closed;
// scores and err are read-only afterwards.
type entry struct {
	key      key
	enc      Encoding
	since    time.Time // when it began to wait
	deadline time.Time // the last of its waiters'; zero if one of them has none
	waiters  int
	done     chan struct{}
	scores   schema.Scores
	err      error

	// Of the queue: neighbours by arrival, and among those of equal length.
	queued             bool
	prev, next         *entry
	samePrev, sameNext *entry
}

// NewBatcher starts a batcher over model. The caller closes the batcher
// before the model.
func NewBatcher(model Model, opts BatcherOptions) *Batcher {
	opts = opts.withDefaults()
	b := &Batcher{
		model: model, info: model.Info(), opts: opts,
		cache:  lru.New[key, schema.Scores](opts.CacheSize),
		room:   semaphore.NewWeighted(int64(opts.MaxWaiting)),
		flight: make(map[key]*entry),
	}
	b.wake = sync.NewCond(&b.mu)
	for range opts.Lanes {
		b.lanes.Add(1)
		go b.lane()
	}
	return b
}

// Info names the model.
func (b *Batcher) Info() Info { return b.info }

// CountTokens counts a text's tokens.
func (b *Batcher) CountTokens(text string) (int, error) { return b.model.CountTokens(text) }

// encodeAhead is how many pairs of one request are encoded before they are
// queued. The lanes then run the first while the rest is encoded.
const encodeAhead = 64

// Score implements Scorer.
func (b *Batcher) Score(ctx context.Context, pairs []Pair) ([]schema.Scores, error) {
	out := make([]schema.Scores, len(pairs))
	entries := make([]*entry, len(pairs)) // nil where the cache answered
	// In parts also because a request larger than the queue would wait for
	// room that only it can make.
	step := min(encodeAhead, b.opts.MaxWaiting)
	for from := 0; from < len(pairs); from += step {
		to := min(len(pairs), from+step)
		if err := b.send(ctx, pairs[from:to], from, entries[from:to], out[from:to]); err != nil {
			b.leave(entries[:from])
			return nil, err
		}
	}
	if err := b.await(ctx, entries, out); err != nil {
		return nil, err
	}
	return out, nil
}

// send answers pairs from the cache, or encodes and queues them. When it fails,
// none of them is queued. first is the first pair's place in the request.
func (b *Batcher) send(ctx context.Context, pairs []Pair, first int, entries []*entry, out []schema.Scores) error {
	start := time.Now()
	deadline, _ := ctx.Deadline()
	fresh, hits := 0, uint64(0)
	for i, p := range pairs {
		k := pairKey(b.info.Hash, p)
		if s, ok := b.cache.Get(k); ok {
			out[i] = s
			hits++
			continue
		}
		enc, err := b.model.Encode(p)
		if err != nil {
			return fmt.Errorf("encoding pair %d: %w", first+i, err)
		}
		entries[i] = &entry{key: k, enc: enc, deadline: deadline, done: make(chan struct{})}
		fresh++
	}
	spent := time.Since(start)
	b.count(func(s *Stats) { s.CacheHits += hits; s.Encoded += spent })
	if fresh == 0 {
		return ctx.Err()
	}
	if err := b.room.Acquire(ctx, int64(fresh)); err != nil {
		return fmt.Errorf("waiting for room in the NLI queue: %w", err)
	}
	return b.enqueue(entries, fresh, out)
}

// enqueue adds entries to the queue, all at once so that they can share a
// batch; an entry whose pair is on its way already is replaced by that one, and
// one whose pair has got its scores since the cache was asked is answered.
func (b *Batcher) enqueue(entries []*entry, fresh int, out []schema.Scores) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		b.room.Release(int64(fresh))
		return ErrClosed
	}
	now := time.Now()
	for i, e := range entries {
		if e == nil {
			continue
		}
		if there, ok := b.flight[e.key]; ok && !b.opts.NoJoin {
			entries[i] = there
			there.join(e.deadline)
			b.room.Release(1)
			b.stats.Joined++
			continue
		}
		// A lane caches scores before it forgets the pair.
		if scores, ok := b.cache.Get(e.key); ok {
			entries[i], out[i] = nil, scores
			b.room.Release(1)
			b.stats.CacheHits++
			continue
		}
		e.waiters, e.since = 1, now
		b.flight[e.key] = e
		b.waiting.push(e)
	}
	b.wake.Broadcast()
	return nil
}

// join adds a waiter whose deadline may be later than those of the others.
func (e *entry) join(deadline time.Time) {
	e.waiters++
	if deadline.IsZero() || (!e.deadline.IsZero() && deadline.After(e.deadline)) {
		e.deadline = deadline
	}
}

func (b *Batcher) await(ctx context.Context, entries []*entry, out []schema.Scores) error {
	var first error
	for i, e := range entries {
		if e == nil {
			continue
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			b.leave(entries[i:])
			return ctx.Err()
		}
		if e.err != nil && first == nil {
			first = fmt.Errorf("scoring pair %d: %w", i, e.err)
		}
		out[i] = e.scores
	}
	return first
}

// leave gives up on entries; those that nobody else waits for are dropped
// unless they run already.
func (b *Batcher) leave(entries []*entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range entries {
		if e == nil {
			continue
		}
		e.waiters--
		if e.waiters == 0 && e.queued {
			b.waiting.remove(e)
			b.forget(e)
			b.room.Release(1)
		}
	}
}

// forget ends joining e. b.mu is held.
func (b *Batcher) forget(e *entry) {
	if b.flight[e.key] == e {
		delete(b.flight, e.key)
	}
}

// Close fails the pairs that wait with ErrClosed and returns when the batches
// that run are done. It may be called more than once.
func (b *Batcher) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		for e := b.waiting.oldest; e != nil; e = b.waiting.oldest {
			b.waiting.remove(e)
			b.room.Release(1)
			e.err = ErrClosed
			b.finish(e)
		}
		b.wake.Broadcast()
	}
	b.mu.Unlock()
	b.lanes.Wait()
	return nil
}
