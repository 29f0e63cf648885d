package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// question is what every attempt of one call sends.
type question struct {
	req    *http.Request
	body   []byte
	tokens int    // about, input and output
	path   string // after the base URL
	// only is the endpoint that a probe is for.
	only *endpoint
}

// question completes the request's JSON: the temperature set, the configured
// extras merged in.
func (t *transport) question(req *http.Request) (*question, error) {
	defer req.Body.Close()
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	if _, ok := fields["temperature"]; !ok && t.cfg.ReasoningTokens == 0 {
		fields["temperature"] = json.RawMessage("0")
	}
	maps.Copy(fields, t.cfg.Extra)
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool {
		return len(v) == 0 || bytes.Equal(bytes.TrimSpace(v), []byte("null"))
	})
	q := &question{req: req, path: strings.TrimPrefix(req.URL.String(), strings.TrimRight(t.cfg.BaseURL, "/"))}
	if q.body, err = json.Marshal(fields); err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	q.tokens = aboutTokens(q.body, fields)
	q.only, _ = req.Context().Value(onlyKey{}).(*endpoint)
	return q, nil
}

// bytesPerToken is how much text a token stands for, about; what was counted
// wrong is set right once the endpoint has counted.
const bytesPerToken = 4

// aboutTokens estimates what a request will be charged for at most.
func aboutTokens(body []byte, fields map[string]json.RawMessage) int {
	tokens := len(body) / bytesPerToken
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		var n int
		if json.Unmarshal(fields[key], &n) == nil {
			return tokens + max(0, n)
		}
	}
	return tokens
}

// errHedged ends the slower of two attempts.
var errHedged = errors.New("the other attempt was answered first")

// ask makes one attempt at an endpoint other than not, if there is another that
// is up. With a hedge it makes a second one where the first takes long, and
// takes the first answer. It returns when neither is under way any more.
func (t *transport) ask(q *question, ex *exchange, not *endpoint) (*http.Response, *endpoint, error) {
	first, err := t.choose(q, not)
	if err != nil {
		return nil, not, err
	}
	ctx, cancel := context.WithCancelCause(q.req.Context())
	defer cancel(nil)
	if t.cfg.Hedge == 0 || q.only != nil {
		res, err := t.once(ctx, q, first, ex.sent, false)
		ex.got(err)
		return res, first, err
	}
	type answer struct {
		res *http.Response
		err error
		own *endpoint
	}
	answers, sent := make(chan answer, 2), make(chan struct{}, 2)
	launch := func(e *endpoint, hedge bool) {
		go func() {
			res, err := t.once(ctx, q, e, func() { ex.sent(); sent <- struct{}{} }, hedge)
			answers <- answer{res, err, e}
		}()
	}
	launch(first, false)
	var late <-chan time.Time
	var won *answer
	for pending := 1; pending > 0; {
		select {
		case <-sent:
			if late == nil { // the second's own counts for nothing
				late = time.After(t.cfg.Hedge)
			}
		case <-late:
			late = make(chan time.Time)
			if second, err := t.choose(q, first); err == nil {
				launch(second, true)
				pending++
			}
		case a := <-answers:
			pending--
			if won == nil || won.err != nil && !errors.Is(a.err, errHedged) {
				ex.got(a.err)
				won = &a
			}
			if a.err == nil {
				cancel(errHedged)
			}
		}
	}
	return won.res, won.own, won.err
}

func (t *transport) choose(q *question, not *endpoint) (*endpoint, error) {
	if q.only != nil {
		return q.only, nil
	}
	return t.pool.pick(not)
}

