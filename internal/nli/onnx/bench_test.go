package onnx_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stretchr/testify/require"
)

// benchPairs are pairs of the lengths that steps bring: mostly a sentence or
// two against a short claim, now and then a long window.
func benchPairs(n int) []nli.Pair {
	parts := []string{
		"The bridge over the Tarn was opened in December 2004.",
		"It carries the motorway from Paris to Beziers across a deep valley and is 2,460 metres long.",
		"Its tallest pier, at 343 metres, is taller than most towers in the country, and was built in under three years by a crew of six hundred.",
	}
	pairs := make([]nli.Pair, n)
	for i := range pairs {
		premise := fmt.Sprintf("Bridge %d: ", i)
		for k := range i%7%4 + 1 {
			premise += parts[(i+k)%len(parts)] + " "
		}
		pairs[i] = nli.Pair{Premise: premise, Hypothesis: fmt.Sprintf("Bridge %d was opened in %d.", i%13, 1950+i%70)}
	}
	return pairs
}

// BenchmarkBatcher scores distinct pairs from 16 callers of two pairs each.
func BenchmarkBatcher(b *testing.B) {
	model, library := paths(b)
	for _, c := range []struct{ threads, lanes int }{{1, 1}, {2, 1}, {1, 2}, {2, 2}} {
		b.Run(fmt.Sprintf("threads=%d/lanes=%d", c.threads, c.lanes), func(b *testing.B) {
			m := open(b, onnx.Options{Dir: model, Library: library, Device: "cpu", Threads: c.threads})
			batcher := nli.NewBatcher(m, nli.BatcherOptions{Lanes: c.lanes, CacheSize: -1})
			defer batcher.Close()
			pairs := benchPairs(b.N + 1)
			b.ResetTimer()
			var wg sync.WaitGroup
			next := make(chan []nli.Pair)
			for range 16 {
				wg.Go(func() {
					for p := range next {
						if _, err := batcher.Score(b.Context(), p); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for i := 0; i < b.N; i += 2 {
				next <- pairs[i:min(i+2, b.N)]
			}
			close(next)
			wg.Wait()
			b.StopTimer()
			s := batcher.Stats()
			require.Equal(b, uint64(b.N), s.Pairs+s.Joined)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
			b.ReportMetric(float64(s.Tokens)/float64(s.Pairs), "tokens/pair")
			b.ReportMetric(float64(s.Pairs)/float64(s.Batches), "pairs/batch")
			b.ReportMetric(100*s.PaddingShare(), "%padding")
		})
	}
}
