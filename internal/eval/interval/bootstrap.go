package interval

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/stepgap/stepgap/internal/eval/metrics"
)

// Options of a bootstrap.
type Options struct {
	// Draws is how often questions are drawn; default 10,000.
	Draws int
	// Seed of the draws; any number, 0 among them.
	Seed uint64
	// Level of the intervals; default 0.95.
	Level float64
}

// DefaultDraws is the default of Options.Draws.
const DefaultDraws = 10_000

func (o Options) filled() (Options, error) {
	if o.Draws == 0 {
		o.Draws = DefaultDraws
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Draws < 1 || !(o.Level > 0 && o.Level < 1) {
		return o, fmt.Errorf("a bootstrap of %d draws at level %g can't be made: draws must be positive and the level between 0 and 1", o.Draws, o.Level)
	}
	return o, nil
}

// Of computes metrics of a system with their intervals, all from the same
// draws.
func Of(ctx context.Context, s metrics.Sample, list []metrics.Metric, o Options) (map[metrics.Metric]Estimate, error) {
	questions := make([]pair, len(s.Tallies))
	for i := range s.Tallies {
		questions[i].a = s.Tallies[i]
	}
	return over(ctx, questions, list, func(m metrics.Metric, p *pair) metrics.Value { return m.Of(&p.a) }, o)
}

// Difference computes metrics of b less those of a, with intervals: draws take
// the same questions for both. The two must be of the same questions; that they
// are of the same steps metrics.Paired tells.
func Difference(ctx context.Context, a, b metrics.Sample, list []metrics.Metric, o Options) (map[metrics.Metric]Estimate, error) {
	if !slices.Equal(a.Questions, b.Questions) {
		return nil, errors.New("the two systems were measured on different questions, so their difference has no paired interval")
	}
	questions := make([]pair, len(a.Tallies))
	for i := range questions {
		questions[i] = pair{a.Tallies[i], b.Tallies[i]}
	}
	return over(ctx, questions, list, difference, o)
}

func difference(m metrics.Metric, p *pair) metrics.Value {
	a, b := m.Of(&p.a), m.Of(&p.b)
	x, ok := a.Get()
	if !ok {
		return a
	}
	y, ok := b.Get()
	if !ok {
		return b
	}
	return metrics.Number(y - x)
}

// pair is what two systems made of some questions; b is empty where there is
// one system.
type pair struct{ a, b metrics.Tally }

func (p *pair) add(o *pair) {
	p.a.Add(&o.a)
	p.b.Add(&o.b)
}

type statistic func(metrics.Metric, *pair) metrics.Value

// over computes a statistic for each metric, with its interval.
func over(ctx context.Context, questions []pair, list []metrics.Metric, of statistic, o Options) (map[metrics.Metric]Estimate, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	var total pair
	for i := range questions {
		total.add(&questions[i])
	}
	draws, err := drawn(ctx, questions, list, of, o)
	if err != nil {
		return nil, err
	}
	left := leftOut(questions, total, list, of)
	out := make(map[metrics.Metric]Estimate, len(list))
	for k, m := range list {
		out[m] = estimate(of(m, &total), draws[k], left[k], o.Level)
	}
	return out, nil
}

// block is how many draws share a random source. It is part of what a seed
// means, so that the number of cores isn't.
const block = 256

// drawn is each metric's statistic on every draw; NaN where it has none.
func drawn(ctx context.Context, questions []pair, list []metrics.Metric, of statistic, o Options) ([][]float64, error) {
	out := make([][]float64, len(list))
	for k := range out {
		out[k] = make([]float64, o.Draws)
	}
	if len(questions) == 0 {
		return out, nil // there is no value either, so nobody looks
	}
	rows := pack(questions)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for start := 0; start < o.Draws; start += block {
		work.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			random := source(o.Seed, start/block)
			sum := make([]int32, len(rows.used))
			var p pair
			for i := start; i < min(start+block, o.Draws); i++ {
				clear(sum)
				for range questions {
					rows.add(sum, random.IntN(len(questions)))
				}
				rows.unpack(sum, &p)
				for k, m := range list {
					out[k][i] = orNaN(of(m, &p))
				}
			}
			return nil
		})
	}
	return out, work.Wait()
}

// source is the random source of a block.
func source(seed uint64, block int) *rand.Rand {
	var key [32]byte
	copy(key[:], "stepgap bootstrap")
	binary.LittleEndian.PutUint64(key[16:], seed)
	binary.LittleEndian.PutUint64(key[24:], uint64(block))
	return rand.New(rand.NewChaCha8(key))
}

// leftOut is each metric's statistic with a question left out at a time; NaN
// where it has none.
func leftOut(questions []pair, total pair, list []metrics.Metric, of statistic) [][]float64 {
	out := make([][]float64, len(list))
	for i := range questions {
		rest := total
		rest.a.Sub(&questions[i].a)
		rest.b.Sub(&questions[i].b)
		for k, m := range list {
			out[k] = append(out[k], orNaN(of(m, &rest)))
		}
	}
	return out
}

func orNaN(v metrics.Value) float64 {
	if x, ok := v.Get(); ok {
		return x
	}
	return math.NaN()
}
