package onnx

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stepgap/stepgap/internal/nli"
	"golang.org/x/sync/errgroup"
)

// filler is text of many different tokens in any language's vocabulary.
const filler = "In 1790 the mill by the river was sold for 4,500 pounds to a widow from Kent, who never saw it; her son, born in May, ran it until the flood of 1816."

// samples returns encodings of the given lengths, of valid ids, no two alike.
func (m *Model) samples(lengths ...int) ([]nli.Encoding, error) {
	base, err := m.Encode(nli.Pair{Premise: filler, Hypothesis: "A widow bought the mill."})
	if err != nil {
		return nil, err
	}
	if base.Len() == 0 {
		return nil, fmt.Errorf("the tokenizer gave nothing for %q", filler)
	}
	out := make([]nli.Encoding, len(lengths))
	for i, n := range lengths {
		for k := range n {
			at := (k*(i+1) + i) % base.Len()
			out[i].IDs = append(out[i].IDs, base.IDs[at])
			out[i].TypeIDs = append(out[i].TypeIDs, base.TypeIDs[k*base.Len()/n])
		}
	}
	return out, nil
}

// warm runs the largest batch that opts allow on every lane at once, so that
// memory is claimed and kernels are chosen before the first pair comes.
func (m *Model) warm(ctx context.Context, opts nli.BatcherOptions) (time.Duration, error) {
	start := time.Now()
	length := m.info.MaxTokens
	rows := max(1, min(opts.MaxRows, opts.TokenBudget/length))
	one, err := m.samples(length)
	if err != nil {
		return 0, fmt.Errorf("warming up: %w", err)
	}
	batch := slices.Repeat(one, rows)
	group, ctx := errgroup.WithContext(ctx)
	for range opts.Lanes {
		group.Go(func() error {
			_, err := m.Run(ctx, batch)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("warming up with %d pairs of %d tokens: %w", rows, length, err)
	}
	return time.Since(start), nil
}

// drift is by how much logits of one pair differ.
type drift struct {
	byBatch float64 // alone and among others
	byRun   float64 // alone, and alone once more
}

// measureDrift finds out whether a pair's logits depend on what else is in its
// batch, as those of dynamically quantised models do, or change by themselves.
func (m *Model) measureDrift(ctx context.Context) (drift, error) {
	pairs, err := m.samples(12, 21, 33, 40, 48)
	if err != nil {
		return drift{}, fmt.Errorf("comparing batches: %w", err)
	}
	together, err := m.Run(ctx, pairs)
	if err != nil {
		return drift{}, fmt.Errorf("comparing batches: %w", err)
	}
	var d drift
	for i := range pairs {
		var alone [2]nli.Logits
		for k := range alone {
			rows, err := m.Run(ctx, pairs[i:i+1])
			if err != nil {
				return drift{}, fmt.Errorf("comparing batches: %w", err)
			}
			alone[k] = rows[0]
		}
		d.byBatch = max(d.byBatch, distance(alone[0], together[i]))
		d.byRun = max(d.byRun, distance(alone[0], alone[1]))
	}
	return d, nil
}

func distance(a, b nli.Logits) float64 {
	d := max(diff(a.Entailment, b.Entailment), diff(a.Neutral, b.Neutral), diff(a.Contradiction, b.Contradiction))
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return d
}
