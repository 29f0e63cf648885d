package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stepgap/stepgap/pkg/schema"
)

// waitFor is closed when n messages have gone by under subject.
func waitFor(nc *nats.Conn, subject string, n int) (<-chan struct{}, error) {
	done := make(chan struct{})
	var seen atomic.Int64
	sub, err := nc.Subscribe(subject, func(*nats.Msg) {
		if seen.Add(1) == int64(n) {
			close(done)
		}
	})
	if err != nil {
		return nil, err
	}
	return done, errors.Join(sub.SetPendingLimits(-1, -1), nc.Flush())
}

// each runs f over steps with window of them at once.
func each(ctx context.Context, window int, steps []schema.Step, f func(*schema.Step) error) error {
	var next atomic.Int64
	errs := make(chan error, window)
	for range window {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(steps) || ctx.Err() != nil {
					errs <- ctx.Err()
					return
				}
				if err := f(&steps[i]); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	var all []error
	for range window {
		if err := <-errs; err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// makeSteps makes rollouts of five steps of about o.Bytes each, the same for
// every call.
func makeSteps(o Options) []schema.Step {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]byte, max(o.Bytes-500, 100))
	for i := range words {
		words[i] = "abcdefghijklmnopqrstuvwxyz     "[rng.IntN(31)]
	}
	text := string(words)
	passage := schema.Passage{Title: "Benchmark", Text: text, Digest: schema.PassageDigest("Benchmark", text)}
	const perRollout = 5
	steps := make([]schema.Step, o.Steps)
	for i := range steps {
		index := i%perRollout + 1
		passage.ByStep = index
		steps[i] = schema.Step{
			Run: "bench", Rollout: fmt.Sprintf("r%d", i/perRollout), Index: index, Kind: schema.KindSearch,
			Question: "Which river flows through the town where the painter was born?",
			Query:    "birthplace of the painter", Text: "The painter was born in the town.",
			Claim: "The painter was born in the town.", Passages: []schema.Passage{passage},
		}
	}
	return steps
}

// processCPU is the user and system time of this process so far: server,
// publisher and stages together.
func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
