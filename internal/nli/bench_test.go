package nli

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sync/errgroup"
)

// nullModel costs nothing, so that what is measured is the batcher. A premise
// is its length in tokens.
type nullModel struct{ ids []int64 }

func (nullModel) Info() Info                      { return Info{Hash: "h", MaxTokens: 512} }
func (nullModel) CountTokens(string) (int, error) { return 0, nil }
func (m nullModel) Encode(p Pair) (Encoding, error) {
	return Encoding{IDs: m.ids[:binary.BigEndian.Uint16([]byte(p.Premise))]}, nil
}
func (nullModel) Run(_ context.Context, batch []Encoding) ([]Logits, error) {
	return make([]Logits, len(batch)), nil
}

// BenchmarkBatcherUnderLoad scores pairs of random lengths while thousands
// wait, with a model that costs nothing: what the batcher itself costs a pair.
func BenchmarkBatcherUnderLoad(b *testing.B) {
	for _, waiting := range []int{64, 1024, 16384} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			batcher := NewBatcher(nullModel{make([]int64, 513)}, BatcherOptions{Lanes: 2, TokenBudget: 4096, MaxWaiting: waiting, CacheSize: -1})
			defer batcher.Close()
			rng := rand.New(rand.NewPCG(1, 2))
			pairs := make([]Pair, b.N)
			for i := range pairs {
				var n [2]byte
				binary.BigEndian.PutUint16(n[:], uint16(10+rng.IntN(300)))
				pairs[i] = Pair{Premise: string(n[:]), Hypothesis: fmt.Sprint(i)}
			}
			b.ResetTimer()
			part := max(1, min(1024, waiting)/8)
			var group errgroup.Group
			group.SetLimit(max(8, 2*waiting/part))
			for from := 0; from < len(pairs); from += part {
				chunk := pairs[from:min(len(pairs), from+part)]
				group.Go(func() error {
					_, err := batcher.Score(b.Context(), chunk)
					return err
				})
			}
			if err := group.Wait(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(100*batcher.Stats().PaddingShare(), "%padding")
		})
	}
}
