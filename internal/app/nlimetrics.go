package app

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
)

// nliMetrics registers what the NLI batcher counts. Encoding, waiting and
// running are timed apart, so that it shows which of them is the narrow place.
func nliMetrics(r prometheus.Registerer, s *onnx.Scorer) error {
	counter := func(name, help string, value func(nli.Stats) float64) error {
		return r.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "stepgap_nli_" + name, Help: help}, func() float64 { return value(s.Stats()) }))
	}
	gauge := func(name, help string, value func() float64) error {
		return r.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "stepgap_nli_" + name, Help: help}, value))
	}
	return errors.Join(
		counter("pairs_total", "Pairs run through the model.", func(s nli.Stats) float64 { return float64(s.Pairs) }),
		counter("batches_total", "Batches run.", func(s nli.Stats) float64 { return float64(s.Batches) }),
		counter("tokens_total", "Tokens of the pairs run.", func(s nli.Stats) float64 { return float64(s.Tokens) }),
		counter("padding_tokens_total", "Padding run beside them.", func(s nli.Stats) float64 { return float64(s.Padding) }),
		counter("cache_hits_total", "Pairs answered by the result cache.", func(s nli.Stats) float64 { return float64(s.CacheHits) }),
		counter("joined_total", "Pairs that joined one already on its way.", func(s nli.Stats) float64 { return float64(s.Joined) }),
		counter("late_total", "Pairs dropped since their deadline passed while they waited.", func(s nli.Stats) float64 { return float64(s.Late) }),
		counter("failed_total", "Pairs that the model could not score.", func(s nli.Stats) float64 { return float64(s.Failed) }),
		counter("encode_seconds_total", "Time spent encoding, summed over callers.", func(s nli.Stats) float64 { return s.Encoded.Seconds() }),
		counter("wait_seconds_total", "Time that pairs waited for a lane, summed over pairs.", func(s nli.Stats) float64 { return s.Waited.Seconds() }),
		counter("run_seconds_total", "Time that lanes ran batches, summed over lanes.", func(s nli.Stats) float64 { return s.Ran.Seconds() }),
		gauge("waiting", "Pairs that wait for a lane.", func() float64 { return float64(s.Stats().Waiting) }),
		gauge("tensors", "Tensors that exist.", func() float64 { return float64(s.Tensors()) }),
	)
}