// once makes a single attempt at e and reads its answer whole.
func (t *transport) once(ctx context.Context, q *question, e *endpoint, sent func(), hedge bool) (*http.Response, error) {
	ctx, done, err := t.admit(ctx, e, q.tokens)
	if err != nil {
		return nil, err
	}
	e.began()
	sent()
	start := t.now()
	res, tokens, err := t.send(ctx, q, e)
	took := t.now().Sub(start)
	o, h, name := judgeAttempt(ctx, err)
	o.Tokens = tokens
	rest := time.Duration(0)
	if len(t.pool.endpoints) > 1 {
		rest = o.RetryAfter // the others can serve meanwhile
	}
	down, up := e.ended(h, took, rest, t.now(), t.cfg.Breaker)
	done(o)
	t.watch(Attempt{Endpoint: e.base, Outcome: name, Took: took, Hedge: hedge})
	if down {
		t.log.Error("the endpoint is down; nothing is sent until a probe is answered", "endpoint", e.base, "failures", t.cfg.Breaker, "error", scrub(err.Error(), t.cfg.Key))
	}
	if up {
		t.log.Info("the endpoint is up again", "endpoint", e.base)
	}
	if down || up {
		t.pool.announce()
	}
	return res, err
}

// judgeAttempt says what an attempt's end means to the limiter, to its
// endpoint's health and to metrics.
func judgeAttempt(ctx context.Context, err error) (Outcome, health, string) {
	var status *statusError
	switch {
	case err == nil:
		return Outcome{OK: true}, healthGood, "ok"
	case errors.As(err, &status):
		switch {
		case status.code == http.StatusTooManyRequests:
			return Outcome{Limited: true, RetryAfter: status.wait}, healthBusy, "limited"
		case status.code >= 500:
			return Outcome{RetryAfter: status.wait}, healthBad, "failed"
		}
		return Outcome{OK: true}, healthGood, "refused"
	case errors.Is(err, errTooLarge), errors.Is(err, errRedirect):
		return Outcome{OK: true}, healthGood, "refused"
	case errors.Is(err, errCallTimeout):
		return Outcome{}, healthBad, "timeout"
	case ctx.Err() != nil:
		return Outcome{}, healthUnknown, "cancelled"
	}
	return Outcome{}, healthBad, "failed"
}

// send sends the question to e and reads the answer whole. Beside it it returns
// the tokens that the endpoint counted.
func (t *transport) send(ctx context.Context, q *question, e *endpoint) (*http.Response, int, error) {
	parent, cancel := ctx, context.CancelFunc(func() {})
	if t.cfg.CallTimeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, t.cfg.CallTimeout, errCallTimeout)
	}
	defer cancel()
	attempt := q.req.Clone(ctx)
	target, err := url.Parse(e.base + q.path)
	if err != nil {
		return nil, 0, fmt.Errorf("addressing the endpoint: %w", err)
	}
	attempt.URL, attempt.Host = target, ""
	attempt.Body = io.NopCloser(bytes.NewReader(q.body))
	attempt.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(q.body)), nil }
	attempt.ContentLength = int64(len(q.body))

	res, err := t.http.Do(attempt)
	if err != nil {
		return nil, 0, t.cause(parent, ctx, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, t.cfg.MaxBody+1))
	if err != nil {
		return nil, 0, t.cause(parent, ctx, fmt.Errorf("reading the response: %w", err))
	}
	tooLarge := int64(len(data)) > t.cfg.MaxBody
	switch {
	case res.StatusCode >= 400:
		return nil, 0, &statusError{
			code: res.StatusCode, wait: retryAfter(res.Header, t.now()),
			message: scrub(errorMessage(data), t.cfg.Key),
		}
	case res.StatusCode >= 300:
		return nil, 0, fmt.Errorf("HTTP %d: %w", res.StatusCode, errRedirect)
	case tooLarge:
		return nil, 0, fmt.Errorf("%w of %d bytes", errTooLarge, t.cfg.MaxBody)
	case !json.Valid(data):
		return nil, 0, errNotJSON
	}
	var counted struct {
		Usage struct {
			Total int `json:"total_tokens"`
		} `json:"usage"`
	}
	if e.limiter != nil {
		_ = json.Unmarshal(data, &counted) // of another shape: not counted
	}
	res.Body = io.NopCloser(bytes.NewReader(data))
	return res, max(0, counted.Usage.Total), nil
}

// cause replaces the http package's words by our own where it was the attempt's
// timeout, or the end of its permission, that struck, and not the caller.
func (t *transport) cause(parent, ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCallTimeout):
		return fmt.Errorf("%w (%s)", errCallTimeout, t.cfg.CallTimeout)
	case errors.Is(parent.Err(), context.Canceled) && cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	}
	return err
}
