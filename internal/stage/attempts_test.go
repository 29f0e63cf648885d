package stage

import (
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
)

// named is a delivery of which only the subject is looked at.
type named struct{ jetstream.Msg }

func (named) Subject() string      { return "s" }
func (named) Headers() nats.Header { return nil }

func delivery(seq uint64, delivered int) *Message {
	return &Message{Msg: named{}, Seq: seq, Delivered: delivered}
}

func openAttempts(t *testing.T) (a, other *attempts) {
	t.Helper()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	kv, err := conn.JS.KeyValue(t.Context(), bus.BucketAttempts)
	require.NoError(t, err)
	return newAttempts(kv, "S"), newAttempts(kv, "S")
}

func countOf(t *testing.T, a *attempts, seq uint64) int {
	t.Helper()
	n, _, err := a.count(t.Context(), delivery(seq, 2))
	require.NoError(t, err)
	return n
}

func TestASuspectThatWaitsForItsTurnIsNotCounted(t *testing.T) {
	t.Parallel()
	a, other := openAttempts(t)
	for seq := range uint64(2) {
		_, err := a.kv.Put(t.Context(), a.key(seq), []byte(strconv.Itoa(quarantineAfter)))
		require.NoError(t, err)
	}
	over, err := a.began(t.Context(), delivery(0, 5))
	require.NoError(t, err)
	for range 3 * maxAttempts {
		_, err = a.began(t.Context(), delivery(1, 5))
		require.ErrorIs(t, err, errQuarantine)
	}
	require.Equal(t, quarantineAfter, countOf(t, other, 1))
	over()
	over, err = a.began(t.Context(), delivery(1, 5))
	require.NoError(t, err)
	over()
	require.Equal(t, quarantineAfter+1, countOf(t, other, 1))
}

func TestAttemptsAreCountedAcrossProcessesAndForgottenAtTheEnd(t *testing.T) {
	t.Parallel()
	a, other := openAttempts(t)
	for i := range maxAttempts {
		process := []*attempts{a, other}[i%2]
		over, err := process.began(t.Context(), delivery(7, i+2))
		require.NoError(t, err)
		over()
	}
	_, err := other.began(t.Context(), delivery(7, 20))
	require.ErrorIs(t, err, errWornOut)
	other.ended(t.Context(), delivery(7, 20), false)
	require.Zero(t, countOf(t, a, 7))
}

func TestOnlyHandlingsWithoutAnEndAreCounted(t *testing.T) {
	t.Parallel()
	a, _ := openAttempts(t)
	for i := range 5 * maxAttempts {
		over, err := a.began(t.Context(), delivery(3, i+2))
		require.NoError(t, err)
		over()
		a.ended(t.Context(), delivery(3, i+2), true)
	}
	require.Zero(t, countOf(t, a, 3))
	// What was sent back in good order and then panics is a suspect again.
	for i := range maxAttempts {
		over, err := a.began(t.Context(), delivery(3, i+50))
		require.NoError(t, err)
		require.NoError(t, a.panicked(t.Context(), delivery(3, i+50)))
		over()
	}
	require.Equal(t, maxAttempts, countOf(t, a, 3))
	_, err := a.began(t.Context(), delivery(3, 99))
	require.ErrorIs(t, err, errWornOut)
}
