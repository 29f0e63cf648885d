// Package llmtest is an OpenAI-compatible endpoint for tests: a real HTTP
// server that answers from a script, faults included. It is for tests alone.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Call is one request that the endpoint received.
type Call struct {
	Header http.Header
	// Body as sent, and Fields of its JSON object.
	Body   []byte
	Fields map[string]json.RawMessage
}

// Messages returns the texts of the request's messages, in order.
func (c Call) Messages(t testing.TB) []string {
	t.Helper()
	var messages []struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(c.Fields["messages"], &messages); err != nil {
		t.Fatalf("messages of the request: %v", err)
	}
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Content
	}
	return out
}

// Reply answers one call.
type Reply func(w http.ResponseWriter, r *http.Request, call Call)

// Server is a scripted endpoint.
type Server struct {
	// URL is the base URL for a client.
	URL string
	// HTTP is the server itself.
	HTTP *httptest.Server

	mu     sync.Mutex
	script []Reply
	calls  []Call
	closed chan struct{}
}

// New starts an endpoint that gives the replies in turn, the last one for all
// further calls. It is stopped when the test ends.
func New(t testing.TB, script ...Reply) *Server {
	t.Helper()
	s := newServer(script)
	s.HTTP = httptest.NewServer(s)
	s.URL = s.HTTP.URL + "/v1"
	t.Cleanup(s.close)
	return s
}

// NewTLS is New with a certificate that no client trusts.
func NewTLS(t testing.TB, script ...Reply) *Server {
	t.Helper()
	s := newServer(script)
	s.HTTP = httptest.NewUnstartedServer(s)
	s.HTTP.Config.ErrorLog = quiet()
	s.HTTP.StartTLS()
	s.URL = s.HTTP.URL + "/v1"
	t.Cleanup(s.close)
	return s
}

func newServer(script []Reply) *Server {
	return &Server{script: script, closed: make(chan struct{})}
}

func (s *Server) close() {
	close(s.closed) // lets Hang go
	s.HTTP.Close()
}

// Calls returns the calls so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return
	}
	call := Call{Header: r.Header.Clone(), Body: body}
	_ = json.Unmarshal(body, &call.Fields)
	s.mu.Lock()
	reply := s.script[min(len(s.calls), len(s.script)-1)]
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	if r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "no such path", http.StatusNotFound)
		return
	}
	reply(w, r, call)
}

// Hang answers only when the client has gone away or the test has ended.
func (s *Server) Hang() Reply {
	return func(_ http.ResponseWriter, r *http.Request, _ Call) {
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	}
}

// Then replaces the script, for replies that need the server, such as Hang.
func (s *Server) Then(script ...Reply) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
	return s
}

// Text answers with content as the assistant's message.
func Text(content string) Reply { return Finish(content, "stop") }

// Finish answers with content and a finish_reason.
func Finish(content, reason string) Reply {
	return JSON(map[string]any{
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": reason,
			"message": map[string]any{"role": "assistant", "content": content},
		}},
		"usage": Usage(120, 9, 64),
	})
}

// Usage is a response's token count.
func Usage(prompt, completion, cached int) map[string]any {
	return map[string]any{
		"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
		"prompt_tokens_details": map[string]any{"cached_tokens": cached},
	}
}

// JSON answers with v.
func JSON(v any) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

// Raw answers 200 with body as it is.
func Raw(body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) { _, _ = io.WriteString(w, body) }
}

// Status answers with an OpenAI-shaped error; headers come in pairs.
func Status(code int, message string, headers ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "test"}})
	}
}

// HalfBody promises more than it sends, then cuts the connection.
func HalfBody(body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		w.Header().Set("Content-Length", fmt.Sprint(2*len(body)+10))
		_, _ = io.WriteString(w, body)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}

// Drop cuts the connection without an answer.
func Drop() Reply {
	return func(http.ResponseWriter, *http.Request, Call) { panic(http.ErrAbortHandler) }
}
