package cache_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/cache"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/pkg/schema"
)

func scope(model string) cache.Scope { return cache.Scope{Judge: judge.KindLLM, Model: model} }

func question(input string) llm.Question {
	return llm.Question{Prompt: "entity-check@1234", Input: input}
}

func verdict(text string) llm.Remembered {
	confidence := 0.1 + 0.2
	return llm.Remembered{Answer: json.RawMessage(fmt.Sprintf("{\"aim\":%q}", text)), Meta: judge.Meta{
		Judge: judge.KindLLM, Model: "m", Prompt: "entity-check@1234", Confidence: &confidence,
		Calls: 2, TokensIn: 100, TokensOut: 9, TokensCached: 64,
	}}
}

// asker counts how often it is asked.
type asker struct {
	calls atomic.Int64
	err   error
}

func (a *asker) ask(context.Context) (llm.Remembered, error) {
	n := a.calls.Add(1)
	if a.err != nil {
		return llm.Remembered{Meta: judge.Meta{Calls: 1}}, a.err
	}
	return verdict(fmt.Sprint(n)), nil
}

func TestSameQuestionAtTheSameTimeIsOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Options{Scope: scope("m")})
		var a asker
		slow := func(ctx context.Context) (llm.Remembered, error) {
			time.Sleep(time.Second)
			return a.ask(ctx)
		}
		var paid atomic.Int64
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				got, err := c.Recall(t.Context(), question("q"), slow)
				require.NoError(t, err)
				want := verdict("1")
				require.Equal(t, want.Answer, got.Answer)
				if got.Meta.CacheHit {
					require.Equal(t, want.Recalled().Meta, got.Meta)
				} else {
					require.Equal(t, want.Meta, got.Meta)
					paid.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, a.calls.Load())
		require.EqualValues(t, 1, paid.Load(), "the bill is presented once")
	})
}

func TestFailuresAreNeverKept(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Options{Scope: scope("m")})
	failing := asker{err: &judge.Error{Reason: schema.ReasonJudgeMalformed, Err: errors.New("prose")}}
	for range 3 {
		got, err := c.Recall(t.Context(), question("q"), failing.ask)
		require.Equal(t, schema.ReasonJudgeMalformed, judge.AsError(err).Reason)
		require.Equal(t, 1, got.Meta.Calls, "what the failure cost is told")
	}
	require.EqualValues(t, 3, failing.calls.Load())
	var good asker
	_, err := c.Recall(t.Context(), question("q"), good.ask)
	require.NoError(t, err)
	require.EqualValues(t, 1, good.calls.Load())
}

// One that fails fails for itself: of those that waited one asks next, and the
// others get its verdict.
func TestTheFailureOfOneIsNotThatOfTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Options{Scope: scope("m")})
		var calls, failures atomic.Int64
		ask := func(context.Context) (llm.Remembered, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 1 {
				return llm.Remembered{}, &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("reset")}
			}
			return verdict("x"), nil
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := c.Recall(t.Context(), question("q"), ask); err != nil {
					failures.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 2, calls.Load())
		require.EqualValues(t, 1, failures.Load())
	})
}

// A call that hangs holds up its own step; the others wait for a quarter of
// their time and then ask for themselves.
func TestAHungCallDelaysOnlyItsOwnStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Options{Scope: scope("m")})
		var calls atomic.Int64
		ask := func(ctx context.Context) (llm.Remembered, error) {
			if calls.Add(1) == 1 {
				<-ctx.Done()
				return llm.Remembered{}, &judge.Error{Reason: schema.ReasonJudgeTimeout, Err: ctx.Err()}
			}
			return verdict("x"), nil
		}
		start := time.Now()
		var all sync.WaitGroup
		var hung atomic.Int64
		for range 8 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := c.Recall(ctx, question("q"), ask)
				if err != nil {
					hung.Add(1)
					return
				}
				require.LessOrEqual(t, time.Since(start), 16*time.Second)
			})
		}
		all.Wait()
		require.EqualValues(t, 1, hung.Load())
	})
}

func TestAnotherQuestionModelOrPromptIsAMiss(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]struct {
		scope cache.Scope
		q     llm.Question
	}{
		"input":   {scope("m"), question("other")},
		"prompt":  {scope("m"), llm.Question{Prompt: "entity-check@9999", Input: "q"}},
		"model":   {scope("n"), question("q")},
		"options": {cache.Scope{Judge: judge.KindLLM, Model: "m", Options: "logprobs=5"}, question("q")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &mapStore{values: map[string][]byte{}}
			var a asker
			_, err := cache.New(cache.Options{Scope: scope("m"), Store: store}).Recall(t.Context(), question("q"), a.ask)
			require.NoError(t, err)
			got, err := cache.New(cache.Options{Scope: other.scope, Store: store}).Recall(t.Context(), other.q, a.ask)
			require.NoError(t, err)
			require.False(t, got.Meta.CacheHit)
			require.EqualValues(t, 2, a.calls.Load())
			again, err := cache.New(cache.Options{Scope: scope("m"), Store: store}).Recall(t.Context(), question("q"), a.ask)
			require.NoError(t, err)
			require.True(t, again.Meta.CacheHit)
			require.Equal(t, verdict("1").Recalled(), again, "byte for byte, the confidence too")
		})
	}
}

