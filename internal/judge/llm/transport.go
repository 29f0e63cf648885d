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
	"time"
)

// Causes that the transport tells apart. They are found with errors.Is.
var (
	// errCallTimeout: one attempt took longer than Config.CallTimeout.
	errCallTimeout = errors.New("no answer within the call timeout")
	// errTooLarge: a body over Config.MaxBody.
	errTooLarge = errors.New("the response is over the size limit")
	// errNotJSON: a success whose body is not JSON, as from a captive proxy.
	errNotJSON = errors.New("the response is not JSON")
	// errRedirect: followed, it would send the key somewhere else.
	errRedirect = errors.New("the endpoint redirects; configure its final URL")
)

// statusError is a response with a status of 400 or above.
type statusError struct {
	code int
	// wait is what Retry-After asked for; 0 if nothing.
	wait time.Duration
	// message is the endpoint's own, scrubbed and cut.
	message string
}

func (e *statusError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("HTTP %d %s", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("HTTP %d %s: %s", e.code, http.StatusText(e.code), e.message)
}

// exchange is what one call did on the wire; the client puts it into the
// request's context, the transport fills it.
type exchange struct {
	attempts int
	// answered says that some response came, good or bad.
	answered bool
}

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	ex := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, ex), ex
}

// transport is go-openai's HTTPDoer. It completes the body (go-openai omits a
// zero temperature), retries what can pass, honours Retry-After, and reads
// every response whole and bounded, so that a connection cut in mid-body is
// retried like any other network fault.
type transport struct {
	cfg   Config
	http  *http.Client
	sleep func(ctx context.Context, d time.Duration) error
	rand  func() float64
	now   func() time.Time
}

// Do sends req until it is answered, cannot be, or may no longer be tried.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	ex, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if ex == nil {
		ex = &exchange{}
	}
	body, err := t.body(req)
	if err != nil {
		return nil, err
	}
	for {
		ex.attempts++
		res, err := t.once(req, body)
		ex.answered = ex.answered || answered(err)
		if err == nil {
			return res, nil
		}
		if ctxErr := req.Context().Err(); ctxErr != nil {
			return nil, fmt.Errorf("%w (last: %w)", ctxErr, err)
		}
		if !retryable(err) || ex.attempts >= t.cfg.MaxAttempts {
			return nil, err
		}
		wait := t.backoff(ex.attempts, err)
		if wait > t.cfg.MaxWait || !t.fits(req.Context(), wait) {
			return nil, err
		}
		if err := t.sleep(req.Context(), wait); err != nil {
			return nil, fmt.Errorf("waiting to retry: %w", err)
		}
	}
}

// answered reports whether the endpoint said anything.
func answered(err error) bool {
	var status *statusError
	return err == nil || errors.As(err, &status) || errors.Is(err, errNotJSON) ||
		errors.Is(err, errTooLarge) || errors.Is(err, errRedirect)
}

// fits reports whether ctx leaves time for a wait and something after it.
func (t *transport) fits(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || t.now().Add(wait).Before(deadline)
}

// once makes a single attempt and reads its answer whole.
func (t *transport) once(req *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := req.Context(), context.CancelFunc(func() {})
	if t.cfg.CallTimeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, t.cfg.CallTimeout, errCallTimeout)
	}
	defer cancel()

	attempt := req.Clone(ctx)
	attempt.Body = io.NopCloser(bytes.NewReader(body))
	attempt.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	attempt.ContentLength = int64(len(body))

	res, err := t.http.Do(attempt)
	if err != nil {
		return nil, t.cause(ctx, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, t.cfg.MaxBody+1))
	if err != nil {
		return nil, t.cause(ctx, fmt.Errorf("reading the response: %w", err))
	}
	tooLarge := int64(len(data)) > t.cfg.MaxBody
	switch {
	case res.StatusCode >= 400:
		return nil, &statusError{
			code: res.StatusCode, wait: retryAfter(res.Header, t.now()),
			message: scrub(errorMessage(data), t.cfg.Key),
		}
	case res.StatusCode >= 300:
		return nil, fmt.Errorf("HTTP %d: %w", res.StatusCode, errRedirect)
	case tooLarge:
		return nil, fmt.Errorf("%w of %d bytes", errTooLarge, t.cfg.MaxBody)
	case !json.Valid(data):
		return nil, errNotJSON
	}
	res.Body = io.NopCloser(bytes.NewReader(data))
	return res, nil
}

// cause replaces the http package's "deadline exceeded" by our own word where
// the attempt's timeout, not the caller's, was the one that struck.
func (t *transport) cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errCallTimeout) {
		return fmt.Errorf("%w (%s)", errCallTimeout, t.cfg.CallTimeout)
	}
	return err
}

// body returns the request's JSON with the temperature set and the configured
// extras merged in.
func (t *transport) body(req *http.Request) ([]byte, error) {
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
	data, err = json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	return data, nil
}

// newHTTPClient returns a client that keeps a connection for every concurrent
// call to the one endpoint, and follows no redirects.
func newHTTPClient(base http.RoundTripper) *http.Client {
	if base == nil {
		tr := &http.Transport{Proxy: http.ProxyFromEnvironment}
		if def, ok := http.DefaultTransport.(*http.Transport); ok {
			tr = def.Clone()
		}
		tr.MaxIdleConns, tr.MaxIdleConnsPerHost = 256, 256
		base = tr
	}
	return &http.Client{
		Transport:     base,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
