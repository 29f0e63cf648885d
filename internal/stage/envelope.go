package stage

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// envelope is what the headers of a step say, read before its body is looked
// at.
type envelope struct {
	accepted time.Time
	deadline time.Duration // from accepted; 0 for none
	digest   string
}

// openEnvelope reads the headers. At the first stage, acceptance and digest are
// what the server and the bytes say, whatever a publisher wrote. Beside an error
// it returns what could be read, digest and acceptance at least.
func openEnvelope(m *Message, first bool, fallback time.Duration) (envelope, error) {
	e := envelope{accepted: m.Time, deadline: fallback}
	if first {
		e.digest = schema.Digest(m.Data())
	} else {
		e.digest = m.Header(schema.HeaderDigest)
		if ns, err := strconv.ParseInt(m.Header(schema.HeaderAccepted), 10, 64); err == nil {
			e.accepted = time.Unix(0, ns)
		}
	}
	if v := m.Header(schema.HeaderSchema); v != "" && v != schema.Version {
		return e, &schema.FieldError{Field: "header " + schema.HeaderSchema, Problem: fmt.Sprintf("is %.20q, this program reads %s", v, schema.Version), Reason: schema.ReasonUnsupportedWire}
	}
	if v := m.Header(schema.HeaderDeadline); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return e, &schema.FieldError{Field: "header " + schema.HeaderDeadline, Problem: fmt.Sprintf("%.40q is no duration; write 30m, 10s or 0 for none", v), Reason: schema.ReasonMalformed}
		}
		e.deadline = d
	}
	return e, nil
}

// left is how long the step may still take; false if it is too late.
func (e envelope) left(now time.Time) (time.Duration, bool) {
	if e.deadline == 0 {
		return 0, true
	}
	left := e.accepted.Add(e.deadline).Sub(now)
	return left, left > 0
}

// address writes the headers that the next stage reads.
func (e envelope) address(subject string, body []byte) *nats.Msg {
	m := bus.Message(subject, body)
	m.Header.Set(schema.HeaderAccepted, strconv.FormatInt(e.accepted.UnixNano(), 10))
	m.Header.Set(schema.HeaderDigest, e.digest)
	m.Header.Set(schema.HeaderDeadline, e.deadline.String())
	return m
}
