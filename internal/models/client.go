package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// client makes requests, one attempt each. The token goes to the hub alone.
type client struct {
	http  *http.Client
	agent string
	// stall is how long a body may say nothing before it counts as broken off.
	stall time.Duration
	// reached says that some server has answered: from then on a failed
	// connection is taken for a passing fault.
	reached atomic.Bool
}

func newClient(env Env, agent string, stall time.Duration) *client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	t.TLSHandshakeTimeout = 20 * time.Second
	return &client{
		http:  &http.Client{Transport: &bearer{base: t, hub: env.Endpoint, token: env.Token}},
		agent: agent, stall: stall,
	}
}

// bearer adds the token to requests that go to the hub itself, and to no other:
// not to the host that a redirect leads to, not over another scheme or port.
type bearer struct {
	base  http.RoundTripper
	hub   *url.URL
	token Token
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" && sameOrigin(r.URL, b.hub) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b.token))
	}
	return b.base.RoundTrip(r)
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// request is one HTTP request.
type request struct {
	method string
	url    *url.URL
	user   *url.Userinfo // of a URL that the user gave
	header http.Header
	// stay keeps a redirect to another host as the answer.
	stay bool
}

// do makes one attempt. Answers that are no success are *statusError, failed
// connections *netError. The body must be closed; reading it is watched.
func (c *client) do(ctx context.Context, r request) (*http.Response, error) {
	watchedCtx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(watchedCtx, r.method, r.url.String(), nil)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("asking %s: the URL can't be used", shown(r.url))
	}
	for k, v := range r.header {
		req.Header[k] = v
	}
	// Lengths and ranges count the file's own bytes only without compression.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", c.agent)
	if r.user != nil {
		password, _ := r.user.Password()
		req.SetBasicAuth(r.user.Username(), password)
	}
	h := c.http
	if r.stay {
		staying := *c.http
		staying.CheckRedirect = func(next *http.Request, _ []*http.Request) error {
			if sameOrigin(next.URL, r.url) {
				return nil
			}
			return http.ErrUseLastResponse
		}
		h = &staying
	}
	res, err := h.Do(req)
	if err != nil {
		cancel(nil)
		return nil, netFault(ctx, r.url, err)
	}
	c.reached.Store(true)
	if res.StatusCode >= 300 && !(r.stay && res.StatusCode < 400) {
		defer cancel(nil)
		defer res.Body.Close()
		return nil, statusFault(r.url, res)
	}
	res.Body = &watched{
		ReadCloser: res.Body, ctx: watchedCtx, cancel: cancel, stall: c.stall,
		timer: time.AfterFunc(c.stall, func() { cancel(errStalled) }),
	}
	return res, nil
}

// readAll reads a small answer, of at most limit bytes.
func (c *client) readAll(ctx context.Context, r request, limit int64) ([]byte, http.Header, error) {
	res, err := c.do(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, nil, netFault(ctx, r.url, err)
	}
	if int64(len(b)) > limit {
		return nil, nil, fmt.Errorf("%s answers more than %d bytes", shown(r.url), limit)
	}
	return b, res.Header, nil
}

// errStalled says that a body sent nothing for too long.
var errStalled = errors.New("the server stopped sending")

// watched is a body whose request is cancelled when it stalls.
type watched struct {
	io.ReadCloser
	ctx    context.Context // the request's, to learn why it ended
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.timer.Reset(w.stall)
	if err != nil && errors.Is(context.Cause(w.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

func (w *watched) Close() error {
	w.timer.Stop()
	err := w.ReadCloser.Close()
	w.cancel(nil)
	return err
}

// statusError is an answer that is no success.
type statusError struct {
	at     string // URL without credentials and query
	code   int
	reason string // what the hub says in X-Error-Code
	says   string // and in X-Error-Message
	// wait is what Retry-After asks for; 0 if nothing.
	wait time.Duration
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.at, e.code, http.StatusText(e.code))
	if e.says != "" {
		text += " (" + e.says + ")"
	}
	return text
}

func statusFault(u *url.URL, res *http.Response) *statusError {
	return &statusError{
		at: shown(u), code: res.StatusCode, reason: res.Header.Get("X-Error-Code"),
		says: clip(res.Header.Get("X-Error-Message"), 200), wait: retryAfter(res.Header, time.Now()),
	}
}

// missing says that the server has no such thing.
func missing(err error) bool {
	var s *statusError
	return errors.As(err, &s) && (s.code == http.StatusNotFound || s.code == http.StatusGone)
}

// forbidden says that the server refuses the thing, or that there is one.
func forbidden(err error) bool {
	var s *statusError
	return errors.As(err, &s) && s.code == http.StatusForbidden
}

// netError is a request that got no answer, or not all of it.
type netError struct {
	host string
	dial bool // there was no connection at all
	err  error
}

func (e *netError) Error() string {
	if e.dial {
		return fmt.Sprintf("%s can't be reached: %v", e.host, e.err)
	}
	return fmt.Sprintf("the connection to %s broke: %v", e.host, e.err)
}

func (e *netError) Unwrap() error { return e.err }

// netFault names the host that was asked. Go's own error would repeat the URL
// of the last redirect, whose query is a credential.
func netFault(ctx context.Context, u *url.URL, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var op *net.OpError
	var dns *net.DNSError
	dial := errors.As(err, &dns) || (errors.As(err, &op) && op.Op == "dial")
	return &netError{host: u.Host, dial: dial, err: err}
}

// shown is a URL as messages may hold it.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "..."
	}
	return s
}
