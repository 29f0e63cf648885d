package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Problem is why a request was refused, after RFC 9457.
type Problem struct {
	Type   string `json:"type" doc:"always about:blank"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code tells problems apart for programs.
	Code   string `json:"code" doc:"what kind of problem it is, for programs"`
	Detail string `json:"detail" doc:"what is wrong"`
	Field  string `json:"field,omitempty" doc:"the field that is wrong, as a path"`
	Do     string `json:"do,omitempty" doc:"what to do about it"`
	// Request is the id under which the gateway logged it.
	Request string `json:"request,omitempty" doc:"the id of this request in the gateway's log"`

	retryAfter time.Duration
	allow      string
	cause      error
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail) }

// Unwrap returns the error behind the problem, which is for the log only.
func (p *Problem) Unwrap() error { return p.cause }

// The codes of problems.
const (
	codeBadJSON      = "bad_json"
	codeInvalid      = "invalid"
	codeTooLarge     = "too_large"
	codeMediaType    = "media_type"
	codeToken        = "token"
	codeRun          = "run_not_allowed"
	codeHost         = "host"
	codeNotFound     = "not_found"
	codeMethod       = "method"
	codeRate         = "rate"
	codeBusy         = "busy"
	codeFull         = "pipeline_full"
	codeUnreachable  = "pipeline_unreachable"
	codeInternal     = "internal"
	codeSlow         = "slow_body"
	pipelineRetry    = 2 * time.Second
	unreachableRetry = 5 * time.Second
)

func problem(status int, code, do, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Do: do, Detail: fmt.Sprintf(format, args...)}
}

func invalid(field, do, format string, args ...any) *Problem {
	p := problem(http.StatusUnprocessableEntity, codeInvalid, do, format, args...)
	p.Field = field
	return p
}

// problemOf puts any error into words. What the error says is repeated only
// where it speaks of the request.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var field *schema.FieldError
	if errors.As(err, &field) {
		if field.Reason == schema.ReasonTooLarge {
			p = problem(http.StatusRequestEntityTooLarge, codeTooLarge, "shorten it; the limits stand in docs/gateway.md", "%s", err)
		} else {
			p = problem(http.StatusUnprocessableEntity, codeInvalid, "", "%s", err)
		}
		p.Field = field.Field
		return p
	}
	switch {
	case errors.Is(err, client.ErrBackpressure):
		p = problem(http.StatusServiceUnavailable, codeFull, "post it again later, under the same ids: nothing is judged twice", "the pipeline is full; the rollout may have been accepted in part")
		p.retryAfter = pipelineRetry
	case unreachable(err):
		p = problem(http.StatusServiceUnavailable, codeUnreachable, "try again, under the same ids: nothing is judged twice", "the pipeline could not be reached")
		p.retryAfter = unreachableRetry
	default:
		p = problem(http.StatusInternalServerError, codeInternal, "look for the request's id in the gateway's log", "a fault of the gateway's own")
	}
	p.cause = err
	return p
}

func unreachable(err error) bool {
	for _, e := range []error{
		nats.ErrConnectionClosed, nats.ErrNoServers, nats.ErrNoResponders, nats.ErrTimeout, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, jetstream.ErrNoStreamResponse, jetstream.ErrStreamNotFound,
		jetstream.ErrJetStreamNotEnabled, context.DeadlineExceeded, context.Canceled,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (p *Problem) write(w http.ResponseWriter, request string) {
	p.Request = request
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(p.retryAfter)))
	}
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="stepgap"`)
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

// seconds rounds up, so that whoever waits as long has waited long enough.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
