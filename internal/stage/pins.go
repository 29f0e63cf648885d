package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Pins holds runs to one configuration. The first message of a run that a stage
// handles pins that stage's hash (judge, model, prompt version, thresholds) in
// the bucket stepgap-runs; a process with another hash refuses the run, so that
// a rolling deploy can't mix judges within it.
type Pins struct {
	kv   jetstream.KeyValue
	key  schema.Stage
	hash string

	mu    sync.Mutex
	known map[string]string // run -> pinned hash
	// refused counts the refusals since second; ceiling is how long the
	// refused stay away at most.
	second  time.Time
	refused int
	ceiling time.Duration
}

const pinsMax = 10_000

// PinMismatch says that a run is pinned to another configuration.
type PinMismatch struct {
	Run          string
	Stage        schema.Stage
	Pinned, Ours string
}

func (e *PinMismatch) Error() string {
	return fmt.Sprintf("run %s is pinned to configuration %.12s of %s, this process has %.12s; finish the run with the old configuration or start a new run", e.Run, e.Pinned, e.Stage, e.Ours)
}

const (
	// refusalRate is how many refusals a second a process aims to stay below.
	refusalRate = 32
	// firstRefusal and lastRefusal bound how long a refused message stays away.
	firstRefusal = 100 * time.Millisecond
	lastRefusal  = time.Minute
)

// refusalDelay is how long a refused message stays away. The server serves
// waiting workers in turn, so a message may have to pass by each of ours before
// it meets the right process: few come back soon. It also delivers again before
// it delivers anew, so many must stay away for long enough to leave the workers
// to other runs: the delay doubles each second in which too many came.
func (p *Pins) refusalDelay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.second) >= time.Second {
		if p.refused > refusalRate {
			p.ceiling = min(2*p.ceiling, lastRefusal)
		} else {
			p.ceiling = p.ceiling / 2
		}
		p.second, p.refused = now, 0
	}
	p.refused++
	p.ceiling = max(p.ceiling, firstRefusal)
	if p.refused > refusalRate { // a burst
		p.ceiling = max(p.ceiling, 5*time.Second)
	}
	return p.ceiling/2 + rand.N(p.ceiling/2)
}

// OpenPins opens the bucket for a stage whose configuration has hash.
func OpenPins(ctx context.Context, conn *bus.Conn, stage schema.Stage, hash string) (*Pins, error) {
	kv, err := conn.JS.KeyValue(ctx, bus.BucketRuns)
	if err != nil {
		return nil, fmt.Errorf("opening bucket %s: %w", bus.BucketRuns, err)
	}
	return &Pins{kv: kv, key: stage, hash: hash, known: map[string]string{}}, nil
}

// Check pins run to our hash if it is not pinned yet, and returns a
// *PinMismatch if it is pinned to another.
func (p *Pins) Check(ctx context.Context, run string) error {
	p.mu.Lock()
	pinned, ok := p.known[run]
	p.mu.Unlock()
	if !ok {
		var err error
		if pinned, err = p.pin(ctx, run); err != nil {
			return err
		}
		p.mu.Lock()
		if len(p.known) >= pinsMax {
			clear(p.known)
		}
		p.known[run] = pinned
		p.mu.Unlock()
	}
	if pinned != p.hash {
		return &PinMismatch{Run: run, Stage: p.key, Pinned: pinned, Ours: p.hash}
	}
	return nil
}

// Pinned returns a *PinMismatch if run is known to be pinned to another hash. It
// pins nothing.
func (p *Pins) Pinned(ctx context.Context, run string) error {
	entry, err := p.kv.Get(ctx, run+"."+string(p.key))
	if err != nil || string(entry.Value()) == p.hash {
		return nil // not pinned, not known, or ours
	}
	return &PinMismatch{Run: run, Stage: p.key, Pinned: string(entry.Value()), Ours: p.hash}
}

func (p *Pins) pin(ctx context.Context, run string) (string, error) {
	key := run + "." + string(p.key)
	_, err := p.kv.Create(ctx, key, []byte(p.hash))
	if err == nil {
		return p.hash, nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return "", fmt.Errorf("pinning the configuration of run %s: %w", run, err)
	}
	entry, err := p.kv.Get(ctx, key)
	if err != nil {
		return "", fmt.Errorf("reading the pinned configuration of run %s: %w", run, err)
	}
	return string(entry.Value()), nil
}
