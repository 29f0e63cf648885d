package annotate

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"
)

//go:embed page.html
var pageText string

const (
	maxBody     = 256 << 10
	closingTime = 5 * time.Second
)

// Server shows a session's page on an address of this machine.
type Server struct {
	session  *Session
	log      *slog.Logger
	token    string
	page     *template.Template
	listener net.Listener
}

// Listen begins to listen. The address must be a loopback one: the page has no
// accounts, and whoever has its URL labels as the annotator.
func Listen(ctx context.Context, addr string, session *Session, log *slog.Logger) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w; give one such as 127.0.0.1:0", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the address %q is not one of this machine alone; give 127.0.0.1:PORT, and reach it from elsewhere through ssh -L", addr)
	}
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("reading the page: %w", err)
	}
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("making the page's token: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return &Server{session: session, log: log, token: base64.RawURLEncoding.EncodeToString(secret), page: page, listener: listener}, nil
}

// URL is the page's address, with its token.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/%s/", s.listener.Addr(), s.token) }

// Serve answers until the context is done.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
		defer cancel()
		stopped <- server.Shutdown(closing)
	})
	err := server.Serve(s.listener)
	if stop() {
		return fmt.Errorf("serving the page: %w", err) // it ended by itself
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("closing the page: %w", err)
	}
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{token}/{$}", s.showPage)
	mux.HandleFunc("GET /{token}/api/step", s.showStep)
	mux.HandleFunc("POST /{token}/api/decide", s.decide)
	return s.guarded(mux)
}

// guarded keeps out whoever has not the URL, and pages of other sites: those
// that got a name of theirs to mean this machine name another host.
func (s *Server) guarded(next http.Handler) http.Handler {
	port := s.listener.Addr().(*net.TCPAddr).Port
	hosts := map[string]bool{s.listener.Addr().String(): true, fmt.Sprintf("localhost:%d", port): true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !hosts[r.Host] {
			fail(w, http.StatusMisdirectedRequest, "this page is reached by the address that stepgap annotate printed")
			return
		}
		prefix := "/" + s.token + "/"
		if len(r.URL.Path) < len(prefix) || subtle.ConstantTimeCompare([]byte(r.URL.Path[:len(prefix)]), []byte(prefix)) != 1 {
			fail(w, http.StatusNotFound, "there is nothing here; the address that stepgap annotate printed has a token in it")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) showPage(w http.ResponseWriter, _ *http.Request) {
	nonce := rand.Text()
	var b bytes.Buffer
	if err := s.page.Execute(&b, map[string]string{"Nonce": nonce}); err != nil {
		s.log.Error("the page could not be written", "error", err)
		fail(w, http.StatusInternalServerError, "the page could not be written")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nonce, nonce))
	_, _ = w.Write(b.Bytes()) // a reader that is gone needs no answer
}

func (s *Server) showStep(w http.ResponseWriter, r *http.Request) {
	at := -1
	if given := r.URL.Query().Get("at"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			fail(w, http.StatusUnprocessableEntity, "at is the place of a step, from 0")
			return
		}
		at = n
	}
	v, err := s.session.View(at)
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	answer(w, http.StatusOK, v)
}

func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "send application/json")
		return
	}
	var d Decision
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		fail(w, http.StatusBadRequest, "not a decision: "+err.Error())
		return
	}
	v, err := s.session.Decide(d)
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		fail(w, http.StatusUnprocessableEntity, refused.What)
	case err != nil:
		s.log.Error("a decision was not written", "error", err)
		fail(w, http.StatusInternalServerError, "the decision was not written: "+err.Error())
	default:
		answer(w, http.StatusOK, v)
	}
}

func fail(w http.ResponseWriter, status int, what string) {
	answer(w, status, map[string]string{"error": what})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a reader that is gone needs no answer
}
