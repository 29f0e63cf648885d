// Package soak scores a great many pairs and watches the process's memory: does
// it stay flat, and is every tensor given back?
package soak

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"

	"github.com/stepgap/stepgap/internal/nli"
)

// Scorer is what is soaked: a batcher over a model that counts its tensors.
type Scorer interface {
	nli.Scorer
	Stats() nli.Stats
	Tensors() int
}

// Options size a soak.
type Options struct {
	Pairs   int    // pairs to score, all different
	Callers int    // requests under way at once
	Batch   int    // pairs a request
	Seed    uint64 // of the pairs' lengths and words
	// Words is the most words of a premise. Most are short, as quotes are, and
	// some of any length up to it.
	Words int
	// Samples is how many times memory is looked at, evenly over the pairs.
	Samples int
	// Progress, if set, is told of every sample.
	Progress func(Sample)
}

// Sample is the process's memory after some pairs.
type Sample struct {
	Pairs   int     `json:"pairs"`
	RSS     float64 `json:"rss_mib"`
	GoHeap  float64 `json:"go_heap_mib"`
	Tensors int     `json:"tensors"`
}

// Report is what a soak found. A share of the first pairs is warm-up: the
// result cache fills, and memory is claimed for the largest batch.
type Report struct {
	Model       string   `json:"model"`
	Device      string   `json:"device"`
	Wanted      int      `json:"pairs_wanted"`
	Pairs       int      `json:"pairs"` // scored when memory was last looked at
	Seconds     float64  `json:"seconds"`
	PairsASec   float64  `json:"pairs_per_s"`
	Batches     uint64   `json:"batches"`
	Padding     float64  `json:"padding_share"`
	WarmPairs   int      `json:"warm_up_pairs"`
	WarmRSS     float64  `json:"rss_mib_after_warm_up"`
	LargestRSS  float64  `json:"rss_mib_largest_after_warm_up"`
	LastRSS     float64  `json:"rss_mib_last"`
	PerMillion  float64  `json:"rss_mib_growth_per_million_pairs"` // slope of a line through the samples after warm-up
	MostTensors int      `json:"tensors_most"`
	Tensors     int      `json:"tensors_after_close"` // set by the caller, once the scorer is closed
	Samples     []Sample `json:"samples"`
}

// Run scores the pairs and samples memory between parts of them. When it is
// stopped it returns what it has seen, beside the error.
func Run(ctx context.Context, s Scorer, o Options) (Report, error) {
	start := time.Now()
	samples, err := run(ctx, s, o)
	took, stats := time.Since(start), s.Stats()
	r := Summarise(samples)
	r.Model, r.Device, r.Wanted = s.Info().Short(), s.Info().Device, o.Pairs
	r.Seconds, r.PairsASec = took.Seconds(), float64(r.Pairs)/took.Seconds()
	r.Batches, r.Padding = stats.Batches, stats.PaddingShare()
	if err != nil {
		return r, fmt.Errorf("after %d pairs: %w", r.Pairs, err)
	}
	return r, nil
}

func run(ctx context.Context, s Scorer, o Options) (samples []Sample, err error) {
	gen := generator{rng: rand.New(rand.NewPCG(o.Seed, 1)), words: o.Words}
	for done := 0; done < o.Pairs; {
		part := min(max(1, o.Pairs/o.Samples), o.Pairs-done)
		if err := score(ctx, s, &gen, part, o); err != nil {
			return samples, err
		}
		done += part
		sample, err := look(done, s.Tensors())
		if err != nil {
			return samples, err
		}
		samples = append(samples, sample)
		if o.Progress != nil {
			o.Progress(sample)
		}
	}
	return samples, nil
}

// warmShare is the share of the samples that count as warm-up.
const warmShare = 0.1

// Summarise sums samples up.
func Summarise(samples []Sample) Report {
	r := Report{Samples: samples}
	if len(samples) == 0 {
		return r
	}
	warm := max(1, int(warmShare*float64(len(r.Samples)))) - 1
	after := r.Samples[warm:]
	r.Pairs = samples[len(samples)-1].Pairs
	r.WarmPairs, r.WarmRSS = after[0].Pairs, after[0].RSS
	var n, sx, sy, sxx, sxy float64
	for _, s := range after {
		x := float64(s.Pairs) / 1e6
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+s.RSS, sxx+x*x, sxy+x*s.RSS
		r.LargestRSS = max(r.LargestRSS, s.RSS)
	}
	for _, s := range r.Samples {
		r.MostTensors = max(r.MostTensors, s.Tensors)
	}
	r.LastRSS = after[len(after)-1].RSS
	if d := n*sxx - sx*sx; d > 0 {
		r.PerMillion = (n*sxy - sx*sy) / d
	}
	return r
}

func score(ctx context.Context, s Scorer, gen *generator, n int, o Options) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Callers)
	for from := 0; from < n; from += o.Batch {
		pairs := make([]nli.Pair, min(o.Batch, n-from))
		for i := range pairs {
			pairs[i] = gen.pair()
		}
		group.Go(func() error {
			_, err := s.Score(ctx, pairs)
			return err
		})
	}
	return group.Wait()
}

func look(pairs, tensors int) (Sample, error) {
	self, err := procfs.Self()
	if err != nil {
		return Sample{}, fmt.Errorf("reading the process's memory: %w", err)
	}
	stat, err := self.Stat()
	if err != nil {
		return Sample{}, fmt.Errorf("reading the process's memory: %w", err)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	const mib = 1 << 20
	return Sample{Pairs: pairs, RSS: float64(stat.ResidentMemory()) / mib, GoHeap: float64(mem.HeapInuse) / mib, Tensors: tensors}, nil
}

// generator makes pairs of random lengths, none equal to another.
type generator struct {
	rng   *rand.Rand
	words int
	n     int
}

const vocabulary = "the mill river bridge was built opened sold in by a miller widow from Kent Porto Lyon and its tallest pier is metres long never before " +
	"when painter born died album film country capital population war general novel author daughter married school county"

func (g *generator) pair() nli.Pair {
	g.n++
	return nli.Pair{
		Premise:    g.text(fmt.Sprintf("Record %d:", g.n), 1+int(float64(g.words)*math.Pow(g.rng.Float64(), 8))),
		Hypothesis: g.text("It says", 1+g.rng.IntN(8)),
	}
}

func (g *generator) text(head string, n int) string {
	words := strings.Fields(vocabulary)
	var b strings.Builder
	b.WriteString(head)
	for range n {
		b.WriteByte(' ')
		b.WriteString(words[g.rng.IntN(len(words))])
	}
	b.WriteByte('.')
	return b.String()
}
