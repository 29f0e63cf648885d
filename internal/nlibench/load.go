package nlibench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/stepgap/stepgap/internal/nli"
)

// Load is what every peer is sent. It travels as a file of JSON.
type Load struct {
	// Requests are pairs (premise, hypothesis) that are sent together, as a
	// stage sends them. No pair is in it twice, so there is nothing to join.
	Requests [][][2]string `json:"requests"`
	// Gaps are times between arrivals, of mean 1, exponentially distributed:
	// divided by a rate they are Poisson arrivals at that rate.
	Gaps []float64 `json:"gaps"`
}

// NewLoad makes a load of requests, dropping pairs that were there before.
func NewLoad(requests [][]nli.Pair, seed uint64) *Load {
	rng := rand.New(rand.NewPCG(seed, seed))
	seen := make(map[nli.Pair]bool)
	l := &Load{}
	for _, pairs := range requests {
		var request [][2]string
		for _, p := range pairs {
			if !seen[p] {
				seen[p] = true
				request = append(request, [2]string{p.Premise, p.Hypothesis})
			}
		}
		if len(request) > 0 {
			l.Requests = append(l.Requests, request)
			l.Gaps = append(l.Gaps, rng.ExpFloat64())
		}
	}
	return l
}

// add appends requests as they are, repeats and all, without arrival times.
func (l *Load) add(requests [][]nli.Pair) {
	for _, pairs := range requests {
		request := make([][2]string, len(pairs))
		for i, p := range pairs {
			request[i] = [2]string{p.Premise, p.Hypothesis}
		}
		l.Requests = append(l.Requests, request)
	}
}

// Pairs counts the pairs of the first n requests.
func (l *Load) Pairs(n int) int {
	sum := 0
	for _, r := range l.Requests[:n] {
		sum += len(r)
	}
	return sum
}

// First is how many requests, from the first on, have at least pairs pairs
// together; all if there are not so many.
func (l *Load) First(pairs int) int {
	sum := 0
	for i, r := range l.Requests {
		if sum >= pairs {
			return i
		}
		sum += len(r)
	}
	return len(l.Requests)
}

func (l *Load) request(i int) []nli.Pair {
	pairs := make([]nli.Pair, len(l.Requests[i]))
	for k, p := range l.Requests[i] {
		pairs[k] = nli.Pair{Premise: p[0], Hypothesis: p[1]}
	}
	return pairs
}

// Write writes the load to a file.
func (l *Load) Write(path string) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("writing the load: %w", err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("writing the load: %w", err)
	}
	return nil
}

// ReadLoad reads what Write wrote.
func ReadLoad(path string) (*Load, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the load: %w", err)
	}
	var l Load
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("reading the load from %s: %w", path, err)
	}
	return &l, nil
}
