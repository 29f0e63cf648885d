package nli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stepgap/stepgap/pkg/schema"
	"golang.org/x/sync/semaphore"
)

// BatcherOptions size a Batcher. A zero field takes its default.
type BatcherOptions struct {
	// Lanes is how many batches run at once; default 1. On CPU the best use of
	// n cores is n lanes of one thread each; a GPU wants 1 or 2.
	Lanes int
	// TokenBudget bounds a batch: rows times its longest row; default 4096.
	TokenBudget int
	// MaxRows bounds a batch's rows; default 64.
	MaxRows int
	// MaxPadding is the share of a batch that may be padding; default 0.05.
	MaxPadding float64
	// MaxWaiting bounds the pairs that wait for a lane; default 4096. A caller
	// that would exceed it blocks until there is room or its ctx ends, which
	// is how a busy model pushes back.
	MaxWaiting int
	// CacheSize is how many results are kept; default 65536, negative for none.
	CacheSize int
}

func (o BatcherOptions) withDefaults() BatcherOptions {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Lanes, 1)
	def(&o.TokenBudget, 4096)
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
	cache *cache
	room  *semaphore.Weighted // one unit a waiting entry
	lanes sync.WaitGroup
	stop  context.CancelFunc

	mu      sync.Mutex
	wake    *sync.Cond
	waiting []*entry // in order of arrival
	flight  map[key]*entry
	idle    int
	closed  bool
	stats   Stats
}

// entry is a pair on its way. Guarded by Batcher.mu until done is closed;
// scores and err are read-only afterwards.
type entry struct {
	key     key
	enc     Encoding
	waiters int
	running bool
	done    chan struct{}
	scores  schema.Scores
	err     error
}

// NewBatcher starts a batcher over model. The caller closes the batcher
// before the model.
func NewBatcher(model Model, opts BatcherOptions) *Batcher {
	opts = opts.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	b := &Batcher{
		model: model, info: model.Info(), opts: opts, stop: stop,
		cache:  newCache(opts.CacheSize),
		room:   semaphore.NewWeighted(int64(opts.MaxWaiting)),
		flight: make(map[key]*entry),
	}
	b.wake = sync.NewCond(&b.mu)
	for range opts.Lanes {
		b.lanes.Add(1)
		go b.lane(ctx)
	}
	return b
}

// Info names the model.
func (b *Batcher) Info() Info { return b.info }

// CountTokens counts a text's tokens.
func (b *Batcher) CountTokens(text string) (int, error) { return b.model.CountTokens(text) }

