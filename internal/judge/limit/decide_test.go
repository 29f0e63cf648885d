package limit

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit int
		wants []int
		turn  int64
		want  []int
	}{
		"nobody":                        {4, nil, 0, []int{}},
		"one has what it wants":         {4, []int{2}, 0, []int{4}},
		"one wants all":                 {4, []int{9}, 0, []int{4}},
		"even":                          {4, []int{9, 9, 9, 9}, 0, []int{1, 1, 1, 1}},
		"small wants first":             {10, []int{1, 9, 9}, 0, []int{1, 5, 4}},
		"what is left is lent":          {20, []int{2, 0, 1}, 0, []int{4, 1, 2}},
		"idle ones get one":             {3, []int{0, 0, 0}, 0, []int{1, 1, 1}},
		"an idle one gives way":         {2, []int{5, 5, 0}, 0, []int{1, 1, 0}},
		"fewer slots than wants":        {2, []int{5, 5, 5}, 0, []int{1, 1, 0}},
		"they go round":                 {2, []int{5, 5, 5}, 1, []int{0, 1, 1}},
		"and round":                     {2, []int{5, 5, 5}, 2, []int{1, 0, 1}},
		"an odd one stays where it is":  {4, []int{5, 5, 5}, 1, []int{2, 1, 1}},
		"those that want none are left": {1, []int{0, 5, 0, 5}, 1, []int{0, 0, 0, 1}},
	} {
		require.Equal(t, tc.want, share(tc.limit, tc.wants, tc.turn), name)
	}
}

func TestAdaptive(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from Adaptive
		do   func(Adaptive) Adaptive
		want Adaptive
	}{
		"doubles while nothing is known": {
			Adaptive{Limit: 8}, func(a Adaptive) Adaptive { return a.served(16, true, 100) },
			Adaptive{Limit: 16, Good: 8, Epoch: 1},
		},
		"never above the bound": {
			Adaptive{Limit: 8}, func(a Adaptive) Adaptive { return a.served(16, true, 10) },
			Adaptive{Limit: 10, Good: 8, Epoch: 1},
		},
		"not while nobody waits": {
			Adaptive{Limit: 8}, func(a Adaptive) Adaptive { return a.served(16, false, 100) },
			Adaptive{Limit: 8, Good: 8, Served: 16},
		},
		"a 429 lowers it": {
			Adaptive{Limit: 8, Served: 3}, func(a Adaptive) Adaptive { return a.limited(0) },
			Adaptive{Limit: 6, Ceiling: 8, Need: 400, Epoch: 1},
		},
		"many of one overload lower it once": {
			Adaptive{Limit: 8}, func(a Adaptive) Adaptive { return a.limited(0).limited(0).limited(0) },
			Adaptive{Limit: 6, Ceiling: 8, Need: 400, Epoch: 1},
		},
		"a further one lowers it further": {
			Adaptive{Limit: 8}, func(a Adaptive) Adaptive { return a.limited(0).limited(1) },
			Adaptive{Limit: 4, Ceiling: 6, Need: 300, Epoch: 2},
		},
		"half way to a ceiling": {
			Adaptive{Limit: 32, Ceiling: 64, Need: 3200}, func(a Adaptive) Adaptive { return a.served(64, true, 100) },
			Adaptive{Limit: 48, Good: 32, Ceiling: 64, Need: 3200, Epoch: 1},
		},
		"just below the ceiling it waits": {
			Adaptive{Limit: 4, Good: 4, Ceiling: 5, Need: 250}, func(a Adaptive) Adaptive { return a.served(249, true, 100) },
			Adaptive{Limit: 4, Good: 4, Ceiling: 5, Need: 250, Served: 249},
		},
		"then it tries": {
			Adaptive{Limit: 4, Good: 4, Ceiling: 5, Need: 250, Served: 249}, func(a Adaptive) Adaptive { return a.served(1, true, 100) },
			Adaptive{Limit: 5, Good: 4, Ceiling: 5, Need: 250, Epoch: 1},
		},
		"a try that fails falls back to what was good, and waits longer": {
			Adaptive{Limit: 5, Good: 4, Ceiling: 5, Need: 250}, func(a Adaptive) Adaptive { return a.limited(0) },
			Adaptive{Limit: 4, Good: 4, Ceiling: 5, Need: 500, Epoch: 1},
		},
		"a try that holds lifts the ceiling": {
			Adaptive{Limit: 5, Good: 4, Ceiling: 5, Need: 250}, func(a Adaptive) Adaptive { return a.served(40, true, 100) },
			Adaptive{Limit: 6, Good: 5, Need: 250, Epoch: 1},
		},
		"never below one": {
			Adaptive{Limit: 1}, func(a Adaptive) Adaptive { return a.limited(0).limited(1) },
			Adaptive{Limit: 1, Ceiling: 1, Need: 300, Epoch: 2, Strikes: 2},
		},
		"nothing served, nothing changed": {
			Adaptive{Limit: 4}, func(a Adaptive) Adaptive { return a.served(0, true, 100) }, Adaptive{Limit: 4},
		},
	} {
		require.Equal(t, tc.want, tc.do(tc.from), name)
	}
}

