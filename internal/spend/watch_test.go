package spend

import (
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// A watch that has ended must neither pass for one that has told all (nothing
// spent, no cap) nor keep a core busy.
func TestAWatchThatEndsIsNoNews(t *testing.T) {
	t.Parallel()
	ended := make(chan jetstream.KeyValueEntry)
	close(ended)
	a := &Account{name: "team", log: slog.New(slog.DiscardHandler), spent: map[string]int64{}, changed: make(chan struct{})}
	require.ErrorIs(t, a.learn(t.Context(), ended), errWatch)
	a.follow(t.Context(), ended) // returns
}
