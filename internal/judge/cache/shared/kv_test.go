package shared_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/cache"
	"github.com/stepgap/stepgap/internal/judge/cache/shared"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/pkg/schema"
)

const patience = time.Minute

func open(t *testing.T, conn *bus.Conn) *shared.KV {
	t.Helper()
	bucket, err := conn.JS.KeyValue(t.Context(), bus.BucketVerdicts)
	require.NoError(t, err)
	return shared.New(bucket)
}

func process(t *testing.T, conn *bus.Conn) *cache.Cache {
	return cache.New(cache.Options{Scope: cache.Scope{Judge: judge.KindLLM, Model: "m"}, Store: open(t, conn)})
}

func question(input string) llm.Question {
	return llm.Question{Prompt: "quote-extract@1", Input: input}
}

func TestTwoProcessesAskOnce(t *testing.T) {
	t.Parallel()
	conn, server := bustest.Start(t, bus.Options{Memory: true})
	processes := []*cache.Cache{process(t, conn), process(t, bustest.Connect(t, server))}
	var calls, paid atomic.Int64
	asking, goOn := make(chan struct{}), make(chan struct{})
	ask := func(context.Context) (llm.Remembered, error) {
		calls.Add(1)
		close(asking) // a second call would panic
		<-goOn
		return llm.Remembered{Answer: json.RawMessage(`{"about":"yes"}`), Meta: judge.Meta{Judge: judge.KindLLM, Model: "m", Calls: 1, TokensIn: 7}}, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	recall := func(c *cache.Cache) {
		all.Go(func() {
			got, err := c.Recall(ctx, question("q"), ask)
			require.NoError(t, err)
			require.JSONEq(t, `{"about":"yes"}`, string(got.Answer))
			paid.Add(int64(got.Meta.TokensIn))
		})
	}
	recall(processes[0])
	<-asking
	for range 4 {
		recall(processes[0])
		recall(processes[1])
	}
	require.Eventually(t, func() bool { // the other process has seen the claim
		watchers, err := conn.JS.Stream(ctx, "KV_"+bus.BucketVerdicts)
		return err == nil && watchers.CachedInfo().State.Consumers > 0
	}, patience, 10*time.Millisecond)
	close(goOn)
	all.Wait()
	require.EqualValues(t, 1, calls.Load())
	require.EqualValues(t, 7, paid.Load())
	// And a third that starts later.
	_, err := process(t, conn).Recall(ctx, question("q"), ask)
	require.NoError(t, err)
	require.EqualValues(t, 1, processes[1].Count(cache.Waited))
}

func TestAFailureFreesTheOtherProcess(t *testing.T) {
	t.Parallel()
	conn, server := bustest.Start(t, bus.Options{Memory: true})
	one, two := process(t, conn), process(t, bustest.Connect(t, server))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	asking, fail := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := one.Recall(ctx, question("q"), func(context.Context) (llm.Remembered, error) {
			close(asking)
			<-fail
			return llm.Remembered{}, &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("reset")}
		})
		require.Error(t, err)
	})
	<-asking
	all.Go(func() {
		got, err := two.Recall(ctx, question("q"), func(context.Context) (llm.Remembered, error) {
			return llm.Remembered{Answer: json.RawMessage(`{}`), Meta: judge.Meta{Calls: 1}}, nil
		})
		require.NoError(t, err)
		require.Equal(t, 1, got.Meta.Calls)
	})
	close(fail)
	all.Wait()
}

// Of the processes that waited for one that failed, one asks next and the others
// get its verdict.
func TestAFailureHasOneOfTheOthersAsk(t *testing.T) {
	t.Parallel()
	conn, server := bustest.Start(t, bus.Options{Memory: true})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// 4: more than one waits for the same claim.
	const others = 4
	asking, fail := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	first := process(t, conn)
	all.Go(func() {
		_, err := first.Recall(ctx, question("q"), func(context.Context) (llm.Remembered, error) {
			close(asking)
			<-fail
			return llm.Remembered{}, &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("reset")}
		})
		require.Error(t, err)
	})
	<-asking
	var calls atomic.Int64
	for range others {
		c := process(t, bustest.Connect(t, server))
		all.Go(func() {
			_, err := c.Recall(ctx, question("q"), func(context.Context) (llm.Remembered, error) {
				calls.Add(1)
				return llm.Remembered{Answer: json.RawMessage(`{}`), Meta: judge.Meta{Calls: 1}}, nil
			})
			require.NoError(t, err)
		})
	}
	require.Eventually(t, func() bool { // all of them have seen the claim
		s, err := conn.JS.Stream(ctx, "KV_"+bus.BucketVerdicts)
		return err == nil && s.CachedInfo().State.Consumers >= others
	}, patience, 10*time.Millisecond)
	close(fail)
	all.Wait()
	require.EqualValues(t, 1, calls.Load())
}

// Claims of processes that died end by themselves.
func TestClaims(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	kv := open(t, conn)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	first, err := kv.Begin(ctx, "k", time.Second)
	require.NoError(t, err)
	require.NotZero(t, first.Claim)
	second, err := kv.Begin(ctx, "k", time.Second)
	require.NoError(t, err)
	require.True(t, second.Taken)
	value, err := kv.Wait(ctx, "k") // until it expires
	require.NoError(t, err)
	require.Nil(t, value)
	third, err := kv.Begin(ctx, "k", time.Hour)
	require.NoError(t, err)
	require.NotZero(t, third.Claim)
	require.Error(t, kv.Drop(ctx, "k", first.Claim), "it is another's by now")
	require.NoError(t, kv.Keep(ctx, "k", []byte("v")))
	value, err = kv.Wait(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "v", string(value))
	last, err := kv.Begin(ctx, "k", time.Second)
	require.NoError(t, err)
	require.Equal(t, "v", string(last.Value))
	value, err = kv.Wait(ctx, "nothing")
	require.NoError(t, err)
	require.Nil(t, value)
	for i := range 50 { // given up, taken again
		s, err := kv.Begin(ctx, "again", time.Minute)
		require.NoError(t, err, fmt.Sprint(i))
		require.NotZero(t, s.Claim)
		require.NoError(t, kv.Drop(ctx, "again", s.Claim))
	}
}
