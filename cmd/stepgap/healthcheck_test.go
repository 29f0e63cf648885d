package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHealthURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ addr, want, problem string }{
		{addr: "127.0.0.1:8080", want: "http://127.0.0.1:8080/readyz"},
		{addr: ":8080", want: "http://127.0.0.1:8080/readyz"},
		{addr: "0.0.0.0:8080", want: "http://127.0.0.1:8080/readyz"},
		{addr: "[::]:8080", want: "http://[::1]:8080/readyz"},
		{addr: "[fd00::7]:8080", want: "http://[fd00::7]:8080/readyz"},
		{addr: "localhost:8080", want: "http://localhost:8080/readyz"},
		{addr: "", problem: "STEPGAP_HTTP"},
		{addr: "8080", problem: "host:port"},
	} {
		got, err := healthURL(c.addr, "/readyz")
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, c.addr)
			continue
		}
		require.NoError(t, err, c.addr)
		require.Equal(t, c.want, got, c.addr)
	}
}

// TestHealthcheck runs the command against processes that are ready, that are
// alive but not ready, that hang, and that are not there.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not connected to NATS", http.StatusServiceUnavailable)
	})
	alive := httptest.NewServer(mux)
	t.Cleanup(alive.Close)
	ready := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(ready.Close)
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); hangs.Close() })
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	for _, c := range []struct {
		name, addr string
		flags      []string
		problem    string
	}{
		{name: "ready", addr: ready.Listener.Addr().String()},
		{name: "not ready", addr: alive.Listener.Addr().String(), problem: "503 Service Unavailable: not connected to NATS"},
		{name: "not ready but alive", addr: alive.Listener.Addr().String(), flags: []string{"--live"}},
		{name: "hangs", addr: hangs.Listener.Addr().String(), flags: []string{"--timeout", "50ms"}, problem: "no answer"},
		{name: "not there", addr: gone.Listener.Addr().String(), problem: "no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			root := newRoot("test")
			root.SetOut(&bytes.Buffer{})
			root.SetErr(&bytes.Buffer{})
			root.SetArgs(append([]string{"healthcheck", "--http", c.addr}, c.flags...))
			err := root.ExecuteContext(ctx)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.problem)
		})
	}
}
