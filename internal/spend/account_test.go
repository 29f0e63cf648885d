package spend_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/spend"
)

const patience = time.Minute

func bucket(t *testing.T, conn *bus.Conn) jetstream.KeyValue {
	t.Helper()
	kv, err := conn.JS.KeyValue(t.Context(), bus.BucketSpend)
	require.NoError(t, err)
	return kv
}

func join(t *testing.T, conn *bus.Conn, name string, limit float64) *spend.Account {
	t.Helper()
	a, err := spend.Open(t.Context(), bucket(t, conn), name, limit, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return a
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	require.Eventually(t, f, patience, 5*time.Millisecond)
}

func TestProcessesShareACapAndGoOnWhenItIsRaised(t *testing.T) {
	t.Parallel()
	conn, server := bustest.Start(t, bus.Options{Memory: true})
	one, two := join(t, conn, "team", 1), join(t, bustest.Connect(t, server), "team", 0)
	other := join(t, conn, "another", 0)
	t.Cleanup(other.Close)
	require.NoError(t, one.Wait(t.Context()))
	one.Add(0.6)
	two.Add(0.4)
	eventually(t, func() bool { return one.State().Stopped && two.State().Stopped })
	require.InDelta(t, 1, one.State().Spent, 1e-9)
	require.False(t, other.State().Stopped)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, two.Wait(ctx), context.Canceled)
	passed := make(chan error, 2)
	go func() { passed <- one.Wait(t.Context()) }()
	go func() { passed <- two.Wait(t.Context()) }()
	require.NoError(t, spend.SetCap(t.Context(), bucket(t, conn), "team", 2))
	for range 2 {
		select {
		case err := <-passed:
			require.NoError(t, err)
		case <-time.After(patience):
			require.Fail(t, "still held back")
		}
	}
	// What ended processes spent stays spent.
	one.Close()
	two.Close()
	three := join(t, conn, "team", 0)
	t.Cleanup(three.Close)
	require.InDelta(t, 1, three.State().Spent, 1e-9)
	three.Add(1.5)
	eventually(t, func() bool {
		s, err := spend.Read(t.Context(), bucket(t, conn), "team")
		return err == nil && s.Stopped
	})
	require.NoError(t, spend.Reset(t.Context(), bucket(t, conn), "team"))
	eventually(t, func() bool { return !three.State().Stopped })
	require.Error(t, spend.SetCap(t.Context(), bucket(t, conn), "team", -1))
}

// No amount is lost or counted twice, however many write at once.
func TestEveryAmountCountsOnce(t *testing.T) {
	t.Parallel()
	conn, server := bustest.Start(t, bus.Options{Memory: true})
	var all sync.WaitGroup
	for range 4 {
		a := join(t, bustest.Connect(t, server), "team", 0)
		for range 8 {
			all.Go(func() {
				for range 50 {
					a.Add(0.001)
				}
			})
		}
		defer a.Close()
	}
	all.Wait()
	eventually(t, func() bool {
		s, err := spend.Read(t.Context(), bucket(t, conn), "team")
		return err == nil && s.Spent > 1.5999 && s.Spent < 1.6001
	})
}

type completer struct {
	meta judge.Meta
	err  error
}

func (c completer) Complete(context.Context, llm.Request) (llm.Completion, error) {
	return llm.Completion{Meta: c.meta}, c.err
}

func TestMeterCountsWhatFailedToo(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	a := join(t, conn, "team", 0)
	t.Cleanup(a.Close)
	cached := 0.5
	price := cost.Price{In: 1, Out: 10, Cached: &cached}
	meta := judge.Meta{TokensIn: 1000, TokensCached: 400, TokensOut: 20}
	failed := errors.New("cut")
	_, err := spend.Meter(completer{meta, failed}, price, a).Complete(t.Context(), llm.Request{})
	require.ErrorIs(t, err, failed)
	_, err = spend.Meter(completer{meta, nil}, price, a).Complete(t.Context(), llm.Request{})
	require.NoError(t, err)
	require.InDelta(t, 2*(600+200+200)/1e6, a.State().Spent, 1e-9)
}
