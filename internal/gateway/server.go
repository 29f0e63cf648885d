package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// Server is a gateway.
type Server struct {
	o     Options
	mux   *http.ServeMux
	posts slots
	waits slots
	rates *rates
	spec  []byte
	// metrics may be nil
	metrics *metrics
	// stopping is done when the server is being stopped: whoever waits is
	// answered then.
	stopping context.Context
	stop     context.CancelFunc
}

// New builds a gateway.
func New(o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, posts: make(slots, o.MaxPosts), waits: make(slots, o.MaxWaits), rates: newRates(o.Rate, o.MaxBatch)}
	if s.spec, err = json.MarshalIndent(openAPI(o), "", " "); err != nil {
		return nil, fmt.Errorf("describing the interface: %w", err)
	}
	if s.metrics, err = newMetrics(o.Registerer, s.waits); err != nil {
		return nil, err
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.mux = s.routes()
	return s, nil
}

// routes are all that the gateway answers. A path of openAPI that is none of
// them, or the other way round, fails a test.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"POST /v1/rollouts":               {s.postRollout, true},
		"POST /v1/rollouts:batch":         {s.postBatch, true},
		"POST /v1/score":                  {s.score, true},
		"GET /v1/rewards/{run}/{rollout}": {s.getReward, false},
		"GET /v1/labels/{run}/{rollout}":  {s.getLabels, false},
		"POST /get_reward":                {s.openRLHF, true},
	} {
		mux.Handle(pattern, s.handle(h))
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.spec)
	})
	mux.HandleFunc("GET /healthz", s.health)
	return mux
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.o.Ready != nil {
		if err := s.o.Ready(); err != nil {
			p := problem(http.StatusServiceUnavailable, codeUnreachable, "", "the pipeline can't be reached")
			p.retryAfter = unreachableRetry
			p.write(w, "")
			return
		}
	}
	writeJSON(w, http.StatusOK, "application/json", Health{Status: "ok"})
}

// Health says that the gateway can reach the pipeline.
type Health struct {
	Status string `json:"status"`
}

// call is one request on its way.
type call struct {
	w     http.ResponseWriter
	r     *http.Request
	id    string
	token *Token
	// caller is what rates are kept by.
	caller string
	// read gives the slot of reading and publishing back; what follows is
	// waiting.
	read func()
}

// handler answers a call, or returns why not.
type handler struct {
	answer func(*call) error
	body   bool
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(bare http.ResponseWriter, r *http.Request) {
	start, w := time.Now(), &watched{ResponseWriter: bare, status: http.StatusOK}
	defer func() { s.metrics.observe(r.Pattern, w.status, time.Since(start)) }()
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.BodyTimeout + publishTimeout + s.o.MaxWait + writeTimeout))
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.nowhere(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// nowhere says of a request that no route takes what would be right.
func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		p := problem(http.StatusMethodNotAllowed, codeMethod, "use "+strings.Join(allowed, " or "), "%.20q is not answered here", r.Method)
		p.allow = strings.Join(allowed, ", ")
		p.write(w, "")
		return
	}
	problem(http.StatusNotFound, codeNotFound, "GET /openapi.json lists what there is", "nothing is served here").write(w, "")
}

// handle does what every call asks for before it is answered: who is it, may
// they, is there room.
func (s *Server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{w: w, r: r, id: randomID(8), read: func() {}}
		start := time.Now()
		err := s.guard(c, h)
		c.read()
		if err == nil {
			s.o.Log.Debug("answered", "request", c.id, "route", r.Pattern, "caller", c.caller, "took", time.Since(start))
			return
		}
		if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
			s.o.Log.Debug("the caller has gone", "request", c.id, "route", r.Pattern, "caller", c.caller, "took", time.Since(start))
			return
		}
		p := problemOf(err)
		level := slog.LevelInfo
		if p.Status >= http.StatusInternalServerError {
			level = slog.LevelWarn
		}
		// Never the body, the query or a header: they can hold secrets.
		s.o.Log.Log(r.Context(), level, "refused", "request", c.id, "route", r.Pattern, "caller", c.caller, "status", p.Status, "code", p.Code, "field", p.Field, "cause", p.cause)
		p.write(w, c.id)
	})
}

func (s *Server) guard(c *call, h handler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("answering panicked: %v\n%s", v, debug.Stack())
		}
	}()
	if p := s.admit(c); p != nil {
		return p
	}
	if !h.body {
		return h.answer(c)
	}
	if c.read = s.posts.take(); c.read == nil {
		c.read = func() {}
		return busy("reading")
	}
	control := http.NewResponseController(c.w)
	_ = control.SetReadDeadline(time.Now().Add(s.o.BodyTimeout))
	return h.answer(c)
}

func busy(with string) *Problem {
	p := problem(http.StatusServiceUnavailable, codeBusy, "wait as long as Retry-After says", "the gateway is %s as many requests as it may at once", with)
	p.retryAfter = time.Second
	return p
}

func (s *Server) admit(c *call) *Problem {
	c.caller, _, _ = net.SplitHostPort(c.r.RemoteAddr)
	if s.o.Tokens == nil {
		if s.o.Local && !loopbackHost(c.r.Host) {
			return problem(http.StatusMisdirectedRequest, codeHost, "use http://127.0.0.1 or http://localhost, or give the gateway tokens", "this gateway is open to this machine alone, and the request is for another host")
		}
	} else {
		var p *Problem
		if c.token, p = s.o.Tokens.of(c.r); p != nil {
			return p
		}
		c.caller = c.token.Name
	}
	return s.charge(c, 1)
}

// charge counts n against the caller's rate.
func (s *Server) charge(c *call, n int) *Problem {
	wait := s.rates.take(c.caller, n, time.Now())
	if wait == 0 {
		return nil
	}
	p := problem(http.StatusTooManyRequests, codeRate, "wait as long as Retry-After says", "more than %v rollouts or readings a second", s.o.Rate)
	p.retryAfter = wait
	return p
}

// allowed refuses a run that is not the caller's.
func (c *call) allowed(run string) *Problem {
	if c.token.mayUse(run) {
		return nil
	}
	p := problem(http.StatusForbidden, codeRun, "use one of its runs, or ask whoever runs this gateway", "the token %q may not use run %.140q", c.token.Name, run)
	p.Field = "run"
	return p
}

func loopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, contentType = http.StatusInternalServerError, "application/problem+json"
		b = []byte(`{"type":"about:blank","title":"Internal Server Error","status":500,"code":"internal","detail":"the answer could not be written"}`)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

// Serve answers on l until ctx is done; then whoever waits is told what is known
// and the rest is given a moment.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// No ReadTimeout: it would end a wait, since it also bounds the watch for a
	// caller that goes away. Bodies have a deadline of their own.
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		s.stop()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		stopped <- errors.Join(server.Shutdown(late), server.Close())
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the gateway: %w", err)
	}
	if err := <-stopped; err != nil {
		s.o.Log.Warn("stopping the gateway; requests were cut off", "error", err)
	}
	return nil
}
