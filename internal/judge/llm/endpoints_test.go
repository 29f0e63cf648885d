package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/pkg/schema"
)

const patience = 20 * time.Second

// switched answers as it is told to.
type switched struct {
	reply atomic.Pointer[llmtest.Reply]
}

func newSwitched(r llmtest.Reply) *switched {
	s := &switched{}
	s.to(r)
	return s
}

func (s *switched) to(r llmtest.Reply) { s.reply.Store(&r) }

func (s *switched) answer(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
	(*s.reply.Load())(w, r, c)
}

func good() llmtest.Reply { return llmtest.Text(`{"stated":"yes"}`) }

func TestBreaker_OpensOnFailuresInARowAndAProbeClosesIt(t *testing.T) {
	t.Parallel()
	sw := newSwitched(good())
	srv := llmtest.New(t, sw.answer)
	cfg := testConfig(srv.URL)
	cfg.Breaker, cfg.MaxAttempts = 3, 1
	c, _ := newTestClient(t, cfg)
	probing, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() { defer close(ended); c.Probe(probing) }()

	ask := func() error { _, err := c.Complete(t.Context(), testRequest()); return err }
	require.NoError(t, ask())
	sw.to(llmtest.Status(500, "oops"))
	require.Error(t, ask())
	require.Error(t, ask())
	sw.to(good())
	require.NoError(t, ask(), "an answer ends the row")
	sw.to(llmtest.Status(503, "down"))
	for range 3 {
		_, down, _ := c.Down()
		require.False(t, down)
		require.Error(t, ask())
	}
	since, down, changed := c.Down()
	require.True(t, down)
	require.WithinDuration(t, time.Now(), since, patience)

	_, err := c.Complete(t.Context(), testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeError, je.Reason)
	require.True(t, je.Temporary)
	require.Zero(t, je.Meta.Calls, "nothing is sent while it is down")
	require.Positive(t, je.Down)
	require.False(t, je.Queued)

	require.Eventually(t, func() bool { return len(srv.Calls()) > 8 }, patience, 10*time.Millisecond, "it is probed again and again")
	require.Contains(t, []int{StateDown, StateProbing}, c.Standings()[0].State)
	sw.to(good())
	select {
	case <-changed:
	case <-time.After(patience):
		require.Fail(t, "nobody was told that it is up again")
	}
	require.Equal(t, StateUp, c.Standings()[0].State)
	require.NoError(t, ask())
	stop()
	<-ended
}

func TestBreaker_WhatIsNoOutageDoesNotOpenIt(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{
		"429":         llmtest.Status(429, "slow"),
		"bad request": llmtest.Status(400, "no"),
		"no answer":   llmtest.Text("prose"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, reply)
			cfg := testConfig(srv.URL)
			cfg.Breaker = 2
			c, _ := newTestClient(t, cfg)
			for range 4 {
				_, _ = c.Complete(t.Context(), testRequest())
			}
			_, down, _ := c.Down()
			require.False(t, down)
		})
	}
	t.Run("callers that give up", func(t *testing.T) {
		t.Parallel()
		srv := llmtest.New(t)
		srv.Then(srv.Hang())
		cfg := testConfig(srv.URL)
		cfg.Breaker = 2
		c, _ := newTestClient(t, cfg)
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, err := c.Complete(ctx, testRequest())
			cancel()
			require.Error(t, err)
		}
		_, down, _ := c.Down()
		require.False(t, down)
	})
}

func TestEndpoints_OneThatFailsIsLeftAlone(t *testing.T) {
	t.Parallel()
	bad := llmtest.New(t, llmtest.Status(503, "down", "Retry-After", "30"))
	ok := llmtest.New(t, good())
	cfg := testConfig(bad.URL)
	cfg.MoreURLs, cfg.Breaker = []string{ok.URL}, 3
	c, s := newTestClient(t, cfg, WithRand(func() float64 { return 0 })) // the first of two equals
	for range 50 {
		done, err := c.Complete(t.Context(), testRequest())
		require.NoError(t, err)
		require.LessOrEqual(t, done.Meta.Calls, 2)
	}
	require.Len(t, bad.Calls(), 1)
	require.Len(t, ok.Calls(), 50)
	for _, d := range s.list {
		require.Less(t, d, cfg.BackoffMax, "what one endpoint asks for keeps nobody from another")
	}
	_, down, _ := c.Down()
	require.False(t, down, "one of two is up")
}

