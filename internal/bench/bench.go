// Package bench measures the pipeline with judges that cost nothing against
// bare JetStream doing the same work: the same streams, message count and
// bytes, in the same run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options size a run.
type Options struct {
	Steps   int // steps to push through; default 20,000
	Bytes   int // about the size of a step's body; default 2048
	Window  int // steps published and not yet accepted at once; default 256
	Workers int // workers a stage; default 32
	Log     *slog.Logger
	// Progress gets a line a phase.
	Progress io.Writer
}

// Report is what a run measured.
type Report struct {
	Steps int `json:"steps"`
	// StepsPerSecond from the first publish to the last label.
	StepsPerSecond float64 `json:"steps_per_s"`
	// BareStepsPerSecond is bare JetStream's rate for the same messages.
	BareStepsPerSecond float64 `json:"bare_steps_per_s"`
	// Ratio of the two; the rounds alternate and their medians are compared.
	Ratio           float64   `json:"ratio_bare_jetstream"`
	MessagesPerStep float64   `json:"messages_per_step"`
	BytesPerStep    float64   `json:"bytes_per_step"`
	CPUPerStep      float64   `json:"cpu_us_per_step"`
	BareCPUPerStep  float64   `json:"bare_cpu_us_per_step"`
	Rounds          []float64 `json:"rounds_steps_per_s"`
	BareRounds      []float64 `json:"bare_rounds_steps_per_s"`
	Workers         int       `json:"workers"`
	Window          int       `json:"window"`
	StepBytes       int       `json:"step_bytes"`
}

func (o Options) withDefaults() Options {
	if o.Steps == 0 {
		o.Steps = 20_000
	}
	if o.Bytes == 0 {
		o.Bytes = 2048
	}
	if o.Window == 0 {
		o.Window = 256
	}
	if o.Workers == 0 {
		o.Workers = 32
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// rounds is how often each side is measured.
const rounds = 3

// Run measures both sides, in turn.
func Run(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	r := Report{Steps: o.Steps, Workers: o.Workers, Window: o.Window}
	var cpu, bareCPU []float64
	for round := range rounds {
		ours, err := pipelineRound(ctx, o)
		if err != nil {
			return r, fmt.Errorf("pipeline, round %d: %w", round+1, err)
		}
		bare, err := bareRound(ctx, o, ours)
		if err != nil {
			return r, fmt.Errorf("bare JetStream, round %d: %w", round+1, err)
		}
		n := float64(o.Steps)
		r.Rounds = append(r.Rounds, n/ours.took.Seconds())
		r.BareRounds = append(r.BareRounds, n/bare.took.Seconds())
		cpu = append(cpu, float64(ours.cpu.Microseconds())/n)
		bareCPU = append(bareCPU, float64(bare.cpu.Microseconds())/n)
		r.MessagesPerStep = float64(ours.messages()) / n
		r.BytesPerStep = float64(ours.bytes()) / n
		r.StepBytes = ours.stepBytes
		_, _ = fmt.Fprintf(o.Progress, "round %d of %d: pipeline %.0f steps/s, bare JetStream %.0f steps/s\n", round+1, rounds, r.Rounds[round], r.BareRounds[round])
	}
	r.StepsPerSecond, r.BareStepsPerSecond = median(r.Rounds), median(r.BareRounds)
	r.Ratio = r.StepsPerSecond / r.BareStepsPerSecond
	r.CPUPerStep, r.BareCPUPerStep = median(cpu), median(bareCPU)
	return r, nil
}

// measured is one side's round.
type measured struct {
	took      time.Duration
	cpu       time.Duration
	stepBytes int
	// hops are the streams in the order of the data's way.
	hops []hop
}

type hop struct {
	stream, prefix string
	messages       int64 // that went through
	size           int64 // bytes of one, headers included
}

func (m measured) messages() (n int64) {
	for _, h := range m.hops {
		n += h.messages
	}
	return n
}

func (m measured) bytes() (n int64) {
	for _, h := range m.hops {
		n += h.messages * h.size
	}
	return n
}

// path is the way of a step with a claim and a quote: A, C, D, label.
func path() []hop {
	return []hop{
		{stream: bus.StreamSteps, prefix: schema.PrefixSteps},
		{stream: bus.StreamQuote, prefix: schema.PrefixQuote},
		{stream: bus.StreamLocal, prefix: schema.PrefixLocal},
		{stream: bus.StreamLabels, prefix: schema.PrefixLabels},
	}
}

// server starts a fresh server with the topology.
func server(ctx context.Context) (*bus.Conn, func(), error) {
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		return nil, nil, err
	}
	conn, err := bus.Connect(ctx, bus.Config{InProcess: s, Name: "bench"})
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	stop := func() { conn.Close(); s.Close() }
	if _, err := bus.Ensure(ctx, conn.JS, bus.NewTopology(bus.Options{})); err != nil {
		stop()
		return nil, nil, err
	}
	return conn, stop, nil
}

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

// bareRound moves the same messages with the least code that keeps them safe:
// pull, publish and wait, DoubleAck.
func bareRound(ctx context.Context, o Options, like measured) (measured, error) {
	m := measured{hops: like.hops, stepBytes: like.stepBytes}
	conn, stop, err := server(ctx)
	if err != nil {
		return m, err
	}
	defer stop()
	running, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	stages := []schema.Stage{schema.StageEntity, schema.StageQuote, schema.StageLocal}
	failed := make(chan error, 1)
	for i, s := range stages {
		next := like.hops[i+1]
		payload := make([]byte, next.size)
		consumer, err := conn.JS.Consumer(ctx, like.hops[i].stream, string(s))
		if err != nil {
			return m, err
		}
		// Prefetching by Consume is JetStream's fastest way to read.
		messages := make(chan jetstream.Msg, o.Workers)
		consuming, err := consumer.Consume(func(msg jetstream.Msg) {
			select {
			case messages <- msg:
			case <-running.Done():
			}
		})
		if err != nil {
			return m, err
		}
		defer consuming.Stop()
		for range o.Workers {
			workers.Go(func() {
				if err := bareWorker(running, conn.JS, messages, like.hops[i].prefix, next.prefix, payload); err != nil && running.Err() == nil {
					select {
					case failed <- err:
					default:
					}
				}
			})
		}
	}
	labels, err := waitFor(conn.NC, schema.PrefixLabels+".bench.*.*", o.Steps)
	if err != nil {
		return m, err
	}
	steps := makeSteps(o)
	payload := make([]byte, like.hops[0].size)
	cpu, start := processCPU(), time.Now()
	err = each(ctx, o.Window, steps, func(s *schema.Step) error {
		id := schema.StepID{Run: s.Run, Rollout: s.Rollout, Index: s.Index}
		_, err := conn.JS.Publish(ctx, id.Subject(schema.PrefixSteps), payload)
		return err
	})
	if err != nil {
		return m, err
	}
	select {
	case <-labels:
	case err := <-failed:
		return m, err
	case <-ctx.Done():
		return m, context.Cause(ctx)
	}
	m.took, m.cpu = time.Since(start), processCPU()-cpu
	return m, nil
}

func bareWorker(ctx context.Context, js jetstream.JetStream, messages <-chan jetstream.Msg, from, to string, payload []byte) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case msg := <-messages:
			if _, err := js.Publish(ctx, to+msg.Subject()[len(from):], payload); err != nil {
				return err
			}
			if err := msg.DoubleAck(ctx); err != nil {
				return err
			}
		}
	}
}

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
