package nlibench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Ours is the peer that StepGap's own worker is: a batcher over a model, both
// of this process. It learns of a request when it comes.
type Ours struct {
	Load  *Load
	Model nli.Model
	// Batch are the batcher's options. For a comparison, cache and joining are
	// off in them.
	Batch nli.BatcherOptions
}

// Saturate sends the first requests, so many clients at a time: each sends its
// next request when it has the answer to the last.
func (o *Ours) Saturate(ctx context.Context, requests, clients int) (Outcome, error) {
	return o.measure(ctx, requests, saturated(requests, clients))
}

// driver calls send for each request once, with the time that it was due, and
// returns when all are answered.
type driver func(send func(i int, due time.Time))

func saturated(requests, clients int) driver {
	return func(send func(i int, due time.Time)) {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= requests {
						return
					}
					send(i, time.Now())
				}
			})
		}
		wg.Wait()
	}
}

// Arrive sends the first requests at their times, rate a second on average,
// whether or not earlier ones are answered.
func (o *Ours) Arrive(ctx context.Context, requests int, rate float64) (Outcome, error) {
	return o.measure(ctx, requests, func(send func(i int, due time.Time)) {
		var wg sync.WaitGroup
		// Also where it is stopped: those under way write their answers.
		defer wg.Wait()
		next := time.Now()
		for i := range requests {
			next = next.Add(time.Duration(o.Load.Gaps[i] / rate * float64(time.Second)))
			due := next
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return
			}
			wg.Go(func() { send(i, due) })
		}
	})
}

// measure has drive send the first requests.
func (o *Ours) measure(ctx context.Context, requests int, drive driver) (out Outcome, err error) {
	batcher := nli.NewBatcher(o.Model, o.Batch)
	defer func() {
		if e := batcher.Close(); e != nil && err == nil {
			err = e
		}
	}()
	answers := make([][]schema.Scores, requests)
	latency := make([]float64, requests)
	errs := make([]error, requests)
	pairs := make([][]nli.Pair, requests)
	for i := range pairs {
		pairs[i] = o.Load.request(i)
	}
	meter, err := startMeter()
	if err != nil {
		return out, err
	}
	drive(func(i int, due time.Time) {
		answers[i], errs[i] = batcher.Score(ctx, pairs[i])
		latency[i] = float64(time.Since(due)) / float64(time.Millisecond)
	})
	if out.Seconds, out.CPUSeconds, err = meter.stop(); err != nil {
		return out, err
	}
	for i, e := range errs {
		if e != nil {
			return out, fmt.Errorf("scoring request %d: %w", i, e)
		}
		for _, s := range answers[i] {
			out.Scores = append(out.Scores, [3]float64{s.Entailment, s.Neutral, s.Contradiction})
		}
	}
	s := batcher.Stats()
	out.Pairs, out.LatencyMS = len(out.Scores), latency
	out.Batches, out.Computed = int(s.Batches), int(s.Pairs)
	share := s.PaddingShare()
	out.PaddingShare = &share
	return out, ctx.Err()
}

// Logits runs every pair of the first requests alone, without padding: the
// yardstick for all answers.
func (o *Ours) Logits(ctx context.Context, requests int) ([][3]float64, error) {
	var out [][3]float64
	for i := range requests {
		for _, p := range o.Load.request(i) {
			e, err := o.Model.Encode(p)
			if err != nil {
				return nil, fmt.Errorf("request %d: %w", i, err)
			}
			rows, err := o.Model.Run(ctx, []nli.Encoding{e})
			if err != nil {
				return nil, fmt.Errorf("request %d: %w", i, err)
			}
			l := rows[0]
			out = append(out, [3]float64{float64(l.Entailment), float64(l.Neutral), float64(l.Contradiction)})
		}
	}
	return out, nil
}
