package stage

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

type living struct {
	jetstream.Msg
	settled *atomic.Bool
	late    *atomic.Int32
	signs   *atomic.Int32
}

func (l living) InProgress() error {
	l.signs.Add(1)
	if l.settled.Load() {
		l.late.Add(1)
	}
	return nil
}

// A sign of life that reaches the server after the NAK undoes its delay.
func TestNoSignOfLifeFollowsTheNak(t *testing.T) {
	t.Parallel()
	var h held
	var late, signs atomic.Int32
	stop := h.keepAlive(t.Context(), 100*time.Microsecond)
	for i := range int32(500) {
		m := &Message{Msg: living{settled: new(atomic.Bool), late: &late, signs: &signs}}
		h.add(m)
		for signs.Load() <= i { // a handler at work
			runtime.Gosched()
		}
		h.remove(m)
		m.Msg.(living).settled.Store(true)
	}
	stop()
	require.Positive(t, signs.Load())
	require.Zero(t, late.Load())
}
