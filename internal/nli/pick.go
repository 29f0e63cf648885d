package nli

// limits bound one batch.
type limits struct {
	budget     int     // tokens: rows times the longest row
	rows       int     // rows
	maxPadding float64 // share of the batch that may be padding
}

// pick takes the next padded batch out of the queue: always the oldest pair, so
// that none waits forever, then those nearest to it in length, the older first,
// while the batch stays within its limits. The oldest runs alone where it is
// longer than the budget. nil if nothing waits.
func (q *queue) pick(lim limits) []*entry {
	if q.oldest == nil {
		return nil
	}
	g := growing{limits: lim, longest: q.oldest.enc.Len()}
	shortest := g.longest
	g.take(q, q.oldest)
	for len(g.batch) < lim.rows {
		// A shorter pair is padded itself; for a longer one every row is.
		down, up := shortest, g.longest
		for down > 0 && q.at(down) == nil {
			down--
		}
		for up < len(q.byLen) && q.at(up) == nil {
			up++
		}
		best, longer := g.fitting(q.at(down)), g.fitting(q.at(up))
		if best == nil || (longer != nil && (up-g.longest)*len(g.batch) < g.longest-down) {
			best = longer
		}
		if best == nil {
			break
		}
		shortest = min(shortest, best.enc.Len())
		g.take(q, best)
	}
	return g.batch
}

// growing is a batch that is being put together.
type growing struct {
	limits
	batch   []*entry
	longest int
	tokens  int
}

func (g *growing) take(q *queue, e *entry) {
	q.remove(e)
	g.batch = append(g.batch, e)
	g.longest = max(g.longest, e.enc.Len())
	g.tokens += e.enc.Len()
}

// fitting returns e if the batch stays within its limits with it, else nil.
func (g *growing) fitting(e *entry) *entry {
	if e == nil {
		return nil
	}
	padded := max(g.longest, e.enc.Len()) * (len(g.batch) + 1)
	padding := padded - g.tokens - e.enc.Len()
	if padded > g.budget || float64(padding) > g.maxPadding*float64(padded) {
		return nil
	}
	return e
}
