// Package calibrate finds the thresholds of entailment and contradiction that
// label sets best, by cross-validation over questions.
//
// Labels under a pair of thresholds are read from the trails of real runs, the
// anchors, where those suffice. A trail holds the scores of the deciding pair
// alone, so mostly they do not, and then the pair takes a run of its own; a model
// that is lent to all runs scores each pair of texts once. What no anchor's
// trails say is not known, and thresholds for which too much is not known are
// left out.
package calibrate

import (
	"fmt"
	"math"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// Anchor is a run under thresholds, with all trails.
type Anchor struct {
	Thresholds nliworker.Thresholds
	File       *predict.File
}

// Grid are the thresholds that are tried: those that the settings have, then
// every pair of 0.3, 0.45, 0.6, 0.75 and 0.9.
func Grid(base nliworker.Thresholds) []nliworker.Thresholds {
	levels := []float64{0.3, 0.45, 0.6, 0.75, 0.9}
	out := []nliworker.Thresholds{base}
	for _, e := range levels {
		for _, c := range levels {
			if t := (nliworker.Thresholds{Entailment: e, Contradiction: c}); t != base {
				out = append(out, t)
			}
		}
	}
	return out
}

// Known reports whether the trails of a set's anchors say what nearly all of its
// labels are under a pair of thresholds. Where they don't, a run under that pair
// is one more anchor.
func (s SetRuns) Known(t nliworker.Thresholds) (bool, error) {
	if len(s.Anchors) == 0 {
		return false, nil
	}
	c, err := cell(&s.Set, s.Anchors, t)
	return err == nil && c.enough(), err
}

// Cell is what is known of a pair of thresholds.
type Cell struct {
	Thresholds nliworker.Thresholds
	// Items are all scored steps; those whose label is not known are ungraded.
	Items []metrics.Item
	// Unknown counts them.
	Unknown int
}

func (c Cell) enough() bool { return float64(c.Unknown) <= maxUnknown*float64(len(c.Items)) }

// cells reads the labels of a set under every pair of a grid.
func cells(set *stepset.Set, anchors []Anchor, grid []nliworker.Thresholds) ([]Cell, error) {
	var out []Cell
	for _, t := range grid {
		c, err := cell(set, anchors, t)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", set.Name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func cell(set *stepset.Set, anchors []Anchor, now nliworker.Thresholds) (Cell, error) {
	c := Cell{Thresholds: now}
	known := map[string]schema.Gap{}
	for _, a := range anchors {
		if err := read(set, a, now, known); err != nil {
			return c, err
		}
	}
	for it := range set.Items() {
		pred, ok := known[it.ID]
		if !ok {
			pred = schema.GapUngraded
			c.Unknown++
		}
		c.Items = append(c.Items, metrics.Item{Question: it.Rollout.QuestionID, Step: it.ID, Gold: it.Step.Label, Pred: pred})
	}
	return c, nil
}

// read adds to known the labels that an anchor's trails suffice for.
func read(set *stepset.Set, a Anchor, now nliworker.Thresholds, known map[string]schema.Gap) error {
	if len(a.File.Rollouts) != len(set.Rollouts) {
		return fmt.Errorf("a run has %d rollouts and the set %d", len(a.File.Rollouts), len(set.Rollouts))
	}
	for i := range a.File.Rollouts {
		p, source := &a.File.Rollouts[i], &set.Rollouts[i]
		changed := false
		for j := range p.Steps {
			s := &p.Steps[j]
			l := &schema.Label{
				Rollout: p.Rollout, Index: j + 1, Label: s.Pred, Stage: s.Stage, Reason: s.Reason, Trail: s.Trail,
				Facts: &schema.Facts{Answer: source.Steps[j].Answer},
			}
			got, err := nliworker.Regrade(l, a.Thresholds, now, changed)
			if err != nil {
				return err
			}
			changed = changed || !got.Same
			if _, have := known[s.Step]; got.Known && !have {
				known[s.Step] = got.Gap
			}
		}
	}
	return nil
}

// near tells neighbours on the grid, a pair itself among them.
func near(a, b nliworker.Thresholds) bool {
	const step = 0.15 + 1e-9
	return math.Abs(a.Entailment-b.Entailment) <= step && math.Abs(a.Contradiction-b.Contradiction) <= step
}
