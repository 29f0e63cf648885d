// Package bustest gives each test a NATS server of its own.
package bustest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
)

// Start starts an embedded server with the topology for o and connects to it.
// Everything ends with the test.
func Start(t testing.TB, o bus.Options) (*bus.Conn, *bus.Embedded) {
	t.Helper()
	embedded, err := bus.StartEmbedded(bus.EmbeddedOptions{Dir: t.TempDir(), Port: -1})
	require.NoError(t, err)
	t.Cleanup(embedded.Close)
	conn := Connect(t, embedded)
	_, err = bus.Ensure(t.Context(), conn.JS, bus.NewTopology(o))
	require.NoError(t, err)
	return conn, embedded
}

// Connect opens one more connection to embedded.
func Connect(t testing.TB, embedded *bus.Embedded) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(context.Background(), bus.Config{Embedded: embedded, Name: t.Name()})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}