// An endpoint of any capacity is found by the rules alone: whoever sends as
// many at once as the limit says meets a 429 if that is too many.
func TestAdaptive_FindsAnyCapacity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 200).Draw(t, "capacity")
		a := Adaptive{Limit: startConcurrent}
		calls, refused := 0, 0
		for n := range 40_000 {
			if n == 20_000 {
				calls, refused = 0, 0
			}
			calls++
			if a.Limit > capacity {
				refused++
				a = a.limited(a.Epoch)
				continue
			}
			a = a.served(1, true, mostConcurrent)
		}
		if a.Limit < capacity*9/10 || a.Limit > capacity+1 {
			t.Fatalf("the limit is %d", a.Limit)
		}
		if float64(refused) >= 0.01*float64(calls) {
			t.Fatalf("%d of %d calls met a 429", refused, calls)
		}
	})
}

// A rate is kept in every window, however calls come.
func TestState_BooksNoMoreThanTheRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{
			PerSecond:       rapid.Float64Range(0.5, 50).Draw(t, "rps"),
			TokensPerMinute: rapid.IntRange(1_000, 100_000).Draw(t, "tpm"),
			Lease:           10 * time.Second,
		}
		type send struct {
			at     int64
			tokens int
		}
		var sends []send
		var s State
		now := int64(1e18)
		for range rapid.IntRange(1, 150).Draw(t, "turns") {
			now += rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "gap")
			costs := rapid.SliceOfN(rapid.IntRange(1, l.TokensPerMinute), 0, 5).Draw(t, "costs")
			var g Grant
			s, g = s.Next(l, now, Turn{ID: "a", Want: len(costs), Busy: len(costs), Costs: costs})
			for i, at := range g.Sends {
				if at < now {
					t.Fatalf("booked for %s ago", time.Duration(now-at))
				}
				sends = append(sends, send{at, costs[i]})
			}
			if len(g.Sends) < len(costs) && g.Later <= now {
				t.Fatal("calls without a time are not told when to ask again")
			}
		}
		for i := range sends {
			requests, tokens := 0.0, 0
			for _, o := range sends[i:] {
				if o.at < sends[i].at+int64(time.Second) {
					requests++
				}
				if o.at < sends[i].at+int64(time.Minute) {
					tokens += o.tokens
				}
			}
			if requests > math.Ceil(l.PerSecond) {
				t.Fatalf("%v requests within a second, %v are allowed", requests, l.PerSecond)
			}
			if tokens > l.TokensPerMinute {
				t.Fatalf("%d tokens within a minute, %d are allowed", tokens, l.TokensPerMinute)
			}
		}
	})
}

func TestState_WhatIsNotUsedIsGivenBack(t *testing.T) {
	t.Parallel()
	l := Limits{TokensPerMinute: 6_000, Lease: time.Second}
	const now = int64(1e18)
	booked, _ := State{}.Next(l, now, Turn{ID: "a", Busy: 1, Want: 1, Costs: []int{500}})
	require.Greater(t, booked.Tokens, now)
	back, _ := booked.Next(l, now, Turn{ID: "a", Refund: 500})
	require.InDelta(t, now, back.Tokens, 1)
}

