package nlieval

import (
	"context"
	"fmt"
	"io"

	"github.com/stepgap/stepgap/internal/nli"
)

// Report is build/report/eval-nli.json.
type Report struct {
	Models []Model     `json:"models"`
	Sets   []SetReport `json:"sets"`
	Kinds  []KindCount `json:"hand_by_kind"`
	// Missing says which figures could not be measured, and why.
	Missing map[string]string `json:"missing,omitempty"`
}

// Model names a model file. The first of a report is the one whose figures
// stand at the top of each set.
type Model struct {
	Name string `json:"name"`
	File string `json:"file"`
	Hash string `json:"hash"`
}

// SetReport is what all models made of a set.
type SetReport struct {
	Name   string `json:"name"`
	Part   string `json:"part"`
	N      int    `json:"n"`
	TwoWay bool   `json:"two_way"`
	// Trained: the default model was trained on this set.
	Trained bool `json:"trained_on"`
	// Accuracy and MacroF1 are those of the first model alone.
	Accuracy  float64   `json:"accuracy"`
	MacroF1   float64   `json:"macro_f1"`
	Baselines Baselines `json:"baselines"`
	// Files are the results by model file.
	Files map[string]Result `json:"files"`
}

// KindCount is how many hand-written pairs of a kind the first model got right.
type KindCount struct {
	Kind  string `json:"kind"`
	N     int    `json:"n"`
	Alone int    `json:"alone"`
	Stage int    `json:"stage_d"`
}

// Scorer is a model file to measure. For figures that are the same every time
// it must score pairs one by one: a quantised model's results depend on what
// else is in the batch.
type Scorer struct {
	File string
	nli.Scorer
}

// Run measures the models on the sets, the hand-written one among them. It
// writes a line to progress before each set.
func Run(ctx context.Context, models []Scorer, sets []Set, progress io.Writer) (Report, error) {
	r := Report{Missing: map[string]string{}}
	for _, m := range models {
		info := m.Info()
		r.Models = append(r.Models, Model{Name: info.Name, File: m.File, Hash: info.Hash})
	}
	for _, set := range sets {
		s := SetReport{
			Name: set.Name, Part: set.Part, N: len(set.Pairs), TwoWay: set.TwoWay, Trained: set.Trained,
			Baselines: baselines(twoWay(set)), Files: map[string]Result{},
		}
		set.Pairs = twoWay(set)
		for i, m := range models {
			fmt.Fprintf(progress, "%s: %d pairs, %s\n", set.Name, len(set.Pairs), m.File)
			result, err := evaluate(ctx, m, set)
			if err != nil {
				return r, err
			}
			s.Files[m.File] = result
			if i > 0 {
				continue
			}
			s.Accuracy, s.MacroF1 = result.Alone.Accuracy.Value, result.Alone.MacroF1.Value
			if set.Pairs[0].Kind != "" {
				r.Kinds = byKind(set.Pairs, result)
			}
		}
		r.Sets = append(r.Sets, s)
	}
	return r, nil
}

// twoWay returns the pairs with the labels that the set distinguishes.
func twoWay(set Set) []Pair {
	if !set.TwoWay {
		return set.Pairs
	}
	out := make([]Pair, len(set.Pairs))
	for i, p := range set.Pairs {
		if p.Label != Entailment {
			p.Label = Neutral
		}
		out[i] = p
	}
	return out
}

// byKind counts right answers by kind, in order of appearance.
func byKind(pairs []Pair, r Result) []KindCount {
	var kinds []KindCount
	at := make(map[string]int)
	for i, p := range pairs {
		k, ok := at[p.Kind]
		if !ok {
			k = len(kinds)
			at[p.Kind] = k
			kinds = append(kinds, KindCount{Kind: p.Kind})
		}
		kinds[k].N++
		if r.alone[i] == p.Label {
			kinds[k].Alone++
		}
		if r.stage[i] == p.Label {
			kinds[k].Stage++
		}
	}
	return kinds
}

// Prediction is one pair's line of a file of predictions.
type Prediction struct {
	Set   string `json:"set"`
	Pair  int    `json:"pair"`
	Kind  string `json:"kind,omitempty"`
	Label string `json:"label"`
	Alone string `json:"alone"`
	Stage string `json:"stage_d"`
}

// Predictions lists what a model file said of every pair, to compare models
// pair by pair.
func (r Report) Predictions(file string, sets []Set) []Prediction {
	var out []Prediction
	for i, set := range sets {
		result := r.Sets[i].Files[file]
		for k, p := range twoWay(set) {
			out = append(out, Prediction{
				Set: set.Name, Pair: k + 1, Kind: p.Kind, Label: p.Label.String(),
				Alone: result.alone[k].String(), Stage: result.stage[k].String(),
			})
		}
	}
	return out
}
