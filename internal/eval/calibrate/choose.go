package calibrate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

const (
	folds = 5
	// maxUnknown is the greatest share of steps that may be not known under a
	// pair of thresholds that is chosen.
	maxUnknown = 0.02
)

// SetRuns is a set with its anchors.
type SetRuns struct {
	Set     stepset.Set
	Anchors []Anchor
}

// Tried is a pair of thresholds on all sets.
type Tried struct {
	nliworker.Thresholds
	// Value is the mean of the objective over sets; null where the pair is left
	// out, as too many labels are not known.
	Value   *float64 `json:"value"`
	Unknown int      `json:"unknown_labels"`
}

// Fold is what the questions outside of a fifth chose for it.
type Fold struct {
	Questions int                  `json:"questions"`
	Chosen    nliworker.Thresholds `json:"chosen"`
}

// Result is a calibration.
type Result struct {
	Objective metrics.Metric       `json:"objective"`
	Base      nliworker.Thresholds `json:"base"`
	// Chosen are the thresholds that all questions choose.
	Chosen nliworker.Thresholds `json:"chosen"`
	Folds  []Fold               `json:"folds"`
	// Sets are by set what cross-validation says: the thresholds that the other
	// questions chose, against the base's, on questions that did not choose.
	Sets map[string]Outcome `json:"sets"`
	Grid []Tried            `json:"grid"`
}

// Outcome is the honest estimate on one set.
type Outcome struct {
	Base  map[metrics.Metric]interval.Estimate `json:"base"`
	Cross map[metrics.Metric]interval.Estimate `json:"cross_validated"`
	// Delta is Cross less Base, paired.
	Delta map[metrics.Metric]interval.Estimate `json:"delta"`
}

// Choose calibrates on sets: each counts the same, whatever its size. base is
// the first of grid, and an anchor of every set.
func Choose(ctx context.Context, sets []SetRuns, grid []nliworker.Thresholds, objective metrics.Metric, o interval.Options) (*Result, error) {
	if len(sets) == 0 || len(grid) == 0 {
		return nil, errors.New("calibrating takes a set and a grid of thresholds")
	}
	var all [][]Cell // by set, then by grid
	for i := range sets {
		c, err := cells(&sets[i].Set, sets[i].Anchors, grid)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	r := &Result{Objective: objective, Base: grid[0], Sets: map[string]Outcome{}}
	everything := func(string) bool { return true }
	best, values, err := choose(all, grid, objective, everything)
	if err != nil {
		return nil, err
	}
	r.Chosen = grid[best]
	for g, t := range grid {
		tried := Tried{Thresholds: t, Value: values[g]}
		for _, c := range all {
			tried.Unknown += c[g].Unknown
		}
		r.Grid = append(r.Grid, tried)
	}
	crossed := make([][]metrics.Item, len(all))
	for f := range uint32(folds) {
		mine := func(q string) bool { return fold(q) == f }
		chosen, _, err := choose(all, grid, objective, func(q string) bool { return !mine(q) })
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", f+1, err)
		}
		questions := map[string]bool{}
		for s := range all {
			for _, it := range all[s][chosen].Items {
				if mine(it.Question) {
					crossed[s] = append(crossed[s], it)
					questions[it.Question] = true
				}
			}
		}
		r.Folds = append(r.Folds, Fold{Questions: len(questions), Chosen: grid[chosen]})
	}
	for s := range sets {
		outcome, err := judged(ctx, all[s][0].Items, crossed[s], o)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", sets[s].Set.Name, err)
		}
		r.Sets[sets[s].Set.Name] = outcome
	}
	return r, nil
}

// fold is the part that a question falls in.
func fold(question string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte("calibrate " + question)) // never fails
	return h.Sum32() % folds
}

// choose finds the thresholds under which the questions that are in give the
// best objective, as a mean over sets. Half of it is the mean over neighbours on
// the grid, since a peak that its neighbours don't share is chance. Of equals the first counts, which
// is the base where it is among them.
func choose(all [][]Cell, grid []nliworker.Thresholds, objective metrics.Metric, in func(question string) bool) (best int, values []*float64, err error) {
	values = make([]*float64, len(grid))
	for g := range grid {
		values[g] = value(all, g, objective, in)
	}
	best = -1
	top := math.Inf(-1)
	for g := range grid {
		if values[g] == nil {
			continue
		}
		sum, n := 0.0, 0
		for k := range grid {
			if values[k] != nil && near(grid[g], grid[k]) {
				sum += *values[k]
				n++
			}
		}
		if level := (*values[g] + sum/float64(n)) / 2; level > top+1e-9 {
			best, top = g, level
		}
	}
	if best < 0 {
		return 0, values, fmt.Errorf("%s is defined under no pair of thresholds; the set needs gaps and steps without one", objective)
	}
	return best, values, nil
}

// value is the mean objective over sets; nil where a set has none, or leaves
// too much unknown.
func value(all [][]Cell, g int, objective metrics.Metric, in func(string) bool) *float64 {
	sum := 0.0
	for _, c := range all {
		if !c[g].enough() {
			return nil
		}
		var items []metrics.Item
		for _, it := range c[g].Items {
			if in(it.Question) {
				items = append(items, it)
			}
		}
		sample, err := metrics.NewSample(items)
		if err != nil {
			return nil
		}
		total := sample.Total()
		x, ok := objective.Of(&total).Get()
		if !ok {
			return nil
		}
		sum += x
	}
	mean := sum / float64(len(all))
	return &mean
}

func judged(ctx context.Context, base, crossed []metrics.Item, o interval.Options) (out Outcome, err error) {
	a, err := metrics.NewSample(base)
	if err != nil {
		return out, err
	}
	b, err := metrics.NewSample(crossed)
	if err != nil {
		return out, err
	}
	if out.Base, err = interval.Of(ctx, a, metrics.Main(), o); err != nil {
		return out, err
	}
	if out.Cross, err = interval.Of(ctx, b, metrics.Main(), o); err != nil {
		return out, err
	}
	out.Delta, err = interval.Difference(ctx, a, b, metrics.Main(), o)
	return out, err
}

// Gains reports whether cross-validation saw no set lose the objective, and one
// gain it.
func (r *Result) Gains() bool {
	gains := false
	for _, s := range r.Sets {
		d := s.Delta[r.Objective]
		if d.Value == nil || *d.Value < 0 {
			return false
		}
		gains = gains || *d.Value > 0
	}
	return gains
}