// Score implements Scorer.
func (b *Batcher) Score(ctx context.Context, pairs []Pair) ([]schema.Scores, error) {
	out := make([]schema.Scores, len(pairs))
	for from := 0; from < len(pairs); {
		// A request larger than the queue goes in parts, or it would wait for
		// room that only it can make.
		to := min(len(pairs), from+b.opts.MaxWaiting)
		if err := b.scorePart(ctx, pairs[from:to], out[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	return out, nil
}

func (b *Batcher) scorePart(ctx context.Context, pairs []Pair, out []schema.Scores) error {
	entries := make([]*entry, len(pairs)) // nil where the cache answered
	var fresh []*entry
	for i, p := range pairs {
		k := pairKey(b.info.Hash, p)
		if s, ok := b.cache.get(k); ok {
			out[i] = s
			b.count(func(s *Stats) { s.CacheHits++ })
			continue
		}
		enc, err := b.model.Encode(p)
		if err != nil {
			return fmt.Errorf("encoding pair %d: %w", i, err)
		}
		entries[i] = &entry{key: k, enc: enc, done: make(chan struct{})}
		fresh = append(fresh, entries[i])
	}
	if len(fresh) == 0 {
		return ctx.Err()
	}
	if err := b.room.Acquire(ctx, int64(len(fresh))); err != nil {
		return fmt.Errorf("waiting for room in the NLI queue: %w", err)
	}
	if err := b.enqueue(entries, len(fresh)); err != nil {
		return err
	}
	return b.await(ctx, entries, out)
}

// enqueue adds entries to the queue, all at once so that they can share a
// batch; an entry whose pair is on its way already is replaced by that one.
func (b *Batcher) enqueue(entries []*entry, fresh int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		b.room.Release(int64(fresh))
		return ErrClosed
	}
	for i, e := range entries {
		if e == nil {
			continue
		}
		if there, ok := b.flight[e.key]; ok {
			entries[i] = there
			there.waiters++
			b.room.Release(1)
			b.stats.Joined++
			continue
		}
		e.waiters = 1
		b.flight[e.key] = e
		b.waiting = append(b.waiting, e)
	}
	b.wake.Broadcast()
	return nil
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
	drop := make(map[*entry]bool)
	for _, e := range entries {
		if e == nil {
			continue
		}
		e.waiters--
		if e.waiters == 0 && !e.running && b.flight[e.key] == e {
			drop[e] = true
			delete(b.flight, e.key)
		}
	}
	b.remove(drop)
}

// remove takes entries out of the queue and gives their room back. b.mu is held.
func (b *Batcher) remove(gone map[*entry]bool) {
	kept := b.waiting[:0]
	for _, e := range b.waiting {
		if !gone[e] {
			kept = append(kept, e)
		}
	}
	b.room.Release(int64(len(b.waiting) - len(kept)))
	clear(b.waiting[len(kept):])
	b.waiting = kept
}

// lane runs one batch after another until the batcher is closed.
func (b *Batcher) lane(ctx context.Context) {
	defer b.lanes.Done()
	for {
		batch := b.take()
		if batch == nil {
			return
		}
		b.run(ctx, batch)
	}
}

// take waits for entries and picks a batch; nil when closed.
func (b *Batcher) take() []*entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle++
	for len(b.waiting) == 0 && !b.closed {
		b.wake.Wait()
	}
	idle := b.idle
	b.idle--
	if b.closed {
		return nil
	}
	lengths := make([]int, len(b.waiting))
	for i, e := range b.waiting {
		lengths[i] = e.enc.Len()
	}
	// A few pairs are shared out over the lanes that are free.
	rows := min(b.opts.MaxRows, (len(b.waiting)+idle-1)/idle)
	chosen := pick(lengths, b.opts.TokenBudget, rows, b.opts.MaxPadding)
	batch := make([]*entry, len(chosen))
	gone := make(map[*entry]bool, len(chosen))
	for i, at := range chosen {
		batch[i] = b.waiting[at]
		batch[i].running = true
		gone[batch[i]] = true
	}
	b.remove(gone)
	return batch
}

// run scores a batch. Where a batch fails, its pairs are tried alone, so that
// one bad pair fails nobody else's.
func (b *Batcher) run(ctx context.Context, batch []*entry) {
	encs := make([]Encoding, len(batch))
	tokens, longest := 0, 0
	for i, e := range batch {
		encs[i] = e.enc
		tokens += e.enc.Len()
		longest = max(longest, e.enc.Len())
	}
	rows, err := b.model.Run(ctx, encs)
	if err == nil && len(rows) != len(batch) {
		err = fmt.Errorf("model gave %d rows for %d pairs", len(rows), len(batch))
	}
	if err != nil && len(batch) > 1 && !errors.Is(err, ErrClosed) && ctx.Err() == nil {
		for i := range batch {
			b.run(ctx, batch[i:i+1])
		}
		return
	}
	for i, e := range batch {
		if err != nil {
			e.err = err
			continue
		}
		e.scores, e.err = Probabilities(rows[i])
		if e.err == nil {
			b.cache.put(e.key, e.scores)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Batches++
	b.stats.Pairs += uint64(len(batch))
	b.stats.Tokens += uint64(tokens)
	b.stats.Padding += uint64(longest*len(batch) - tokens)
	for _, e := range batch {
		delete(b.flight, e.key)
		close(e.done)
	}
}

// Close fails the pairs that wait with ErrClosed and returns when the batches
// that run are done. It may be called more than once.
func (b *Batcher) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		for _, e := range b.waiting {
			e.err = ErrClosed
			delete(b.flight, e.key)
			close(e.done)
		}
		b.room.Release(int64(len(b.waiting)))
		b.waiting = nil
		b.wake.Broadcast()
	}
	b.mu.Unlock()
	b.lanes.Wait()
	b.stop()
	return nil
}
