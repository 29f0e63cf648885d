package report

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Estimates are metrics with their intervals.
type Estimates map[metrics.Metric]interval.Estimate

// Report is a study with its figures.
type Report struct {
	Draws   int
	Seed    uint64
	Level   float64
	Sets    []SetReport
	Missing []string
}

// SetReport is one set.
type SetReport struct {
	Name, About, Hash string
	Steps, Questions  int
	Gold              map[schema.Gap]metrics.Part
	Systems           []SystemReport
	// Ablations in the order of systems.
	Ablations []Ablation
	Groups    []Group
}

// SystemReport is one system on one set.
type SystemReport struct {
	Name, About string
	Of          string
	Without     schema.Stage
	Baseline    bool
	metrics.Summary
	Estimates Estimates
	// Trap: flag-all has as high a Q-F1 or a higher one, so that this one says
	// nothing.
	Trap bool
	// Lead is how far the first system is ahead of this one, in pairs; nil for
	// the first and for ablations.
	Lead Estimates
}

// Ablation is what a system becomes without one stage.
type Ablation struct {
	Of      string
	Without schema.Stage
	System  string
	// Delta is the system without the stage less the whole one, in pairs.
	Delta Estimates
}

// Group is a part of the steps, with how many each system got right.
type Group struct {
	Name string
	Gold schema.Gap
	N    int
	// Caught counts steps whose class, gap or none, is right, Right those whose
	// label is; by system.
	Caught, Right map[string]int
}

// ablated lists the metrics of ablations.
func ablated() []metrics.Metric {
	return []metrics.Metric{metrics.SF1, metrics.MacroF1, metrics.BalancedAccuracy, metrics.QF1}
}

// Compute computes a study's figures.
func Compute(ctx context.Context, s Study, o interval.Options) (*Report, error) {
	if o.Draws == 0 {
		o.Draws = interval.DefaultDraws
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	r := &Report{Draws: o.Draws, Seed: o.Seed, Level: o.Level, Missing: s.Missing}
	seen := map[string]bool{}
	for _, set := range s.Sets {
		if seen[set.Name] {
			return nil, fmt.Errorf("set %s stands twice", set.Name)
		}
		seen[set.Name] = true
		if err := set.check(); err != nil {
			return nil, err
		}
		c, err := computeSet(ctx, set.withConstants(), o)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", set.Name, err)
		}
		r.Sets = append(r.Sets, *c)
	}
	return r, nil
}

func computeSet(ctx context.Context, set Set, o interval.Options) (*SetReport, error) {
	out := &SetReport{Name: set.Name, About: set.About, Hash: set.Hash}
	samples := map[string]metrics.Sample{}
	for i, y := range set.Systems {
		sample, err := metrics.NewSample(y.Items)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", y.Name, err)
		}
		samples[y.Name] = sample
		total := sample.Total()
		c := SystemReport{Name: y.Name, About: y.About, Of: y.Of, Without: y.Without, Baseline: y.Baseline, Summary: metrics.Summarise(&total)}
		if c.Estimates, err = interval.Of(ctx, sample, metrics.All(), o); err != nil {
			return nil, fmt.Errorf("%s: %w", y.Name, err)
		}
		if i > 0 && y.Of == "" {
			if c.Lead, err = interval.Difference(ctx, sample, samples[set.Systems[0].Name], metrics.Main(), o); err != nil {
				return nil, fmt.Errorf("%s: %w", y.Name, err)
			}
		}
		out.Systems = append(out.Systems, c)
	}
	first := out.Systems[0]
	out.Steps, out.Questions, out.Gold = first.Steps, first.Questions, first.Gold
	out.markTraps()
	for _, y := range set.Systems {
		if y.Of == "" {
			continue
		}
		delta, err := interval.Difference(ctx, samples[y.Of], samples[y.Name], ablated(), o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", y.Name, err)
		}
		out.Ablations = append(out.Ablations, Ablation{Of: y.Of, Without: y.Without, System: y.Name, Delta: delta})
	}
	out.Groups = groups(set)
	return out, nil
}

// markTraps marks the Q-F1 that flag-all reaches, flag-all's own among them.
func (s *SetReport) markTraps() {
	i := slices.IndexFunc(s.Systems, func(y SystemReport) bool { return y.Name == FlagAll })
	all := s.Systems[i].Estimates[metrics.QF1].Value
	for i := range s.Systems {
		q := s.Systems[i].Estimates[metrics.QF1].Value
		s.Systems[i].Trap = q != nil && all != nil && *all >= *q
	}
}

// groups counts right steps by group and gold label.
func groups(set Set) []Group {
	type key struct {
		name string
		gold schema.Gap
	}
	found := map[key]*Group{}
	for i, y := range set.Systems {
		for _, it := range y.Items {
			k := key{set.Groups[it.Step], it.Gold}
			if k.name == "" {
				continue
			}
			g := found[k]
			if g == nil {
				g = &Group{Name: k.name, Gold: k.gold, Caught: map[string]int{}, Right: map[string]int{}}
				found[k] = g
			}
			if i == 0 {
				g.N++
			}
			if it.Pred.Graded() && (it.Pred == schema.GapNone) == (it.Gold == schema.GapNone) {
				g.Caught[y.Name]++
			}
			if it.Pred == it.Gold {
				g.Right[y.Name]++
			}
		}
	}
	order := map[schema.Gap]int{}
	for i, g := range schema.Gaps() {
		order[g] = i
	}
	keys := slices.SortedFunc(maps.Keys(found), func(a, b key) int {
		if a.gold != b.gold {
			return order[a.gold] - order[b.gold]
		}
		if a.name < b.name {
			return -1
		}
		return 1
	})
	var out []Group
	for _, k := range keys {
		out = append(out, *found[k])
	}
	return out
}
