package bus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/schema"
)

// ErrFull says that a stream is at its limit: nothing was written, and trying
// again later is right.
var ErrFull = errors.New("the stream is full")

// JetStream's error codes that nats.go has no name for, or that mean more than
// one thing here.
const (
	codeWrongLastSequence         jetstream.ErrorCode = 10071
	codeWrongLastSequenceInFlight jetstream.ErrorCode = 10164
	codeStoreFailed               jetstream.ErrorCode = 10077
	codeNoResources               jetstream.ErrorCode = 10023
)

// Message builds a message with the schema header.
func Message(subject string, body []byte) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Data = body
	m.Header.Set(schema.HeaderSchema, schema.Version)
	return m
}

// Publish writes m and waits for the server's word. A full stream is ErrFull; a
// message that the server takes from no one is a *schema.FieldError.
func Publish(ctx context.Context, js jetstream.JetStream, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := js.PublishMsg(ctx, m, opts...)
	if err != nil {
		if errors.Is(err, nats.ErrMaxPayload) {
			return nil, &schema.FieldError{Field: "message", Reason: schema.ReasonTooLarge,
				Problem: fmt.Sprintf("%s has %d bytes, the NATS server's max_payload is %d; raise it to %d", m.Subject, len(m.Data), js.Conn().MaxPayload(), schema.MaxMessage)}
		}
		if classify(err) == answerFull {
			return nil, fmt.Errorf("publishing %s: %w: %w", m.Subject, ErrFull, err)
		}
		return nil, fmt.Errorf("publishing %s: %w", m.Subject, err)
	}
	return ack, nil
}

// PublishOnce writes m only if nothing stands under its subject. It returns
// true if m was written and false if another message already stands there. A
// full stream is ErrFull.
func PublishOnce(ctx context.Context, js jetstream.JetStream, m *nats.Msg) (bool, error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		_, err := js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(0))
		if err == nil {
			return true, nil
		}
		switch classify(err) {
		case answerAlreadyThere:
			return false, nil
		case answerFull:
			return false, fmt.Errorf("publishing %s: %w: %w", m.Subject, ErrFull, err)
		case answerInFlight:
			select {
			case <-ctx.Done():
				return false, fmt.Errorf("publishing %s: another write is in flight: %w", m.Subject, context.Cause(ctx))
			case <-time.After(wait):
			}
		default:
			return false, fmt.Errorf("publishing %s: %w", m.Subject, err)
		}
	}
}

type answer int

const (
	answerOther answer = iota
	answerAlreadyThere
	answerInFlight
	answerFull
)

var (
	lastSequence  = regexp.MustCompile(`wrong last sequence: (\d+)`)
	perSubjectMax = regexp.MustCompile(`maximum messages per subject`)
)

// classify tells the server's refusals apart.
//
//   - 10071 with a sequence above 0: another message stands there.
//   - 10071 with sequence 0: the expectation held and the write still failed,
//     which on one node means a full stream.
//   - 10164: another write to the subject is in flight on a replicated stream.
//   - 10077: the store refused; per subject (the guard behind the expectation)
//     that is "already there", else the stream is full.
func classify(err error) answer {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return answerOther
	}
	switch api.ErrorCode {
	case codeWrongLastSequence:
		if m := lastSequence.FindStringSubmatch(api.Description); m != nil {
			if seq, err := strconv.ParseUint(m[1], 10, 64); err == nil && seq == 0 {
				return answerFull
			}
		}
		return answerAlreadyThere
	case codeWrongLastSequenceInFlight:
		return answerInFlight
	case codeStoreFailed:
		if perSubjectMax.MatchString(api.Description) {
			return answerAlreadyThere
		}
		return answerFull
	case codeNoResources:
		return answerFull
	}
	return answerOther
}
