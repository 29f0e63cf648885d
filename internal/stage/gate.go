package stage

import (
	"context"
	"time"
)

// Gate holds a stage's workers back while what it needs is not to be had: an
// endpoint that is down, a budget that is spent. What a worker doesn't pull
// waits in the stream, where it costs no delivery and no judge budget, and other
// processes can take it.
type Gate interface {
	// Wait returns once a worker may pull, or with ctx's error. It is asked
	// before every pull; a worker that is waiting for a message already takes
	// the one that comes.
	Wait(ctx context.Context) error
}

// GateFunc is a Gate.
type GateFunc func(ctx context.Context) error

// Wait implements Gate.
func (f GateFunc) Wait(ctx context.Context) error { return f(ctx) }

// Gates is open where all of its gates are.
type Gates []Gate

// Wait implements Gate.
func (g Gates) Wait(ctx context.Context) error {
	for _, gate := range g {
		if err := gate.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// turnsAtGate is how often a worker that is held back shows that it is alive.
const turnsAtGate = 5 * time.Second

// pass waits at the gate.
func (r *Runner) pass(ctx context.Context) error {
	if r.Gate == nil {
		return nil
	}
	ticker := time.NewTicker(turnsAtGate)
	defer ticker.Stop()
	passed := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { passed <- r.Gate.Wait(ctx) }()
	for {
		select {
		case err := <-passed:
			return err
		case <-ticker.C:
			r.turned.Store(time.Now().UnixNano())
		}
	}
}
