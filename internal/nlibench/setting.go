package nlibench

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/stepgap/stepgap/internal/nli"
)

// shape describes the first requests of a load.
func shape(l *Load, requests int, scorer nli.Scorer) (Shape, error) {
	s := Shape{Requests: requests, Pairs: l.Pairs(requests)}
	var lengths []int
	total := 0
	for _, request := range l.Requests[:requests] {
		for _, p := range request {
			n := scorer.Info().PairOverhead
			for _, text := range p {
				tokens, err := scorer.CountTokens(text)
				if err != nil {
					return s, fmt.Errorf("measuring the pairs: %w", err)
				}
				n += tokens
			}
			lengths = append(lengths, n)
			total += n
		}
	}
	sort.Ints(lengths)
	last := len(lengths) - 1
	s.Tokens = [4]int{lengths[last*5/100], lengths[last/2], lengths[last*95/100], lengths[last]}
	s.Mean = float64(total) / float64(len(lengths))
	return s, nil
}

// processor is the processor's name, as Linux tells it.
func processor() string {
	const unknown = "unknown processor"
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

// LastCore is the last core that this process may run on; the first ones have
// the most else to do.
func LastCore() (int, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("finding a core to measure on: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return lastOf(list)
		}
	}
	return 0, errors.New("finding a core to measure on: /proc/self/status doesn't say which there are")
}

// lastOf reads the last core of a list such as "0-3,8-11".
func lastOf(list string) (int, error) {
	list = strings.TrimSpace(list)
	n, err := strconv.Atoi(list[strings.LastIndexAny(list, ",-")+1:])
	if err != nil {
		return 0, fmt.Errorf("finding a core to measure on: reading %q: %w", list, err)
	}
	return n, nil
}
