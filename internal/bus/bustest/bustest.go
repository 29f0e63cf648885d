// Package bustest gives each test a NATS server of its own.
package bustest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
)

// Start starts an embedded server with the topology for o and connects to it.
// Everything ends with the test.
func Start(t testing.TB, o bus.Options) (*bus.Conn, *embedded.Server) {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Port: -1})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	conn := Connect(t, server)
	_, err = bus.Ensure(t.Context(), conn.JS, bus.NewTopology(o))
	require.NoError(t, err)
	return conn, server
}

// Connect opens one more connection to server.
func Connect(t testing.TB, server *embedded.Server) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(context.Background(), bus.Config{InProcess: server, Name: t.Name()})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}
