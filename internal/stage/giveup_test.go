package stage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
)

func TestFailing(t *testing.T) {
	t.Parallel()
	var f failing
	start := time.Unix(1_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	fault, queued := &judge.Error{Temporary: true}, &judge.Error{Temporary: true, Queued: true}
	require.Zero(t, f.failed(1, queued, at(0)), "waiting for our own limit is no failure")
	require.Zero(t, f.failed(1, fault, at(60)), "the clock starts with the first failure")
	require.Zero(t, f.failed(1, queued, at(70)))
	require.Equal(t, 30*time.Second, f.failed(1, fault, at(90)))
	require.Zero(t, f.failed(2, fault, at(90)), "each step has its own")
	f.settled(1)
	require.Zero(t, f.failed(1, fault, at(95)))
	down := &judge.Error{Temporary: true, Down: time.Minute}
	require.Equal(t, time.Minute, f.failed(3, down, at(95)), "an outage has failed every step")
	down.Queued = true
	require.Equal(t, time.Minute, f.failed(4, down, at(95)))
}
