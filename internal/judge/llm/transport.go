package llm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
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
	mu       sync.Mutex
	attempts int
	// answered says that some response came, good or bad.
	answered bool
}

func (ex *exchange) sent() {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.attempts++
}

func (ex *exchange) got(err error) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.answered = ex.answered || answered(err)
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
	pool  *pool
	limit func(base string) Limiter
	watch func(Attempt)
	log   *slog.Logger
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
	q, err := t.question(req)
	if err != nil {
		return nil, err
	}
	var last *endpoint
	for round := 1; ; round++ {
		res, e, err := t.ask(q, ex, last)
		if err == nil {
			return res, nil
		}
		if ctxErr := req.Context().Err(); ctxErr != nil {
			return nil, fmt.Errorf("%w (last: %w)", ctxErr, err)
		}
		if !retryable(err) || round >= t.cfg.MaxAttempts || q.only != nil {
			return nil, err
		}
		last = e
		wait := t.backoff(round, err, t.pool.other(e))
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
