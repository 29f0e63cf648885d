package bench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

func pipelineRound(ctx context.Context, o Options) (measured, error) {
	m := measured{hops: path()}
	conn, stop, err := server(ctx)
	if err != nil {
		return m, err
	}
	defer stop()
	cfg, err := app.LoadConfig(nil, func() []string { return []string{"STEPGAP_JUDGE=free", "STEPGAP_JUDGE_NLI=free"} })
	if err != nil {
		return m, err
	}
	cfg.Workers = o.Workers
	process, err := app.New(ctx, cfg, []app.Role{app.RoleEntity, app.RoleQuote, app.RoleNLI}, conn, o.Log)
	if err != nil {
		return m, err
	}
	defer process.Close()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- process.Run(running) }()

	steps := makeSteps(o)
	body, err := client.EncodeStep(&steps[0])
	if err != nil {
		return m, err
	}
	m.stepBytes = len(body)
	// What goes over each subject is counted on plain subscriptions, apart from
	// the timed round, so that counting costs the round nothing.
	if err := countOne(ctx, conn, &steps[0], &m); err != nil {
		return m, err
	}
	labels, err := waitFor(conn.NC, schema.PrefixLabels+".bench.*.*", o.Steps)
	if err != nil {
		return m, err
	}
	c, err := client.New(conn.NC)
	if err != nil {
		return m, err
	}
	cpu, start := processCPU(), time.Now()
	err = each(ctx, o.Window, steps, func(s *schema.Step) error {
		_, err := c.PublishStep(ctx, s)
		return err
	})
	if err != nil {
		return m, err
	}
	select {
	case <-labels:
	case err := <-ended:
		return m, fmt.Errorf("the pipeline stopped: %w", err)
	case <-ctx.Done():
		return m, context.Cause(ctx)
	}
	m.took, m.cpu = time.Since(start), processCPU()-cpu
	cancel()
	if err := <-ended; err != nil {
		return m, err
	}
	if err := stored(ctx, conn, m.hops); err != nil {
		return m, err
	}
	for i := range m.hops {
		m.hops[i].messages-- // the one that was counted
	}
	return m, nil
}

// countOne sends one step and measures the bytes of each of its messages.
func countOne(ctx context.Context, conn *bus.Conn, step *schema.Step, m *measured) error {
	done, err := waitFor(conn.NC, schema.PrefixLabels+".count.*.*", 1)
	if err != nil {
		return err
	}
	sizes := make([]atomic.Int64, len(m.hops))
	var subs []*nats.Subscription
	for i, h := range m.hops {
		sub, err := conn.NC.Subscribe(h.prefix+".count.*.*", func(msg *nats.Msg) { sizes[i].Store(int64(msg.Size() - len(msg.Subject) - len(msg.Reply))) })
		if err != nil {
			return err
		}
		subs = append(subs, sub)
	}
	s := *step
	s.Run = "count"
	c, err := client.New(conn.NC)
	if err != nil {
		return err
	}
	if _, err := c.PublishStep(ctx, &s); err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, sub := range subs { // what is still on its way is waited for
		if err := sub.Drain(); err != nil {
			return err
		}
		for sub.IsValid() {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range m.hops {
		m.hops[i].size = sizes[i].Load()
	}
	return nil
}

// stored reads how many messages each stream of the way has ever taken, and
// refuses a round in which any went another way.
func stored(ctx context.Context, conn *bus.Conn, hops []hop) error {
	for _, want := range bus.NewTopology(bus.Options{}).Streams {
		stream, err := conn.JS.Stream(ctx, want.Name)
		if err != nil {
			return err
		}
		n := int64(stream.CachedInfo().State.LastSeq)
		at := slices.IndexFunc(hops, func(h hop) bool { return h.stream == want.Name })
		if at < 0 && n > 0 {
			return fmt.Errorf("%d messages went through %s, which is not on the way", n, want.Name)
		}
		if at >= 0 {
			hops[at].messages = n
		}
	}
	return nil
}
