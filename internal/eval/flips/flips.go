// Package flips measures how often a system changes its mind: it labels a set
// again, as it was, in another order, and under another load, and counts the
// labels that differ.
package flips

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Flip is a step whose label differs.
type Flip struct {
	Step string     `json:"step"`
	Was  schema.Gap `json:"was"`
	Is   schema.Gap `json:"is"`
}

// Variation is one further run.
type Variation struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Steps int    `json:"steps"`
	// Flipped are the steps whose label differs from that of the first run;
	// Rate is their share, null where there are no steps.
	Flipped []Flip   `json:"flips"`
	Rate    *float64 `json:"rate"`
}

// Report is what Run measures.
type Report struct {
	Set        string      `json:"set"`
	System     string      `json:"system"`
	Variations []Variation `json:"variations"`
}

// Options of a measurement.
type Options struct {
	predict.Options
	// Dir is the folder of predictions.
	Dir string
	// Seed of the other order.
	Seed uint64
	// Each, if set, is told of each run before it starts.
	Each func(set, run string)
}

// first is the run that the others are held against.
const first = "first"

type run struct {
	name, about string
	change      func(*systems.System, *stepset.Set, *predict.Options)
}

// runs lists the first run and its variations.
func runs(seed uint64) []run {
	return []run{
		{first, "", func(*systems.System, *stepset.Set, *predict.Options) {}},
		{"repeat", "once more, the same", func(*systems.System, *stepset.Set, *predict.Options) {}},
		{"shuffled", "rollouts in another order", func(_ *systems.System, set *stepset.Set, _ *predict.Options) {
			set.Rollouts = slices.Clone(set.Rollouts)
			r := rand.New(rand.NewPCG(seed, 1))
			r.Shuffle(len(set.Rollouts), func(i, j int) { set.Rollouts[i], set.Rollouts[j] = set.Rollouts[j], set.Rollouts[i] })
		}},
		{"load", "four times as many rollouts and messages at once", func(s *systems.System, _ *stepset.Set, o *predict.Options) {
			s.Config.Workers *= 4
			o.Window *= 4
		}},
		{"alone", "one rollout and one message at a time", func(s *systems.System, _ *stepset.Set, o *predict.Options) {
			s.Config.Workers, o.Window = 1, 1
		}},
	}
}

// Run labels a set by a system, again and again, each time in a pipeline of its
// own, so that no memory of an earlier run answers. Runs stand in files under
// the folder and are gone on with like all predictions: remove it to measure
// anew.
func Run(ctx context.Context, set stepset.Set, s systems.System, o Options) (Report, error) {
	r := Report{Set: set.Name, System: s.Name, Variations: []Variation{}}
	if o.Window == 0 {
		o.Window = 32
	}
	var was map[string]schema.Gap
	for _, v := range runs(o.Seed) {
		if o.Each != nil {
			o.Each(set.Name, v.name)
		}
		got, err := labels(ctx, set, s, o, v)
		if err != nil {
			return r, fmt.Errorf("run %s: %w", v.name, err)
		}
		if v.name == first {
			was = got
			continue
		}
		r.Variations = append(r.Variations, held(v, was, got))
	}
	return r, nil
}

func labels(ctx context.Context, set stepset.Set, s systems.System, o Options, v run) (_ map[string]schema.Gap, err error) {
	predicting := o.Options
	v.change(&s, &set, &predicting)
	runner, err := predict.NewRunner(s, predicting)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	f, err := runner.Run(ctx, set, filepath.Join(o.Dir, set.Name, s.Name+"-"+v.name+".jsonl"))
	if err != nil {
		return nil, err
	}
	out := map[string]schema.Gap{}
	for _, p := range f.Rollouts {
		for _, step := range p.Steps { // those that are not scored too
			out[step.Step] = step.Pred
		}
	}
	return out, nil
}

func held(v run, was, is map[string]schema.Gap) Variation {
	out := Variation{Name: v.name, About: v.about, Steps: len(was), Flipped: []Flip{}}
	for step, before := range was {
		if now := is[step]; now != before {
			out.Flipped = append(out.Flipped, Flip{step, before, now})
		}
	}
	slices.SortFunc(out.Flipped, func(a, b Flip) int { return strings.Compare(a.Step, b.Step) })
	if out.Steps > 0 {
		rate := float64(len(out.Flipped)) / float64(out.Steps)
		out.Rate = &rate
	}
	return out
}

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %s\tsteps\tflips\trate\t\n", r.Set, r.System)
	for _, v := range r.Variations {
		rate := "n/a"
		if v.Rate != nil {
			rate = fmt.Sprintf("%.2f %%", 100**v.Rate)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", v.Name, v.Steps, len(v.Flipped), rate, v.About)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the flips: %w", err)
	}
	for _, v := range r.Variations {
		for _, f := range v.Flipped {
			fmt.Fprintf(w, "%s: %s was %s and is %s\n", v.Name, f.Step, f.Was.Short(), f.Is.Short())
		}
	}
	return nil
}
