package limit_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/internal/judge/limit"
	"github.com/stepgap/stepgap/internal/judge/llm"
)

const patience = 30 * time.Second

// open joins as a process of its own would, over a connection of its own.
func open(t *testing.T, server *embedded.Server, id string, limits limit.Limits) (*limit.Limiter, *bus.Conn) {
	t.Helper()
	conn, err := bus.Connect(context.Background(), bus.Config{InProcess: server, Name: id})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	kv, err := conn.JS.KeyValue(t.Context(), bus.BucketLimits)
	require.NoError(t, err)
	l, err := limit.Open(t.Context(), limit.Config{Limits: limits, Bucket: kv, Key: "endpoint", ID: id})
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l, conn
}

// gauge counts calls under way, and the most there were.
type gauge struct{ now, most, all atomic.Int64 }

func (g *gauge) call(d time.Duration) {
	n := g.now.Add(1)
	for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
	}
	time.Sleep(d) // the call itself
	g.now.Add(-1)
	g.all.Add(1)
}

func TestLimiter_ManyProcessesAreNeverAboveTheLimit(t *testing.T) {
	t.Parallel()
	for _, concurrent := range []int{1, 4, 9} {
		t.Run(fmt.Sprint(concurrent), func(t *testing.T) {
			t.Parallel()
			_, server := bustest.Start(t, bus.Options{Memory: true})
			var g gauge
			var callers sync.WaitGroup
			var each [6]atomic.Int64
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			for i := range each {
				l, _ := open(t, server, fmt.Sprint("p", i), limit.Limits{Concurrent: concurrent})
				for range 3 {
					callers.Go(func() {
						for ctx.Err() == nil {
							_, done, err := l.Acquire(ctx, 100)
							if err != nil {
								return
							}
							g.call(10 * time.Millisecond)
							each[i].Add(1)
							done(llm.Outcome{OK: true})
						}
					})
				}
			}
			callers.Wait()
			require.LessOrEqual(t, g.most.Load(), int64(concurrent))
			for i := range each {
				require.NotZero(t, each[i].Load(), "process %d of %d never had its turn", i, len(each))
			}
			t.Logf("%d calls, most at once %d", g.all.Load(), g.most.Load())
		})
	}
}

func TestLimiter_AKilledProcessGivesItsShareBack(t *testing.T) {
	t.Parallel()
	_, server := bustest.Start(t, bus.Options{Memory: true})
	limits := limit.Limits{Concurrent: 4, Lease: 2 * time.Second}
	dead, conn := open(t, server, "dead", limits)
	for range 4 {
		_, _, err := dead.Acquire(t.Context(), 100)
		require.NoError(t, err)
	}
	heir, _ := open(t, server, "heir", limits)
	early, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, _, err := heir.Acquire(early, 100)
	require.ErrorIs(t, err, context.DeadlineExceeded, "all are lent out")

	conn.Close() // as a kill does: nothing is renewed, nothing is given back
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 4 {
		_, _, err := heir.Acquire(ctx, 100)
		require.NoError(t, err)
	}
	require.Less(t, time.Since(start), 5*time.Second)
}

// A process that can't renew must stop before others take its share over.
func TestLimiter_CutOffItEndsItsCallsBeforeItsLeaseDoes(t *testing.T) {
	t.Parallel()
	_, server := bustest.Start(t, bus.Options{Memory: true})
	limits := limit.Limits{Concurrent: 1, Lease: 2 * time.Second}
	cut, conn := open(t, server, "cut", limits)
	call, done, err := cut.Acquire(t.Context(), 100)
	require.NoError(t, err)
	other, _ := open(t, server, "other", limits)
	conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err = other.Acquire(ctx, 100)
	require.NoError(t, err)
	require.Error(t, call.Err(), "its call went on while another took its slot")
	done(llm.Outcome{})
	short, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	_, _, err = cut.Acquire(short, 100)
	require.Error(t, err, "without a lease nothing is sent")
}

// One that leaves in good order gives its share back at once.
func TestLimiter_CloseGivesBack(t *testing.T) {
	t.Parallel()
	_, server := bustest.Start(t, bus.Options{Memory: true})
	limits := limit.Limits{Concurrent: 2, Lease: time.Minute}
	first, _ := open(t, server, "first", limits)
	for range 2 {
		_, _, err := first.Acquire(t.Context(), 100)
		require.NoError(t, err)
	}
	first.Close()
	second, _ := open(t, server, "second", limits)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 2 {
		_, _, err := second.Acquire(ctx, 100)
		require.NoError(t, err)
	}
}

// counting counts writes of the document.
type counting struct {
	limit.Bucket
	writes atomic.Int64
}

func (c *counting) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	c.writes.Add(1)
	return c.Bucket.Update(ctx, key, value, revision)
}

func TestLimiter_CallsCostNoRoundTrip(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	kv, err := conn.JS.KeyValue(t.Context(), bus.BucketLimits)
	require.NoError(t, err)
	bucket := &counting{Bucket: kv}
	l, err := limit.Open(t.Context(), limit.Config{Limits: limit.Limits{Concurrent: 8}, Bucket: bucket, Key: "endpoint", ID: "a"})
	require.NoError(t, err)
	t.Cleanup(l.Close)
	const calls = 20_000
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range calls / 16 {
				_, done, err := l.Acquire(t.Context(), 100)
				if err != nil {
					t.Error(err)
					return
				}
				done(llm.Outcome{OK: true})
			}
		})
	}
	callers.Wait()
	require.Less(t, bucket.writes.Load(), int64(calls/50))
}

func TestLimiter_PacesAllProcessesTogether(t *testing.T) {
	t.Parallel()
	_, server := bustest.Start(t, bus.Options{Memory: true})
	const rate = 20.0
	var mu sync.Mutex
	var sent []time.Time
	var callers sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	start := time.Now()
	for i := range 3 {
		l, _ := open(t, server, fmt.Sprint("p", i), limit.Limits{Concurrent: 50, PerSecond: rate})
		for range 10 {
			callers.Go(func() {
				for ctx.Err() == nil {
					_, done, err := l.Acquire(ctx, 100)
					if err != nil {
						return
					}
					mu.Lock()
					sent = append(sent, time.Now())
					mu.Unlock()
					done(llm.Outcome{OK: true})
				}
			})
		}
	}
	callers.Wait()
	seconds := time.Since(start).Seconds()
	require.LessOrEqual(t, float64(len(sent)), rate*seconds+2)
	require.GreaterOrEqual(t, float64(len(sent)), 0.8*rate*seconds, "and what is allowed is used")
}

func TestLimiter_ADocumentThatCannotBeReadIsStartedAfresh(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	kv, err := conn.JS.KeyValue(t.Context(), bus.BucketLimits)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), "endpoint", []byte("{"))
	require.NoError(t, err)
	l, err := limit.Open(t.Context(), limit.Config{Bucket: kv, Key: "endpoint", ID: "a"})
	require.NoError(t, err)
	t.Cleanup(l.Close)
	_, done, err := l.Acquire(t.Context(), 100)
	require.NoError(t, err)
	done(llm.Outcome{OK: true})
	require.NoError(t, kv.Purge(t.Context(), "endpoint"))
	for range 100 {
		_, done, err := l.Acquire(t.Context(), 100)
		require.NoError(t, err)
		done(llm.Outcome{OK: true})
	}
}

var _ limit.Bucket = (jetstream.KeyValue)(nil)