func TestEndpoints_AllThatFailAreTriedAllTheSame(t *testing.T) {
	t.Parallel()
	one, two := llmtest.New(t, llmtest.Status(500, "x"), good()), llmtest.New(t, llmtest.Status(500, "x"), good())
	cfg := testConfig(one.URL)
	cfg.MoreURLs = []string{two.URL}
	c, _ := newTestClient(t, cfg)
	done, err := c.Complete(t.Context(), testRequest())
	require.NoError(t, err)
	require.Equal(t, 3, done.Meta.Calls)
}

func TestEndpoints_TheLessBusyAndFasterIsChosen(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, tc := range map[string]struct {
		a, b *endpoint
		want string
	}{
		"equal":          {&endpoint{base: "a"}, &endpoint{base: "b"}, "a"},
		"busy":           {&endpoint{base: "a", inFlight: 3}, &endpoint{base: "b"}, "b"},
		"slow":           {&endpoint{base: "a", latency: 2}, &endpoint{base: "b", latency: 0.5}, "b"},
		"busy but fast":  {&endpoint{base: "a", latency: 0.1, inFlight: 4}, &endpoint{base: "b", latency: 3}, "a"},
		"just failed":    {&endpoint{base: "a", restful: now.Add(time.Second)}, &endpoint{base: "b", inFlight: 100}, "b"},
		"rested":         {&endpoint{base: "a", restful: now.Add(-time.Second)}, &endpoint{base: "b", inFlight: 100}, "a"},
		"down":           {&endpoint{base: "a", state: StateDown}, &endpoint{base: "b", restful: now.Add(time.Second)}, "b"},
		"being probed":   {&endpoint{base: "a", state: StateProbing}, &endpoint{base: "b", inFlight: 9}, "b"},
		"both are tired": {&endpoint{base: "a", restful: now.Add(time.Second), inFlight: 1}, &endpoint{base: "b", restful: now.Add(time.Second)}, "b"},
	} {
		p := &pool{endpoints: []*endpoint{tc.a, tc.b}, rand: func() float64 { return 0 }, now: func() time.Time { return now }}
		e, err := p.pick(nil)
		require.NoError(t, err, name)
		require.Equal(t, tc.want, e.base, name)
	}
	p := &pool{endpoints: []*endpoint{{state: StateDown, since: now}, {state: StateDown, since: now.Add(time.Second)}}, now: func() time.Time { return now }}
	_, err := p.pick(nil)
	var down *downError
	require.ErrorAs(t, err, &down)
	require.Equal(t, now.Add(time.Second), down.since, "none is up only since the last one went down")
}

func TestHedge_TheFirstAnswerCountsAndTheOtherCallIsEnded(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t)
	gone := make(chan struct{})
	srv.Then(func(_ http.ResponseWriter, r *http.Request, _ llmtest.Call) {
		<-r.Context().Done()
		close(gone)
	}, good())
	cfg := testConfig(srv.URL)
	cfg.Hedge = 30 * time.Millisecond
	var attempts []Attempt
	c, _ := newTestClient(t, cfg, WithObserver(func(a Attempt) { attempts = append(attempts, a) }))
	got, meta, err := Ask[verdict](t.Context(), c, testRequest())
	require.NoError(t, err)
	require.Equal(t, verdict{Stated: "yes"}, got)
	require.Equal(t, 2, meta.Calls, "the trail counts both")
	select {
	case <-gone:
	case <-time.After(patience):
		require.Fail(t, "the slower call went on")
	}
	require.Len(t, attempts, 2)
	require.Equal(t, []string{"ok", "cancelled"}, []string{attempts[0].Outcome, attempts[1].Outcome})
	require.True(t, attempts[0].Hedge)
}

func TestHedge_NotForFastCallsNorForFailures(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Status(500, "x"), good())
	cfg := testConfig(srv.URL)
	cfg.Hedge = patience
	c, _ := newTestClient(t, cfg)
	done, err := c.Complete(t.Context(), testRequest())
	require.NoError(t, err)
	require.Equal(t, 2, done.Meta.Calls, "one that failed and one that was sent again")
	require.Len(t, srv.Calls(), 2)
}

func TestHedge_OneThatFailsDoesNotEndTheOther(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	srv := llmtest.New(t, func(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
		<-release
		good()(w, r, c)
	}, func(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
		llmtest.Status(500, "x")(w, r, c)
		close(release)
	})
	cfg := testConfig(srv.URL)
	cfg.Hedge, cfg.MaxAttempts = 10*time.Millisecond, 1
	c, _ := newTestClient(t, cfg)
	done, err := c.Complete(t.Context(), testRequest())
	require.NoError(t, err)
	require.Equal(t, 2, done.Meta.Calls)
}

