package llmtest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Refusal answers with the model's own statement that it won't.
func Refusal(text string) Reply {
	return JSON(map[string]any{
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": nil, "refusal": text},
		}},
		"usage": Usage(120, 9, 64),
	})
}

// Twice answers with body two times over in one response.
func Twice(body string) Reply { return Raw(body + body) }

// Drip answers with body in pieces, each sent on its own.
func Drip(body string, pieces int) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		size := max(1, len(body)/max(1, pieces))
		for len(body) > 0 {
			n := min(size, len(body))
			_, _ = io.WriteString(w, body[:n])
			body = body[n:]
			flush(w)
		}
	}
}

// Stall sends body and then nothing more, until the client has gone away or the
// test has ended: a stream that never ends.
func (s *Server) Stall(body string) Reply {
	return func(w http.ResponseWriter, r *http.Request, call Call) {
		_, _ = io.WriteString(w, body)
		flush(w)
		s.Hang()(w, r, call)
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// NewNoTLS is an endpoint whose https URL leads to a server that speaks plain
// HTTP.
func NewNoTLS(t testing.TB, script ...Reply) *Server {
	t.Helper()
	s := New(t, script...)
	s.URL = "https" + s.URL[len("http"):]
	return s
}

// NewCutTLS is an endpoint that hangs up in the middle of the handshake, as an
// overloaded proxy does.
func NewCutTLS(t testing.TB) *Server {
	t.Helper()
	s := newServer([]Reply{Drop()})
	s.HTTP = httptest.NewUnstartedServer(s)
	s.HTTP.Config.ErrorLog = quiet()
	s.HTTP.Listener = cutListener{s.HTTP.Listener}
	s.HTTP.Start()
	s.URL = "https" + s.HTTP.URL[len("http"):] + "/v1"
	t.Cleanup(s.close)
	return s
}

// cutListener closes every connection after its first bytes.
type cutListener struct{ net.Listener }

func (l cutListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		var hello [16]byte
		_, _ = conn.Read(hello[:])
		_ = conn.Close()
	}
}
