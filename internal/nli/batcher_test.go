package nli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// wordModel counts bytes as tokens and gives logits that name the pair, so
// that a result in the wrong place shows.
type wordModel struct {
	gate    chan struct{} // when set, every batch waits for one value
	batches atomic.Int64
	rows    atomic.Int64
	fail    func(batch []Encoding) error
	value   func(Encoding) float32
}

func (m *wordModel) Info() Info                           { return Info{Name: "words", Hash: "h", MaxTokens: 100} }
func (m *wordModel) CountTokens(text string) (int, error) { return len(text), nil }

func (m *wordModel) Encode(p Pair) (Encoding, error) {
	ids := make([]int64, 0, len(p.Premise)+len(p.Hypothesis))
	for _, b := range []byte(p.Premise + p.Hypothesis) {
		ids = append(ids, int64(b))
	}
	if len(ids) > 100 {
		return Encoding{}, ErrTooLong
	}
	return Encoding{IDs: ids, TypeIDs: make([]int64, len(ids))}, nil
}

func (m *wordModel) Run(_ context.Context, batch []Encoding) ([]Logits, error) {
	if m.gate != nil {
		<-m.gate
	}
	m.batches.Add(1)
	m.rows.Add(int64(len(batch)))
	if m.fail != nil {
		if err := m.fail(batch); err != nil {
			return nil, err
		}
	}
	out := make([]Logits, len(batch))
	for i, e := range batch {
		v := float32(0)
		for _, id := range e.IDs {
			v += float32(id) / 1000
		}
		if m.value != nil {
			v = m.value(e)
		}
		out[i] = Logits{Entailment: v}
	}
	return out, nil
}

func want(t *testing.T, m *wordModel, p Pair) schema.Scores {
	t.Helper()
	e, err := m.Encode(p)
	require.NoError(t, err)
	v := float32(0)
	for _, id := range e.IDs {
		v += float32(id) / 1000
	}
	s, err := Probabilities(Logits{Entailment: v})
	require.NoError(t, err)
	return s
}

func TestBatcherGivesEachCallerItsOwnScores(t *testing.T) {
	t.Parallel()
	m := &wordModel{}
	b := NewBatcher(m, BatcherOptions{Lanes: 3, TokenBudget: 64, MaxWaiting: 8})
	defer b.Close()
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Go(func() {
			var pairs []Pair
			for i := range 30 { // more than the queue holds
				pairs = append(pairs, Pair{fmt.Sprint("premise ", i%7, g%5), fmt.Sprint("claim ", i)})
			}
			got, err := b.Score(t.Context(), pairs)
			if err != nil {
				t.Error(err)
				return
			}
			for i, p := range pairs {
				if got[i] != want(t, m, p) {
					t.Errorf("pair %v got %v", p, got[i])
				}
			}
		})
	}
	wg.Wait()
	s := b.Stats()
	require.Equal(t, uint64(600), s.Pairs+s.CacheHits+s.Joined)
	require.Positive(t, s.CacheHits)
}

func TestBatcherJoinsAndCaches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &wordModel{gate: make(chan struct{})}
		b := NewBatcher(m, BatcherOptions{})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				_, err := b.Score(t.Context(), []Pair{{"a", "b"}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		m.gate <- struct{}{}
		wg.Wait()
		_, err := b.Score(t.Context(), []Pair{{"a", "b"}})
		require.NoError(t, err)
		require.Equal(t, int64(1), m.rows.Load())
		require.Equal(t, uint64(4), b.Stats().Joined)
		require.Equal(t, uint64(1), b.Stats().CacheHits)
		require.NoError(t, b.Close())
	})
}

func TestBatcherCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &wordModel{gate: make(chan struct{})}
		b := NewBatcher(m, BatcherOptions{MaxWaiting: 2})
		first := make(chan error, 1)
		go func() { _, err := b.Score(t.Context(), []Pair{{"runs", ""}}); first <- err }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		waits, blocked := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Score(ctx, []Pair{{"waits", ""}, {"waits too", ""}}); waits <- err }()
		synctest.Wait()
		go func() { _, err := b.Score(ctx, []Pair{{"finds no room", ""}}); blocked <- err }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-waits, context.Canceled)
		require.ErrorIs(t, <-blocked, context.Canceled)
		m.gate <- struct{}{}
		require.NoError(t, <-first)
		synctest.Wait()
		require.Equal(t, int64(1), m.rows.Load(), "cancelled pairs must not run")
		// The room is free again.
		go func() { m.gate <- struct{}{} }()
		_, err := b.Score(t.Context(), []Pair{{"later", ""}, {"laten", ""}})
		require.NoError(t, err)
		require.NoError(t, b.Close())
	})
}

func TestBatcherCloseFailsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &wordModel{gate: make(chan struct{})}
		b := NewBatcher(m, BatcherOptions{})
		runs, waits := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Score(t.Context(), []Pair{{"runs", ""}}); runs <- err }()
		synctest.Wait()
		go func() { _, err := b.Score(t.Context(), []Pair{{"waits", ""}}); waits <- err }()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- b.Close() }()
		require.ErrorIs(t, <-waits, ErrClosed)
		m.gate <- struct{}{}
		require.NoError(t, <-runs)
		require.NoError(t, <-closed)
		require.NoError(t, b.Close())
		_, err := b.Score(t.Context(), []Pair{{"late", ""}})
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestBatcherOneBadPairFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad pair")
		m := &wordModel{gate: make(chan struct{})}
		m.fail = func(batch []Encoding) error {
			for _, e := range batch {
				if e.IDs[0] == 'X' {
					return bad
				}
			}
			return nil
		}
		m.value = func(e Encoding) float32 {
			if e.IDs[0] == 'N' {
				return float32(math.NaN())
			}
			return 1
		}
		b := NewBatcher(m, BatcherOptions{MaxPadding: 0.9})
		open, stop := context.WithCancel(t.Context())
		go func() {
			for {
				select {
				case m.gate <- struct{}{}:
				case <-open.Done():
					return
				}
			}
		}()
		errs := make([]error, 4)
		var wg sync.WaitGroup
		for i, p := range []string{"good", "Xbad", "Nan.", "fine"} {
			wg.Go(func() { _, errs[i] = b.Score(t.Context(), []Pair{{p, ""}}) })
		}
		wg.Wait()
		require.NoError(t, errs[0])
		require.ErrorIs(t, errs[1], bad)
		require.ErrorIs(t, errs[2], ErrNotFinite)
		require.NoError(t, errs[3])
		_, err := b.Score(t.Context(), []Pair{{"Nan.", ""}})
		require.ErrorIs(t, err, ErrNotFinite, "a failure is not cached")
		require.NoError(t, b.Close())
		stop()
	})
}

func TestBatcherRefusesTooLong(t *testing.T) {
	t.Parallel()
	b := NewBatcher(&wordModel{}, BatcherOptions{})
	defer b.Close()
	_, err := b.Score(t.Context(), []Pair{{string(make([]byte, 101)), ""}})
	require.ErrorIs(t, err, ErrTooLong)
}

func TestPickKeepsItsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 512), 1, 60).Draw(t, "lengths")
		budget := rapid.IntRange(1, 4096).Draw(t, "budget")
		rows := rapid.IntRange(1, 64).Draw(t, "rows")
		padding := rapid.Float64Range(0, 0.5).Draw(t, "padding")
		got := pick(lengths, budget, rows, padding)
		require.LessOrEqual(t, len(got), rows)
		require.Contains(t, got, 0, "the oldest is always taken")
		seen, sum, longest := map[int]bool{}, 0, 0
		for _, i := range got {
			require.False(t, seen[i])
			seen[i] = true
			sum += lengths[i]
			longest = max(longest, lengths[i])
		}
		if len(got) > 1 {
			padded := longest * len(got)
			require.LessOrEqual(t, padded, budget)
			require.LessOrEqual(t, float64(padded-sum), padding*float64(padded)+1e-9)
		}
	})
}

func TestProbabilities(t *testing.T) {
	t.Parallel()
	inf := float32(math.Inf(1))
	for _, bad := range []Logits{{Entailment: float32(math.NaN())}, {Neutral: inf}, {Contradiction: -inf}} {
		_, err := Probabilities(bad)
		require.ErrorIs(t, err, ErrNotFinite)
	}
	s, err := Probabilities(Logits{Entailment: 3e38, Neutral: -3e38})
	require.NoError(t, err)
	require.InDelta(t, 1, s.Entailment, 1e-9)
	s, err = Probabilities(Logits{1, 2, 3})
	require.NoError(t, err)
	require.InDelta(t, 1, s.Entailment+s.Neutral+s.Contradiction, 1e-12)
	require.Greater(t, s.Contradiction, s.Neutral)
}

func TestParseLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   map[int]string
		want LabelOrder
		err  string
	}{
		{map[int]string{0: "entailment", 1: "neutral", 2: "contradiction"}, LabelOrder{0, 1, 2}, ""},
		{map[int]string{2: "ENTAILMENT", 1: "NEUTRAL", 0: "CONTRADICTION"}, LabelOrder{2, 1, 0}, ""},
		{map[int]string{0: "Contradiction", 1: "Entailment", 2: "Neutral"}, LabelOrder{1, 2, 0}, ""},
		{map[int]string{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, LabelOrder{}, "says nothing"},
		{map[int]string{0: "entailment", 1: "not_entailment"}, LabelOrder{}, "two classes"},
		{map[int]string{0: "entailment", 1: "entails", 2: "neutral"}, LabelOrder{}, "twice"},
		{map[int]string{0: "entailment", 1: "neutral", 7: "contradiction"}, LabelOrder{}, "ids 0 to 2"},
		{nil, LabelOrder{}, "missing"},
	} {
		got, err := ParseLabels(c.in)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%v", c.in)
			continue
		}
		require.NoError(t, err, "%v", c.in)
		require.Equal(t, c.want, got, "%v", c.in)
	}
}

func TestCacheKeepsTheMostRecent(t *testing.T) {
	t.Parallel()
	c := newCache(2)
	k := func(s string) key { return pairKey("m", Pair{s, ""}) }
	c.put(k("a"), schema.Scores{Entailment: 1})
	c.put(k("b"), schema.Scores{Neutral: 1})
	_, ok := c.get(k("a"))
	require.True(t, ok)
	c.put(k("c"), schema.Scores{})
	_, ok = c.get(k("b"))
	require.False(t, ok)
	_, ok = c.get(k("a"))
	require.True(t, ok)
	require.NotEqual(t, pairKey("m", Pair{"ab", "c"}), pairKey("m", Pair{"a", "bc"}))
	require.NotEqual(t, pairKey("m", Pair{"a", "b"}), pairKey("n", Pair{"a", "b"}))
}
