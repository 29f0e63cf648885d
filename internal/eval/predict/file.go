// Package predict has systems label sets of steps through the real pipeline,
// and keeps what they said in files that a cut run can be gone on with.
//
// A file of predictions is JSON lines: a head that says what judged what, then a
// line a rollout. Equal runs give equal bytes: times and what a cache spared
// are left out.
package predict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Kind is what the head of a file of predictions says that it is.
const Kind = "stepgap-predictions/1"

// Head is the first line of a file.
type Head struct {
	Kind   string `json:"kind"`
	Set    string `json:"set"`
	About  string `json:"about,omitempty"`
	System string `json:"system"`
	Judges string `json:"judges,omitempty"`
	// SetHash, Config and Program name the set's content, the settings that
	// decide labels, and the program. Predictions of others are not gone on with.
	SetHash string `json:"set_hash"`
	Config  string `json:"config"`
	Program string `json:"program,omitempty"`
}

// Rollout is what a system said of one rollout.
type Rollout struct {
	Rollout  string `json:"rollout"`
	Question string `json:"question"` // its id
	// Text is the question as it was asked.
	Text  string `json:"text,omitempty"`
	Steps []Step `json:"steps"`
}

// Step is what it said of one step.
type Step struct {
	Step string `json:"step"`
	// Gold is empty for a step that is not scored.
	Gold schema.Gap `json:"gold,omitempty"`
	Pred schema.Gap `json:"pred"`
	// Reason is set for ungraded steps, and for none without entailment.
	Reason schema.Reason `json:"reason,omitempty"`
	Stage  schema.Stage  `json:"stage,omitempty"`
	Detail string        `json:"detail,omitempty"`
	Query  string        `json:"query,omitempty"`
	Claim  string        `json:"claim,omitempty"`
	Quote  string        `json:"quote,omitempty"`
	// Why is the annotator's reason for the gold label.
	Why string `json:"why,omitempty"`
	// Group says how the step was made, or what is special about it.
	Group string              `json:"group,omitempty"`
	Trail []schema.TrailEntry `json:"trail,omitempty"`
}

// File is a file of predictions.
type File struct {
	Head
	Rollouts []Rollout
}

// Items are the scored steps.
func (f *File) Items() []metrics.Item {
	var items []metrics.Item
	for _, r := range f.Rollouts {
		for _, s := range r.Steps {
			if s.Gold != "" {
				items = append(items, metrics.Item{Question: r.Question, Step: s.Step, Gold: s.Gold, Pred: s.Pred})
			}
		}
	}
	return items
}

// Groups are the groups of the scored steps that have one.
func (f *File) Groups() map[string]string {
	out := map[string]string{}
	for _, r := range f.Rollouts {
		for _, s := range r.Steps {
			if s.Gold != "" && s.Group != "" {
				out[s.Step] = s.Group
			}
		}
	}
	return out
}

// ErrNoPredictions says that a file holds something else.
var ErrNoPredictions = errors.New("not a file of predictions; stepgap eval run writes them")

// Read reads a file of predictions. A last line that was cut off is left out.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading predictions: %w", err)
	}
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	f := &File{}
	if err := json.Unmarshal(head, &f.Head); err != nil || f.Kind != Kind {
		return nil, fmt.Errorf("reading %s: %w", path, ErrNoPredictions)
	}
	for n := 2; len(rest) > 0; n++ {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return f, nil // the writer was stopped in the middle of it
		}
		var r Rollout
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("reading %s, line %d: %w; remove the file to start anew", path, n, err)
		}
		f.Rollouts = append(f.Rollouts, r)
		rest = after
	}
	return f, nil
}

// exists is Read for a file that may not be there, and then nil.
func exists(path string) (*File, error) {
	f, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Save writes the file, which appears whole or not at all.
func (f *File) Save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing predictions: %w", err)
	}
	part, err := os.Create(path + ".part")
	if err != nil {
		return fmt.Errorf("writing predictions: %w", err)
	}
	w := bufio.NewWriter(part)
	err = line(w, f.Head)
	for i := range f.Rollouts {
		err = errors.Join(err, line(w, &f.Rollouts[i]))
	}
	if err := errors.Join(err, w.Flush(), part.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return fmt.Errorf("writing predictions: %w", err)
	}
	return nil
}

func line(w *bufio.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Models names the models and prompt versions that the trails tell of, each
// once, in alphabetical order.
func (f *File) Models() []string {
	seen := map[string]bool{}
	for _, r := range f.Rollouts {
		for _, s := range r.Steps {
			for _, e := range s.Trail {
				seen[e.Model], seen[e.Prompt] = true, true
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}
