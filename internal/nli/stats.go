package nli

// Stats count what a Batcher has done since it started.
type Stats struct {
	Pairs     uint64 // pairs run through the model
	Batches   uint64
	Tokens    uint64 // tokens of those pairs
	Padding   uint64 // padding tokens beside them
	CacheHits uint64 // pairs answered by the cache
	Joined    uint64 // pairs that joined one already on its way
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
	return b.stats
}

func (b *Batcher) count(f func(*Stats)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.stats)
}