func TestTheProcessKeepsABoundedNumber(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Options{Scope: scope("m"), Entries: 2})
	var a asker
	for _, q := range []string{"a", "b", "a", "c", "a", "b"} { // b is the least recent when c comes
		_, err := c.Recall(t.Context(), question(q), a.ask)
		require.NoError(t, err)
	}
	require.EqualValues(t, 4, a.calls.Load())
	require.EqualValues(t, 2, c.Count(cache.Memory))
}

// mapStore is a Store in memory, for one process after another.
type mapStore struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (s *mapStore) Begin(_ context.Context, key string, _ time.Duration) (cache.Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cache.Standing{Value: s.values[key]}, nil
}
func (s *mapStore) Wait(context.Context, string) ([]byte, error) { return nil, nil }
func (s *mapStore) Keep(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}
func (s *mapStore) Drop(context.Context, string, uint64) error { return nil }

// What a broken or hostile store holds is never a verdict, and a store that
// fails costs nothing but the sharing.
func TestAStoreThatCantBeReadCostsOnlyTheSharing(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func() (cache.Standing, error){
		"error":   func() (cache.Standing, error) { return cache.Standing{}, errors.New("no server") },
		"garbage": func() (cache.Standing, error) { return cache.Standing{Value: []byte("\x00{")}, nil },
		"empty":   func() (cache.Standing, error) { return cache.Standing{Value: []byte("{}")}, nil },
	} {
		var a asker
		got, err := cache.New(cache.Options{Scope: scope("m"), Store: &oddStore{mapStore{values: map[string][]byte{}}, begin}}).Recall(t.Context(), question("q"), a.ask)
		require.NoError(t, err, name)
		require.Equal(t, verdict("1"), got, name)
	}
}

type oddStore struct {
	mapStore
	begin func() (cache.Standing, error)
}

func (s *oddStore) Begin(context.Context, string, time.Duration) (cache.Standing, error) {
	return s.begin()
}

func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	var a asker
	r, err := cache.Record(path, scope("m"), nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, q := range []string{"a", "b", "a"} {
		_, err := r.Recall(t.Context(), question(q), a.ask)
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, a.calls.Load())
	failing := asker{err: &judge.Error{Reason: schema.ReasonJudgeError, Err: errors.New("down")}}
	_, err = r.Recall(t.Context(), question("failed"), failing.ask)
	require.Error(t, err)
	require.NoError(t, r.Close())

	// A crash cuts the last line; the recording goes on after the whole ones.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"stage":"entity-check","inp`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	r, err = cache.Record(path, scope("m"), nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, err = r.Recall(t.Context(), question("c"), a.ask)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = cache.Record(path, scope("other"), nil, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, `"m"`)

	p, err := cache.Replay(path)
	require.NoError(t, err)
	require.Equal(t, scope("m"), p.Scope())
	never := func(context.Context) (llm.Remembered, error) {
		t.Error("a replay asked")
		return llm.Remembered{}, nil
	}
	for q, n := range map[string]string{"a": "1", "b": "2", "c": "3"} {
		got, err := p.Recall(t.Context(), question(q), never)
		require.NoError(t, err)
		require.Equal(t, verdict(n).Recalled(), got)
	}
	_, err = p.Recall(t.Context(), question("failed"), never)
	require.ErrorIs(t, err, cache.ErrNotRecorded)
	require.False(t, judge.AsError(err).Temporary)
	require.ErrorContains(t, err, "stage entity-check")
}

// Two that asked the same at once get what the recording says.
func TestTheRecordingCountsForWhoAskedTwice(t *testing.T) {
	t.Parallel()
	r, err := cache.Record(filepath.Join(t.TempDir(), "run.jsonl"), scope("m"), nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	got, err := r.Recall(t.Context(), question("q"), func(ctx context.Context) (llm.Remembered, error) {
		_, err := r.Recall(ctx, question("q"), func(context.Context) (llm.Remembered, error) { return verdict("first"), nil })
		return verdict("second"), err
	})
	require.NoError(t, err)
	require.Equal(t, verdict("first"), got)
}

func TestUnreadableRecordings(t *testing.T) {
	t.Parallel()
	const head = `{"format":"stepgap-verdicts/1","judge":"llm","model":"m"}` + "\n"
	for name, text := range map[string]string{
		"empty": "", "no head": `{"input":"x","answer":{}}` + "\n", "another format": `{"format":"other/9"}` + "\n",
		"prose": "hello\n", "no answer": head + `{"input":"x"}` + "\n", "two models": head + `{"format":"stepgap-verdicts/1","judge":"llm","model":"n"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := cache.Replay(path)
		require.Error(t, err, name)
	}
}
