// Package matrix makes a study: every system on every set, predictions kept in
// files, trivial baselines beside them.
package matrix

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stepgap/stepgap/internal/eval/baseline"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/internal/eval/report"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options of a study.
type Options struct {
	predict.Options
	// Dir is the folder of predictions: <set>/<system>.jsonl.
	Dir string
	// Each, if set, is told of each set and system before it is run.
	Each func(set, system string)
}

// Path is where a system's predictions of a set stand.
func (o Options) Path(set, system string) string { return filepath.Join(o.Dir, set, system+".jsonl") }

// Run has systems label sets, going on with what stands in the files, and
// returns the study, baselines and all.
func Run(ctx context.Context, sets []stepset.Set, list []systems.System, o Options) (report.Study, error) {
	study := report.Study{}
	for i := range sets {
		hash, err := sets[i].Hash()
		if err != nil {
			return study, err
		}
		study.Sets = append(study.Sets, report.Set{Name: sets[i].Name, About: sets[i].Mapping, Hash: hash})
	}
	// A system's pipeline is started once for all sets.
	for _, s := range list {
		files, err := Label(ctx, sets, s, o)
		if err != nil {
			return study, err
		}
		for i, f := range files {
			set := &study.Sets[i]
			set.Groups = f.Groups()
			set.Systems = append(set.Systems, report.System{Name: s.Name, About: about(s, f), Of: s.Of, Without: s.Without, Items: f.Items()})
		}
	}
	for i := range sets {
		for _, b := range baseline.All() {
			items := b.Items(&sets[i])
			f := kept(sets[i], study.Sets[i].Hash, b, items)
			if err := f.Save(o.Path(sets[i].Name, b.Name)); err != nil {
				return study, err
			}
			study.Sets[i].Systems = append(study.Sets[i].Systems, report.System{Name: b.Name, About: b.About, Baseline: true, Items: items})
		}
	}
	return study, nil
}

// about says which judges a system has, and by which models and prompts they
// judged.
func about(s systems.System, f *predict.File) string {
	if models := f.Models(); len(models) > 0 {
		return s.About + " (" + strings.Join(models, ", ") + ")"
	}
	return s.About
}

// Label has one system label sets, and returns its predictions of each.
func Label(ctx context.Context, sets []stepset.Set, s systems.System, o Options) (files []*predict.File, err error) {
	runner, err := predict.NewRunner(s, o.Options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := runner.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("ending the pipeline of %s: %w", s.Name, e))
		}
	}()
	for i := range sets {
		if o.Each != nil {
			o.Each(sets[i].Name, s.Name)
		}
		f, err := runner.Run(ctx, sets[i], o.Path(sets[i].Name, s.Name))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// kept is a file of a baseline's predictions, for comparisons.
func kept(set stepset.Set, hash string, b baseline.Baseline, items []metrics.Item) *predict.File {
	f := &predict.File{Head: predict.Head{Kind: predict.Kind, Set: set.Name, About: set.Mapping, System: b.Name, Judges: b.About, SetHash: hash}}
	pred := map[string]schema.Gap{}
	for _, it := range items {
		pred[it.Step] = it.Pred
	}
	for i := range set.Rollouts {
		r := &set.Rollouts[i]
		p := predict.Rollout{Rollout: r.ID, Question: r.QuestionID, Steps: []predict.Step{}}
		for j := range r.Steps {
			s := &r.Steps[j]
			if id := r.StepID(j + 1); s.Scored() {
				p.Steps = append(p.Steps, predict.Step{Step: id, Gold: s.Label, Pred: pred[id], Group: s.Perturbation})
			}
		}
		f.Rollouts = append(f.Rollouts, p)
	}
	return f
}
