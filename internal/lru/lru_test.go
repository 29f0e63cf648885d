package lru

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A cache is the last limit keys that were touched, with their last values.
func TestCacheIsTheKeysTouchedLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		c := New[int, int](limit)
		var recent []int // the most recent last
		values := map[int]int{}
		touch := func(k int) {
			for i, r := range recent {
				if r == k {
					recent = append(recent[:i:i], recent[i+1:]...)
					break
				}
			}
			recent = append(recent, k)
			recent = recent[max(0, len(recent)-limit):]
		}
		in := func(k int) bool {
			for _, r := range recent {
				if r == k {
					return true
				}
			}
			return false
		}
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			k := rapid.IntRange(0, 8).Draw(t, "key")
			if rapid.Bool().Draw(t, "put") {
				c.Put(k, i)
				values[k] = i
				touch(k)
				continue
			}
			got, ok := c.Get(k)
			require.Equal(t, in(k), ok)
			if ok {
				require.Equal(t, values[k], got)
				touch(k)
			}
		}
		require.Equal(t, len(recent), c.Len())
	})
}
