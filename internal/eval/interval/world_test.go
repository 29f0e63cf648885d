package interval

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// world is a population of questions whose steps go wrong together: each
// question is easy or hard for the judge, and rich or poor in gaps.
type world struct {
	clusters int
	noise    float64 // mean share of wrong predictions
}

// items are the steps of a sample of the world.
func (w world) items(seed uint64) []metrics.Item {
	r := rand.New(rand.NewPCG(seed, 99))
	gaps := schema.Gaps()[:metrics.Labels]
	var out []metrics.Item
	for q := range w.clusters {
		// Shares of the question: U-shaped, so that steps hang together.
		wrong, gappy := 2*w.noise*steep(r), steep(r)
		for range 3 + r.IntN(10) {
			it := metrics.Item{Question: fmt.Sprint(q), Step: fmt.Sprint(len(out)), Gold: schema.GapNone}
			if r.Float64() < gappy {
				it.Gold = gaps[1+r.IntN(3)]
			}
			it.Pred = it.Gold
			if r.Float64() < wrong {
				it.Pred = gaps[r.IntN(metrics.Labels)]
			}
			out = append(out, it)
		}
	}
	return out
}

// steep is a share that is mostly near 0 or near 1: Beta(1/2, 1/2).
func steep(r *rand.Rand) float64 {
	x := math.Sin(math.Pi / 2 * r.Float64())
	return x * x
}

func (w world) sample(seed uint64) metrics.Sample {
	return must(metrics.NewSample(w.items(seed)))
}

// single makes each step a question of its own: what a bootstrap that knows of
// no clusters takes it for.
func single(items []metrics.Item) metrics.Sample {
	alone := make([]metrics.Item, len(items))
	for i, it := range items {
		it.Question = it.Step
		alone[i] = it
	}
	return must(metrics.NewSample(alone))
}

func must(s metrics.Sample, err error) metrics.Sample {
	if err != nil {
		panic(err)
	}
	return s
}
