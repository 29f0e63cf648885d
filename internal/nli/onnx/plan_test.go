package onnx

import (
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stretchr/testify/require"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		threads, lanes, cores int // as given; 0 is left open
		device                string
		wantThreads           int
		want                  nli.BatcherOptions
	}{
		{"cpu, nothing given", 0, 0, 8, "cpu", 1, nli.BatcherOptions{Lanes: 8, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"cpu, one core", 0, 0, 1, "cpu", 1, nli.BatcherOptions{Lanes: 1, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"cpu, threads given", 4, 0, 8, "cpu", 4, nli.BatcherOptions{Lanes: 2, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"cpu, more threads than cores", 16, 0, 8, "cpu", 16, nli.BatcherOptions{Lanes: 1, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"cpu, lanes given", 0, 2, 8, "cpu", 4, nli.BatcherOptions{Lanes: 2, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"cpu, more lanes than cores", 0, 16, 8, "cpu", 1, nli.BatcherOptions{Lanes: 16, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"cpu, both given", 3, 3, 8, "cpu", 3, nli.BatcherOptions{Lanes: 3, TokenBudget: 512, MaxRows: 64, Spread: true}},
		{"gpu", 0, 0, 8, "cuda:1", 1, nli.BatcherOptions{Lanes: 2, TokenBudget: 16384, MaxRows: 256}},
		{"gpu, lanes given", 0, 1, 8, "cuda:0", 8, nli.BatcherOptions{Lanes: 1, TokenBudget: 16384, MaxRows: 256}},
	} {
		threads := threadsFor(c.threads, c.lanes, c.cores)
		require.Equal(t, c.wantThreads, threads, c.name)
		require.Equal(t, c.want, plan(nli.BatcherOptions{Lanes: c.lanes}, c.device, threads, c.cores), c.name)
	}
	given := nli.BatcherOptions{Lanes: 3, TokenBudget: 99, MaxRows: 7}
	require.Equal(t, given, plan(given, "cuda:0", 1, 8))
}

func TestDeterministicAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d     Deterministic
		kind  string
		seen  drift
		alone bool
		err   string
	}{
		{DeterministicAuto, precisionFP32, drift{}, false, ""},
		{DeterministicAuto, precisionFP32, drift{byBatch: 1e-5, byRun: 1e-5}, false, ""}, // a GPU's rounding
		{DeterministicAuto, precisionFP32, drift{byBatch: 0.02}, true, ""},
		{DeterministicAuto, precisionInt8, drift{}, true, ""},
		{DeterministicOn, precisionInt8, drift{}, true, ""},
		{DeterministicOff, precisionInt8, drift{byBatch: 1}, false, ""},
		{DeterministicOn, precisionFP32, drift{}, false, ""},
		{DeterministicOn, precisionFP32, drift{byBatch: 1e-7}, true, ""},
		{DeterministicOn, precisionFP32, drift{byBatch: 1e-7, byRun: 1e-7}, false, "run twice differs"},
		{DeterministicOff, precisionFP32, drift{byBatch: 1, byRun: 1}, false, ""},
	} {
		alone, err := c.d.alone(c.kind, c.seen)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%+v", c)
			continue
		}
		require.NoError(t, err, "%+v", c)
		require.Equal(t, c.alone, alone, "%+v", c)
	}
}