// full never has room.
type full struct{}

func (full) Acquire(ctx context.Context, _ int) (context.Context, func(Outcome), error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func TestLimiter_AStepWhoseTurnDoesNotComeGoesBack(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, good())
	cfg := testConfig(srv.URL)
	cfg.MaxWait = 20 * time.Millisecond
	c, _ := newTestClient(t, cfg, WithLimiter(func(string) Limiter { return full{} }))
	_, err := c.Complete(t.Context(), testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.True(t, je.Temporary)
	require.True(t, je.Queued, "it says nothing about the endpoint")
	require.Zero(t, je.Meta.Calls)
	require.Empty(t, srv.Calls())

	cfg.MaxWait = time.Hour
	c, _ = newTestClient(t, cfg, WithLimiter(func(string) Limiter { return full{} }))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = c.Complete(ctx, testRequest())
	require.NoError(t, ctx.Err(), "half of the budget is left when it goes back")
	require.True(t, judge.AsError(err).Queued)
}

// refusing says no at once.
type refusing struct{ err error }

func (r refusing) Acquire(context.Context, int) (context.Context, func(Outcome), error) {
	return nil, nil, r.err
}

// What is over the limit for good is not tried again; a permission that was lost
// before anything was sent is no judge's failure.
func TestLimiter_ARefusalIsForGoodOrGoesBack(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, good())
	for _, tc := range []struct {
		err  error
		back bool
	}{{fmt.Errorf("%w: 9 tokens", ErrOverLimit), false}, {errors.New("the lease is lost"), true}} {
		c, waits := newTestClient(t, testConfig(srv.URL), WithLimiter(func(string) Limiter { return refusing{tc.err} }))
		_, err := c.Complete(t.Context(), testRequest())
		require.ErrorContains(t, err, tc.err.Error())
		je := judge.AsError(err)
		require.Equal(t, schema.ReasonJudgeError, je.Reason)
		require.Equal(t, tc.back, je.Temporary, tc.err)
		require.Equal(t, tc.back, je.Queued, tc.err)
		require.Empty(t, waits.list, tc.err)
	}
	require.Empty(t, srv.Calls())
}

// One failure, long ago, is no outage that has lasted since.
func TestFruitless_AFailureLongAgoIsNoOutage(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	p := newPool(testConfig("http://a/v1"), func() float64 { return 0 }, func() time.Time { return now })
	e := p.endpoints[0]
	require.Zero(t, p.fruitless())
	fail := func() {
		e.began()
		e.ended(healthBad, time.Second, 0, now, 0)
	}
	fail()
	now = now.Add(stale)
	require.Equal(t, stale, p.fruitless())
	fail()
	now = now.Add(stale)
	require.Equal(t, 2*stale, p.fruitless())
	now = now.Add(time.Second)
	require.Zero(t, p.fruitless(), "nothing was sent since, so nothing is known")
}

// told records outcomes.
type told struct {
	tokens   int
	outcomes []Outcome
}

func (l *told) Acquire(ctx context.Context, tokens int) (context.Context, func(Outcome), error) {
	l.tokens = tokens
	return ctx, func(o Outcome) { l.outcomes = append(l.outcomes, o) }, nil
}

func TestLimiter_IsToldWhatCameOfEveryAttempt(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Status(429, "slow", "Retry-After", "2"), llmtest.Status(500, "x"), good())
	l := &told{}
	c, _ := newTestClient(t, testConfig(srv.URL), WithLimiter(func(string) Limiter { return l }))
	_, err := c.Complete(t.Context(), testRequest())
	require.NoError(t, err)
	require.Equal(t, []Outcome{{Limited: true, RetryAfter: 2 * time.Second}, {}, {OK: true, Tokens: 129}}, l.outcomes)
	require.Greater(t, l.tokens, 50, "the answer's bound and the question")
	require.Less(t, l.tokens, 500)
}

func TestConfig_Endpoints(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		more []string
		want string
	}{
		"two":           {[]string{"http://b/v1"}, ""},
		"twice":         {[]string{"http://a/v1"}, "twice"},
		"twice further": {[]string{"http://b/v1", "http://b/v1"}, "twice"},
		"no URL":        {[]string{"b"}, "want http(s)"},
		"with a user":   {[]string{"http://u:p@b/v1"}, "no user"},
	} {
		cfg := testConfig("http://a/v1")
		cfg.MoreURLs = tc.more
		err := cfg.Validate()
		if tc.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, tc.want, name)
	}
}
