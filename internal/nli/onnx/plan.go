package onnx

import (
	"strings"

	"github.com/stepgap/stepgap/internal/nli"
)

// Batches by device. On CPU a pair costs the same from 256 tokens a batch on,
// and every token more keeps a lane from the next pair; a GPU is idle below
// some thousands.
const (
	cpuBudget, cpuRows = 512, 64
	gpuBudget, gpuRows = 16384, 256
	gpuLanes           = 2
)

// threadsFor says how many threads a session gets on CPU, of the cores that the
// process may use. Lanes of one thread each are the default: no core waits for
// another, and batches of few pairs run beside each other.
func threadsFor(threads, lanes, cores int) int {
	switch {
	case threads > 0:
		return threads
	case lanes > 0:
		return max(1, cores/lanes)
	default:
		return 1
	}
}

// plan fills in what opts leave open, for a model on device whose session has
// that many threads.
func plan(opts nli.BatcherOptions, device string, threads, cores int) nli.BatcherOptions {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if strings.HasPrefix(device, "cuda") {
		// One batch is prepared while another runs.
		def(&opts.Lanes, gpuLanes)
		def(&opts.TokenBudget, gpuBudget)
		def(&opts.MaxRows, gpuRows)
		return opts
	}
	def(&opts.Lanes, max(1, cores/threads))
	def(&opts.TokenBudget, cpuBudget)
	def(&opts.MaxRows, cpuRows)
	opts.Spread = true
	return opts
}
