// Package calibrate finds the thresholds of entailment and contradiction that
// label sets best, by cross-validation over questions.
//
// No model is asked for each pair of thresholds: labels are read from the trails
// of a few real runs, the anchors, under every pair of a grid. A trail holds
// the scores of the deciding pair alone, so one run does not suffice for all;
// what no anchor's trails say is not known, and pairs for which too much is not
// known are left out.
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

// Anchors are the thresholds of the runs that labels are read from: those that
// the settings have, and some around the grid.
func Anchors(base nliworker.Thresholds) []nliworker.Thresholds {
	out := []nliworker.Thresholds{base}
	for _, t := range []nliworker.Thresholds{{Entailment: 0.5, Contradiction: 0.5}, {Entailment: 0.3, Contradiction: 0.3}, {Entailment: 0.7, Contradiction: 0.7}, {Entailment: 0.3, Contradiction: 0.8}, {Entailment: 0.85, Contradiction: 0.9}} {
		if t != base {
			out = append(out, t)
		}
	}
	return out
}

// Grid are the thresholds that are tried: every tenth from 0.2 to 0.9, and those
// that the settings have.
func Grid(base nliworker.Thresholds) []nliworker.Thresholds {
	out := []nliworker.Thresholds{base}
	for e := 2; e <= 9; e++ {
		for c := 2; c <= 9; c++ {
			if t := (nliworker.Thresholds{Entailment: float64(e) / 10, Contradiction: float64(c) / 10}); t != base {
				out = append(out, t)
			}
		}
	}
	return out
}

// Cell is what is known of a pair of thresholds.
type Cell struct {
	Thresholds nliworker.Thresholds
	// Items are all scored steps; those whose label is not known are ungraded.
	Items []metrics.Item
	// Unknown counts them.
	Unknown int
}

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
	const step = 0.1 + 1e-9
	return math.Abs(a.Entailment-b.Entailment) <= step && math.Abs(a.Contradiction-b.Contradiction) <= step
}
