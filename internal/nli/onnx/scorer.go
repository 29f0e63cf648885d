package onnx

import (
	"errors"
	"runtime"
	"strings"

	"github.com/stepgap/stepgap/internal/nli"
)

// Scorer is a model with its batcher: what a worker runs.
type Scorer struct {
	*nli.Batcher
	model *Model
}

// OpenScorer opens a model and a batcher over it. Where neither threads nor
// lanes are given, a CPU gets one lane of one thread for each core that Go may
// use (batches of few pairs then run beside each other, and no core waits for
// another), and a GPU two lanes, so that one batch is prepared while another
// runs.
func OpenScorer(opts Options, batch nli.BatcherOptions) (*Scorer, error) {
	chosen := opts.Threads > 0 || batch.Lanes > 0
	if !chosen {
		opts.Threads = 1
	}
	m, err := Open(opts)
	if err != nil {
		return nil, err
	}
	if !chosen {
		batch.Lanes = runtime.GOMAXPROCS(0)
		if strings.HasPrefix(m.Info().Device, "cuda") {
			batch.Lanes = 2
		}
	}
	return &Scorer{Batcher: nli.NewBatcher(m, batch), model: m}, nil
}

// Close stops the batcher, then frees the model. It may be called more than
// once.
func (s *Scorer) Close() error {
	return errors.Join(s.Batcher.Close(), s.model.Close())
}
