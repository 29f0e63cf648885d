// Package pipeline runs the whole pipeline inside the process, over an embedded
// NATS server, for commands that label and end: check, demo and tests.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/pkg/client"
)

// Pipeline is a running pipeline and a client of it.
type Pipeline struct {
	Client *client.Client
	Conn   *bus.Conn

	server  *embedded.Server
	process *app.Process
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// Start starts every role over an embedded server that listens nowhere. With a
// lender the pipeline takes its NLI model from there, and leaves it open.
func Start(ctx context.Context, cfg app.Config, log *slog.Logger, lenders ...app.Lender) (_ *Pipeline, err error) {
	p := &Pipeline{done: make(chan struct{})}
	defer func() {
		if err != nil {
			close(p.done)
			err = errors.Join(err, p.Stop())
		}
	}()
	if p.server, err = embedded.Start(embedded.Options{Dir: cfg.Store}); err != nil {
		return p, err
	}
	if p.Conn, err = bus.Connect(ctx, bus.Config{InProcess: p.server, Name: "stepgap", Log: log}); err != nil {
		return p, err
	}
	if _, err = bus.Ensure(ctx, p.Conn.JS, bus.NewTopology(app.TopologyOptions(cfg))); err != nil {
		return p, fmt.Errorf("preparing streams and consumers: %w", err)
	}
	if p.process, err = app.New(ctx, cfg, app.Roles(), p.Conn, log, lenders...); err != nil {
		return p, err
	}
	if p.Client, err = client.New(p.Conn.NC); err != nil {
		return p, err
	}
	var running context.Context
	running, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(p.done)
		p.err = p.process.Run(running)
	}()
	return p, nil
}

// Done is closed when the pipeline's loops have ended.
func (p *Pipeline) Done() <-chan struct{} { return p.done }

// Err is why they ended, once Done is closed.
func (p *Pipeline) Err() error {
	if p.err == nil {
		return errors.New("the pipeline stopped")
	}
	return p.err
}

// Stop drains the loops and closes everything.
func (p *Pipeline) Stop() error {
	if p.cancel != nil {
		p.cancel()
	}
	<-p.done
	if p.process != nil {
		p.process.Close()
	}
	if p.Conn != nil {
		p.Conn.Close()
	}
	if p.server != nil {
		p.server.Close()
	}
	return p.err
}
