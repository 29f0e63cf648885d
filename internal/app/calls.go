package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge/limit"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/stage"
)

// calls is how a process reaches its endpoints: one client, and its part of the
// limit that all processes share at each endpoint.
type calls struct {
	client   *llm.Client
	limiters []*limit.Limiter
	log      *slog.Logger
}

// endpoints splits the setting llm_url.
func endpoints(setting string) (first string, more []string) {
	for _, u := range strings.Split(setting, ",") {
		if u = strings.TrimSpace(u); u == "" {
			continue
		}
		if first == "" {
			first = u
		} else {
			more = append(more, u)
		}
	}
	return first, more
}

// openCalls makes the process's client. It is closed with the process.
func (p *Process) openCalls(ctx context.Context, c llm.Config) (*llm.Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	kv, err := p.conn.JS.KeyValue(ctx, bus.BucketLimits)
	if err != nil {
		return nil, fmt.Errorf("opening bucket %s: %w", bus.BucketLimits, err)
	}
	calls := &calls{log: p.log}
	byBase := map[string]llm.Limiter{}
	for _, base := range append([]string{c.BaseURL}, c.MoreURLs...) {
		l, err := openLimit(ctx, p.cfg, kv, base, p.log)
		if err != nil {
			return nil, err
		}
		p.closers = append(p.closers, l.Close)
		calls.limiters = append(calls.limiters, l)
		byBase[strings.TrimRight(base, "/")] = l
	}
	metrics, err := newCallMetrics(p.registry, calls)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	calls.client, err = llm.New(c, llm.WithLog(p.log), llm.WithObserver(metrics.observe),
		llm.WithLimiter(func(base string) llm.Limiter { return byBase[base] }))
	if err != nil {
		return nil, err
	}
	probing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		calls.client.Probe(probing)
	}()
	p.closers = append(p.closers, func() { stop(); <-done })
	p.calls = calls
	return calls.client, nil
}

// openLimit joins the limit of one endpoint and model.
func openLimit(ctx context.Context, cfg Config, kv jetstream.KeyValue, base string, log *slog.Logger) (*limit.Limiter, error) {
	sum := sha256.Sum256([]byte(strings.TrimRight(base, "/") + "\n" + cfg.LLMModel))
	return limit.Open(ctx, limit.Config{
		Limits: limit.Limits{Concurrent: cfg.LLMConcurrency, PerSecond: cfg.LLMRPS, TokensPerMinute: cfg.LLMTPM},
		Bucket: kv, Key: "llm-" + hex.EncodeToString(sum[:8]), ID: rand.Text(), Log: log,
	})
}

const (
	// spare calls may wait for their turn beside twice the slots, so that a
	// slot never waits for a pull.
	spare = 8
	// congestionLook is how often a full queue is looked at.
	congestionLook = 50 * time.Millisecond
)

// gate holds the stages that ask an LLM back while no endpoint is up, and while
// more calls wait for their turn than a process needs at hand. After an outage
// as long as a step may take, steps are pulled again, to be told so.
func (c *calls) gate(cfg Config) stage.Gate {
	patience := cfg.Deadline
	if cfg.GiveUpAfter > 0 && (patience == 0 || cfg.GiveUpAfter < patience) {
		patience = cfg.GiveUpAfter
	}
	return stage.Gates{
		stage.GateFunc(func(ctx context.Context) error { return c.waitUp(ctx, patience) }),
		stage.GateFunc(c.waitRoom),
	}
}

func (c *calls) waitUp(ctx context.Context, patience time.Duration) error {
	for {
		since, down, changed := c.client.Down()
		if !down {
			return nil
		}
		left := patience - time.Since(since)
		if patience > 0 && left <= 0 {
			return nil
		}
		var late <-chan time.Time
		if patience > 0 {
			late = time.After(left)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-late:
		}
	}
}

func (c *calls) waitRoom(ctx context.Context) error {
	for {
		room := len(c.limiters) * spare
		for _, l := range c.limiters {
			s := l.Snapshot()
			room += 2*s.Slots - s.Waiting
		}
		if room > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(congestionLook):
		}
	}
}
