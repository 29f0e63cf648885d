package bench

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

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
		var options []jetstream.PullConsumeOpt
		if slices.Contains(consumer.CachedInfo().Config.PriorityGroups, bus.GroupWorkers) {
			options = append(options, jetstream.PullPriorityGroup(bus.GroupWorkers), jetstream.PullPrioritized(0))
		}
		consuming, err := consumer.Consume(func(msg jetstream.Msg) {
			select {
			case messages <- msg:
			case <-running.Done():
			}
		}, options...)
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