func TestState_OneCallTooManyLeavesTheEndpointAlone(t *testing.T) {
	t.Parallel()
	l := Limits{Lease: time.Second}
	const now = int64(1e18)
	s := State{Adaptive: Adaptive{Limit: 1}}
	for i, want := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second} {
		var g Grant
		s, g = s.Next(l, now, Turn{ID: "a", Limited: true, LimitedEpoch: uint64(i)})
		require.Equal(t, want, time.Duration(g.Hold-now))
	}
	_, g := s.Next(l, now, Turn{ID: "a", Limited: true, LimitedEpoch: 3, RetryAfter: 20 * time.Second})
	require.Equal(t, 20*time.Second, time.Duration(g.Hold-now), "what the endpoint asks for counts, if it is more")
	_, g = s.Next(l, now, Turn{ID: "a", Limited: true, LimitedEpoch: 2, RetryAfter: 20 * time.Second})
	require.Equal(t, time.Second, time.Duration(g.Hold-now), "a 429 of an overload that was answered changes nothing")
}

// Whatever processes report, in whatever order, and whichever of them die: the
// slots of all together are within the limit, unless the limit has just fallen
// below what is in use; and nobody waits for ever for what is free.
func TestState_NeverAboveTheLimit(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Concurrent: rapid.IntRange(0, 12).Draw(t, "limit"), Lease: 10 * time.Second}
		now := int64(1e18)
		var s State
		allowed := map[string]int{} // as each process believes
		busy := map[string]int{}
		for range rapid.IntRange(1, 120).Draw(t, "turns") {
			now += rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "gap")
			id := rapid.SampledFrom(ids).Draw(t, "id")
			if m, ok := s.Members[id]; !ok || m.Until <= now { // its lease is over: it has ended its calls
				allowed[id], busy[id] = 0, 0
			}
			end := rapid.IntRange(0, busy[id]).Draw(t, "end")
			busy[id] -= end
			busy[id] = max(busy[id], rapid.IntRange(0, max(busy[id], allowed[id])).Draw(t, "busy"))
			turn := Turn{
				ID: id, Busy: busy[id], Want: busy[id] + rapid.IntRange(0, 10).Draw(t, "waiting"), Served: end,
				Limited: rapid.IntRange(0, 5).Draw(t, "limited") == 0, LimitedEpoch: s.Adaptive.Epoch,
				Leave: rapid.IntRange(0, 9).Draw(t, "leave") == 0,
			}
			var g Grant
			before := s
			s, g = s.Next(l, now, turn)
			allowed[id] = g.Slots
			if turn.Leave {
				busy[id] = 0
			}
			sum, inUse := 0, 0
			for id, m := range s.Members {
				sum += m.Slots
				inUse += max(busy[id], 0)
				if m.Slots < min(busy[id], before.Members[id].Slots) {
					t.Fatalf("%s lost slots that are in use", id)
				}
			}
			was := 0
			for id, m := range before.Members {
				if id != turn.ID && m.Until > now {
					was += m.Slots
				}
			}
			if limit := s.Adaptive.Limit; sum > limit && g.Held > min(busy[id], before.Members[id].Slots) {
				t.Fatalf("%d slots of %d, and %s got more", sum, limit, id)
			}
			if l.Concurrent > 0 && inUse > l.Concurrent {
				t.Fatalf("%d calls at once, %d are allowed", inUse, l.Concurrent)
			}
			if !turn.Leave && was == 0 && turn.Want > 0 && g.Slots == 0 && len(s.Members) == 1 {
				t.Fatal("nothing is granted of what is free")
			}
		}
	})
}

func TestState_TheDeadAreForgotten(t *testing.T) {
	t.Parallel()
	l := Limits{Concurrent: 4, Lease: 10 * time.Second}
	now := int64(1e18)
	s, g := State{}.Next(l, now, Turn{ID: "dead", Busy: 4, Want: 4})
	require.Equal(t, 4, g.Slots)
	now += int64(9 * time.Second)
	s, g = s.Next(l, now, Turn{ID: "heir", Want: 4})
	require.Zero(t, g.Slots, "its lease is not over")
	now += int64(2 * time.Second)
	s, g = s.Next(l, now, Turn{ID: "heir", Want: 4})
	require.Equal(t, 4, g.Slots)
	require.NotContains(t, s.Members, "dead")
	s, _ = s.Next(l, now, Turn{ID: "heir", Leave: true})
	require.Empty(t, s.Members)
}
