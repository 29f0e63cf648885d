package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/stepgap/stepgap/internal/nli"
)

// Scorer is a model with its batcher: what a worker runs.
type Scorer struct {
	*nli.Batcher
	model *Model
}

// OpenScorer opens a model and a batcher over it, ready to score: the model has
// shown whether its pairs may share batches, and has run the largest one. What
// opts and batch leave open is chosen by the device and the cores that Go may
// use (see plan).
func OpenScorer(opts Options, batch nli.BatcherOptions) (*Scorer, error) {
	deterministic, err := ParseDeterministic(opts.Deterministic)
	if err != nil {
		return nil, err
	}
	cores := runtime.GOMAXPROCS(0)
	opts.Threads = threadsFor(opts.Threads, batch.Lanes, cores)
	opts = opts.withDefaults()
	m, err := Open(opts)
	if err != nil {
		return nil, err
	}
	batch = plan(batch, m.info.Device, opts.Threads, cores)
	if batch, err = m.prepare(context.Background(), opts, batch, deterministic); err != nil {
		return nil, fmt.Errorf("preparing NLI model %s: %w", opts.Dir, errors.Join(err, m.Close()))
	}
	return &Scorer{Batcher: nli.NewBatcher(m, batch), model: m}, nil
}

// prepare settles how the model may be batched, warms it up and logs both.
func (m *Model) prepare(ctx context.Context, opts Options, batch nli.BatcherOptions, deterministic Deterministic) (nli.BatcherOptions, error) {
	seen, err := m.measureDrift(ctx)
	if err != nil {
		return batch, err
	}
	alone, err := deterministic.alone(m.info.Precision, seen)
	if err != nil {
		return batch, err
	}
	if alone {
		batch.MaxRows = 1
		opts.Log.Info("NLI pairs run one at a time, since this model's scores depend on what shares a batch",
			"file", m.info.File, "logits_differ_by", seen.byBatch)
	}
	took, err := m.warm(ctx, batch)
	if err != nil {
		return batch, err
	}
	opts.Log.Info("NLI model is warm", "lanes", batch.Lanes, "threads_each", opts.Threads,
		"batch_tokens", batch.TokenBudget, "batch_rows", batch.MaxRows, "warm_up", took)
	return batch, nil
}

// Tensors is how many tensors the scorer holds; none once it is closed.
func (s *Scorer) Tensors() int { return s.model.Tensors() }

// Close stops the batcher, then frees the model. It may be called more than
// once.
func (s *Scorer) Close() error {
	return errors.Join(s.Batcher.Close(), s.model.Close())
}
