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
	"time"

	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
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

// lateModel is held up once while it encodes.
type lateModel struct {
	wordModel
	encoding, free chan struct{}
	held           atomic.Bool
}

func (m *lateModel) Encode(p Pair) (Encoding, error) {
	if m.held.CompareAndSwap(false, true) {
		close(m.encoding)
		<-m.free
	}
	return m.wordModel.Encode(p)
}

func TestPairScoredWhileAnotherCallerEncodesItIsNotRunAgain(t *testing.T) {
	t.Parallel()
	m := &lateModel{encoding: make(chan struct{}), free: make(chan struct{})}
	b := NewBatcher(m, BatcherOptions{MaxWaiting: 2})
	defer b.Close()
	pairs := []Pair{{"premise", "claim"}, {"another", "claim"}}
	first := make(chan []schema.Scores, 1)
	go func() {
		got, err := b.Score(t.Context(), pairs)
		if err != nil {
			t.Error(err)
		}
		first <- got
	}()
	<-m.encoding // it has missed the cache
	second, err := b.Score(t.Context(), pairs[:1])
	require.NoError(t, err)
	close(m.free)
	got := <-first
	require.Equal(t, second[0], got[0])
	require.Equal(t, want(t, &m.wordModel, pairs[1]), got[1])
	require.Equal(t, int64(2), m.rows.Load())
	require.Equal(t, uint64(1), b.Stats().CacheHits)
	_, err = b.Score(t.Context(), []Pair{{"a", "b"}, {"c", "d"}}) // the queue has all of its room
	require.NoError(t, err)
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

func TestBatcherDropsWhatIsTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &wordModel{gate: make(chan struct{})}
		b := NewBatcher(m, BatcherOptions{})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Score(t.Context(), []Pair{{"runs", ""}}); first <- err }()
		synctest.Wait()
		// A caller that was not scheduled since its deadline passed: its pair
		// still lies in the queue.
		late := &entry{key: key{1}, enc: Encoding{IDs: make([]int64, 4)}, deadline: time.Now().Add(time.Second), done: make(chan struct{})}
		require.NoError(t, b.room.Acquire(t.Context(), 1))
		require.NoError(t, b.enqueue([]*entry{late}, 1, make([]schema.Scores, 1)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _, err := b.Score(ctx, []Pair{{"in time", ""}}); second <- err }()
		time.Sleep(time.Second)
		m.gate <- struct{}{}
		require.NoError(t, <-first)
		m.gate <- struct{}{}
		require.NoError(t, <-second)
		<-late.done
		require.ErrorIs(t, late.err, context.DeadlineExceeded)
		require.Equal(t, int64(2), m.rows.Load())
		require.Equal(t, uint64(1), b.Stats().Late)
		require.NoError(t, b.Close())
	})
}

func TestBatcherWaitsForTheLastDeadlineOfAPair(t *testing.T) {
	t.Parallel()
	now := time.Now()
	e := &entry{waiters: 1, deadline: now}
	e.join(now.Add(time.Second))
	require.Equal(t, now.Add(time.Second), e.deadline)
	e.join(now)
	require.Equal(t, now.Add(time.Second), e.deadline)
	e.join(time.Time{})
	e.join(now)
	require.Zero(t, e.deadline, "one of them waits for ever")
	require.Equal(t, 5, e.waiters)
}

// TestBatcherRunsWhileItEncodes: the model runs the head of a long request
// while the rest of it is encoded.
func TestBatcherRunsWhileItEncodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &wordModel{}
		b := NewBatcher(&slowEncoder{wordModel: m, from: "pair 064"}, BatcherOptions{})
		defer b.Close()
		var pairs []Pair
		for i := range 2 * encodeAhead {
			pairs = append(pairs, Pair{fmt.Sprintf("pair %03d", i), ""})
		}
		// The 65th pair is encoded only once some pair has run.
		_, err := b.Score(t.Context(), pairs)
		require.NoError(t, err)
		require.Equal(t, int64(len(pairs)), m.rows.Load())
	})
}

// slowEncoder encodes the pair `from` once the model has run a batch.
type slowEncoder struct {
	*wordModel
	from string
}

func (m *slowEncoder) Encode(p Pair) (Encoding, error) {
	for p.Premise == m.from && m.batches.Load() == 0 {
		time.Sleep(time.Millisecond) // of the bubble's clock: it passes when all else waits
	}
	return m.wordModel.Encode(p)
}

// TestBatcherSpreadsFewPairs: with Spread, pairs that come together run on all
// lanes that are free; without it, in one batch.
func TestBatcherSpreadsFewPairs(t *testing.T) {
	t.Parallel()
	for _, spread := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := &wordModel{}
			b := NewBatcher(m, BatcherOptions{Lanes: 2, Spread: spread})
			defer b.Close()
			synctest.Wait() // both lanes are idle
			_, err := b.Score(t.Context(), []Pair{{"aa", ""}, {"bb", ""}, {"cc", ""}, {"dd", ""}})
			require.NoError(t, err)
			if spread {
				require.GreaterOrEqual(t, m.batches.Load(), int64(2))
			} else {
				require.Equal(t, int64(1), m.batches.Load())
			}
		})
	}
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
	s, err = Probabilities(Logits{Entailment: 1, Neutral: 2, Contradiction: 3})
	require.NoError(t, err)
	require.InDelta(t, 1, s.Entailment+s.Neutral+s.Contradiction, 1e-12)
	require.Greater(t, s.Contradiction, s.Neutral)
}

func TestPairsAreToldApartWhereTheirTextsJoinedAreNot(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, pairKey("m", Pair{"ab", "c"}), pairKey("m", Pair{"a", "bc"}))
	require.NotEqual(t, pairKey("m", Pair{"a", "b"}), pairKey("n", Pair{"a", "b"}))
}
