package bench

import (
	"context"
	"time"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/pkg/schema"
)

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
