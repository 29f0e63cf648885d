package nli

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func waitingPair(length int) *entry { return &entry{enc: Encoding{IDs: make([]int64, length)}} }

func drawLimits(t *rapid.T) limits {
	return limits{
		budget:     rapid.IntRange(1, 4096).Draw(t, "budget"),
		rows:       rapid.IntRange(1, 64).Draw(t, "rows"),
		maxPadding: rapid.Float64Range(0, 0.5).Draw(t, "padding"),
	}
}

// checkBatch holds a batch to its limits. One pair alone may exceed the budget:
// it has to run some time.
func checkBatch(t require.TestingT, batch []*entry, lim limits) {
	sum, longest := 0, 0
	for _, e := range batch {
		sum += e.enc.Len()
		longest = max(longest, e.enc.Len())
	}
	padded := longest * len(batch)
	require.LessOrEqual(t, len(batch), lim.rows)
	if len(batch) > 1 {
		require.LessOrEqual(t, padded, lim.budget)
		require.LessOrEqual(t, float64(padded-sum), lim.maxPadding*float64(padded)+1e-9)
	}
}

func TestPickKeepsItsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lim := drawLimits(t)
		var q queue
		waiting := map[*entry]bool{}
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 512), 1, 60).Draw(t, "lengths") {
			e := waitingPair(n)
			q.push(e)
			waiting[e] = true
		}
		for q.len() > 0 {
			oldest := q.oldest
			batch := q.pick(lim)
			checkBatch(t, batch, lim)
			require.Contains(t, batch, oldest, "the oldest is always taken")
			for _, e := range batch {
				require.True(t, waiting[e], "a pair ran twice")
				delete(waiting, e)
			}
		}
		require.Empty(t, waiting, "a pair was lost")
		require.Nil(t, q.pick(lim))
	})
}

// TestPickLeavesNoneThatIsNearer holds pick to what its comment says: with room
// left, no waiting pair of a length within the batch's own is left behind, and
// none whose length was never looked at fits.
func TestPickLeavesNoneThatIsNearer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lim := drawLimits(t)
		var q queue
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 80), 1, 200).Draw(t, "lengths") {
			q.push(waitingPair(n))
		}
		batch := q.pick(lim)
		if len(batch) == lim.rows {
			return
		}
		g := growing{limits: lim}
		for _, e := range batch {
			g.batch = append(g.batch, e)
			g.longest = max(g.longest, e.enc.Len())
			g.tokens += e.enc.Len()
		}
		for e := q.oldest; e != nil; e = e.next {
			require.Nil(t, g.fitting(e), "a pair of %d tokens still fits", e.enc.Len())
		}
	})
}

// TestQueueAgainstASlice compares the queue with a plain slice under random
// use.
func TestQueueAgainstASlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []*entry
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				e := waitingPair(rapid.IntRange(0, 20).Draw(t, "length"))
				q.push(e)
				want = append(want, e)
			},
			"remove": func(t *rapid.T) {
				if len(want) == 0 {
					return
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "at")
				q.remove(want[i])
				q.remove(want[i]) // once more changes nothing
				want = slices.Delete(want, i, i+1)
			},
			"pick": func(t *rapid.T) {
				batch := q.pick(drawLimits(t))
				want = slices.DeleteFunc(want, func(e *entry) bool { return slices.Contains(batch, e) })
			},
			"": func(t *rapid.T) {
				var have []*entry
				for e := q.oldest; e != nil; e = e.next {
					have = append(have, e)
				}
				require.Equal(t, len(want), q.len())
				require.True(t, slices.Equal(want, have), "the order of arrival is kept")
				for length := range 21 {
					i := slices.IndexFunc(want, func(e *entry) bool { return e.enc.Len() == length })
					if i < 0 {
						require.Nil(t, q.at(length))
					} else {
						require.Same(t, want[i], q.at(length))
					}
				}
			},
		})
	})
}
