package nli

import "time"

// Stats count what a Batcher has done since it started.
type Stats struct {
	Pairs     uint64 // pairs run through the model
	Batches   uint64
	Tokens    uint64 // tokens of those pairs
	Padding   uint64 // padding tokens beside them
	CacheHits uint64 // pairs answered by the cache
	Joined    uint64 // pairs that joined one already on its way
	Late      uint64 // pairs dropped since their deadline passed while they waited
	Failed    uint64 // pairs that the model could not score

	Waiting int           // pairs that wait now
	Encoded time.Duration // time spent encoding, summed over callers
	Waited  time.Duration // time that pairs waited for a lane, summed over pairs
	Ran     time.Duration // time that lanes ran batches, summed over lanes
}

// PaddingShare is the part of all computed tokens that was padding, in [0, 1).
func (s Stats) PaddingShare() float64 {
	if s.Tokens+s.Padding == 0 {
		return 0
	}
	return float64(s.Padding) / float64(s.Tokens+s.Padding)
}

// Stats returns the counts so far.
func (b *Batcher) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Waiting = b.waiting.len()
	return s
}

func (b *Batcher) count(f func(*Stats)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.stats)
}
