// Package client is the Go client of StepGap, for rollout workers and trainers:
// publish steps and ends, wait for labels and rewards, ask while generating.
//
// A client is safe for concurrent use. Every call honours its context.
package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Errors that callers match with errors.Is.
var (
	// ErrBackpressure: the pipeline's queue is full. Nothing was accepted; slow
	// down and try again.
	ErrBackpressure = errors.New("the pipeline is full")
	// ErrIDReused: a label or reward stands under this id, for other content.
	ErrIDReused = errors.New("the id was used before, for other content")
)

// Client talks to one StepGap deployment.
type Client struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	closes bool
}

// Connect connects to the NATS server at url. Options are those of nats.go
// (credentials, TLS, name).
func Connect(url string, opts ...nats.Option) (*Client, error) {
	opts = append([]nats.Option{nats.MaxReconnects(-1), nats.ReconnectBufSize(-1)}, opts...)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, fmt.Errorf("connecting to NATS at %s: %w", url, err)
	}
	c, err := New(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.closes = true
	return c, nil
}

// New uses a connection that the caller keeps.
func New(nc *nats.Conn) (*Client, error) {
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("opening JetStream: %w", err)
	}
	return &Client{nc: nc, js: js}, nil
}

// Close closes the connection, if Connect made it.
func (c *Client) Close() {
	if c.closes {
		c.nc.Close()
	}
}

// StepOption changes how a step is published.
type StepOption func(*nats.Msg)

// Deadline sets the step's deadline, counted from its acceptance; 0 for none.
func Deadline(d time.Duration) StepOption {
	return func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, d.String()) }
}

// PublishStep validates the step, publishes it and waits until it is accepted.
// Passages without a digest get one. It returns the reference that the
// rollout's end lists. An invalid step is a *schema.FieldError and never leaves
// the process; a full pipeline is ErrBackpressure.
func (c *Client) PublishStep(ctx context.Context, step *schema.Step, opts ...StepOption) (schema.StepRef, error) {
	m, ref, err := StepMessage(step, opts...)
	if err == nil {
		err = c.publish(ctx, m)
	}
	if err != nil {
		return schema.StepRef{}, fmt.Errorf("step not published (%s): %w", schema.StepID{Run: step.Run, Rollout: step.Rollout, Index: step.Index}, err)
	}
	return ref, nil
}

// StepMessage is a step as it is published, and its reference.
func StepMessage(step *schema.Step, opts ...StepOption) (*nats.Msg, schema.StepRef, error) {
	body, err := EncodeStep(step)
	if err != nil {
		return nil, schema.StepRef{}, err
	}
	id := schema.StepID{Run: step.Run, Rollout: step.Rollout, Index: step.Index}
	m := ingress(id.Subject(schema.PrefixSteps), body)
	for _, o := range opts {
		o(m)
	}
	return m, schema.StepRef{Index: step.Index, Digest: schema.Digest(body)}, nil
}

// EncodeStep validates and encodes a step as it goes onto the wire: without the
// ids, which the subject holds, and with the passages' digests.
func EncodeStep(step *schema.Step) ([]byte, error) {
	s := *step
	s.Passages = make([]schema.Passage, len(step.Passages))
	for i, p := range step.Passages {
		if p.Digest == "" {
			p.Digest = p.Ref
			if p.Ref == "" {
				p.Digest = schema.PassageDigest(p.Title, p.Text)
			}
		}
		s.Passages[i] = p
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s.Run, s.Rollout, s.Index = "", "", 0
	return schema.Encode(&s)
}

// PublishEnd publishes the end of a rollout and waits until it is accepted.
func (c *Client) PublishEnd(ctx context.Context, end *schema.RolloutEnd) error {
	m, err := EndMessage(end)
	if err == nil {
		err = c.publish(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("end not published (%s): %w", schema.RolloutID{Run: end.Run, Rollout: end.Rollout}, err)
	}
	return nil
}

// EndMessage is an end as it is published.
func EndMessage(end *schema.RolloutEnd) (*nats.Msg, error) {
	if err := end.Validate(); err != nil {
		return nil, err
	}
	e := *end
	e.Run, e.Rollout = "", ""
	body, err := schema.Encode(&e)
	if err != nil {
		return nil, err
	}
	return ingress(schema.RolloutID{Run: end.Run, Rollout: end.Rollout}.Subject(schema.PrefixEnds), body), nil
}

// PublishTranscript publishes a whole rollout, which the role transcript-split
// cuts into steps and an end, and waits until it is accepted. One that can't be
// read ends in a null reward.
func (c *Client) PublishTranscript(ctx context.Context, t *schema.Transcript) error {
	id := schema.RolloutID{Run: t.Run, Rollout: t.Rollout}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("transcript not published (%s): %w", id, err)
	}
	bare := *t
	bare.Run, bare.Rollout = "", ""
	body, err := schema.Encode(&bare)
	if err == nil {
		err = c.publish(ctx, ingress(id.Subject(schema.PrefixTranscripts), body))
	}
	if err != nil {
		return fmt.Errorf("transcript not published (%s): %w", id, err)
	}
	return nil
}

// ingress builds a message of a publisher. Its id is subject and digest, so that
// a publisher's own retry is recognised, and other content never is.
func ingress(subject string, body []byte) *nats.Msg {
	m := bus.Message(subject, body)
	m.Header.Set(nats.MsgIdHdr, subject+" "+schema.Digest(body))
	return m
}

// publish waits for the server's word.
func (c *Client) publish(ctx context.Context, m *nats.Msg) error {
	_, err := bus.Publish(ctx, c.js, m)
	if errors.Is(err, bus.ErrFull) {
		return fmt.Errorf("%w: %w", ErrBackpressure, err)
	}
	return err
}
