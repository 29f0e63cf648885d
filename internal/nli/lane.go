package nli

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lane runs one batch after another until the batcher is closed.
func (b *Batcher) lane() {
	defer b.lanes.Done()
	for {
		batch := b.take()
		if batch == nil {
			return
		}
		b.run(batch)
	}
}

// take waits for pairs and takes a batch of them; nil when closed.
func (b *Batcher) take() []*entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle++
	defer func() { b.idle-- }()
	for {
		for b.waiting.len() == 0 && !b.closed {
			b.wake.Wait()
		}
		if b.closed {
			return nil
		}
		rows := b.opts.MaxRows
		if b.opts.Spread {
			rows = min(rows, (b.waiting.len()+b.idle-1)/b.idle)
		}
		batch := b.waiting.pick(limits{budget: b.opts.TokenBudget, rows: rows, maxPadding: b.opts.MaxPadding})
		b.room.Release(int64(len(batch)))
		if batch = b.inTime(batch, time.Now()); len(batch) > 0 {
			return batch
		}
	}
}

// inTime returns what of a batch can still be of use, and fails the pairs
// whose last deadline has passed: their callers have given up, or will as soon
// as they are scheduled. b.mu is held.
func (b *Batcher) inTime(batch []*entry, now time.Time) []*entry {
	kept := batch[:0]
	for _, e := range batch {
		if !e.deadline.IsZero() && !now.Before(e.deadline) {
			e.err = context.DeadlineExceeded
			b.finish(e)
			b.stats.Late++
			continue
		}
		b.stats.Waited += now.Sub(e.since)
		kept = append(kept, e)
	}
	return kept
}

// finish tells an entry's waiters that it has its scores or error. b.mu is held.
func (b *Batcher) finish(e *entry) {
	b.forget(e)
	close(e.done)
}

// run scores a batch. Where a batch fails, its pairs are tried alone, so that
// one bad pair fails nobody else's.
func (b *Batcher) run(batch []*entry) {
	start := time.Now()
	encs := make([]Encoding, len(batch))
	tokens, longest := 0, 0
	for i, e := range batch {
		encs[i] = e.enc
		tokens += e.enc.Len()
		longest = max(longest, e.enc.Len())
	}
	// A batch is of many callers: none of theirs ends it, nor does Close.
	rows, err := b.model.Run(context.Background(), encs)
	if err == nil && len(rows) != len(batch) {
		err = fmt.Errorf("model gave %d rows for %d pairs", len(rows), len(batch))
	}
	if err != nil && len(batch) > 1 && !errors.Is(err, ErrClosed) {
		for i := range batch {
			b.run(batch[i : i+1])
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
			b.cache.Put(e.key, e.scores)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Batches++
	b.stats.Pairs += uint64(len(batch))
	b.stats.Tokens += uint64(tokens)
	b.stats.Padding += uint64(longest*len(batch) - tokens)
	b.stats.Ran += time.Since(start)
	for _, e := range batch {
		if e.err != nil {
			b.stats.Failed++
		}
		b.finish(e)
	}
}
