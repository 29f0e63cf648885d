package nlibench

import (
	"context"

	"github.com/stepgap/stepgap/internal/nli"
)

// interleave orders the requests of rollouts that run side by side: the first
// of each, then the second of each.
func interleave(rollouts [][][]nli.Pair) [][]nli.Pair {
	var out [][]nli.Pair
	for k, more := 0, true; more; k++ {
		more = false
		for _, requests := range rollouts {
			if k < len(requests) {
				out, more = append(out, requests[k]), true
			}
		}
	}
	return out
}

// Repeats sends another load, in which pairs come more than once, with or
// without the cache and the joining of equal pairs.
func (o *Ours) Repeats(ctx context.Context, c Command) (Outcome, error) {
	load, err := ReadLoad(c.Load)
	if err != nil {
		return Outcome{}, err
	}
	run := Ours{Load: load, Model: o.Model, Batch: o.Batch}
	if c.Remember {
		run.Batch.CacheSize, run.Batch.NoJoin = 1<<16, false
	}
	out, err := run.measure(ctx, len(load.Requests), saturated(len(load.Requests), c.Clients))
	out.Scores, out.LatencyMS = nil, nil
	return out, err
}
