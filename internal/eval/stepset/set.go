package stepset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Splits of a set: what may be tuned on, and what is scored once at the end.
const (
	SplitDev  = "dev"
	SplitHeld = "held"
)

// Set is a set of labelled steps.
type Set struct {
	// Name is the set's short name, such as "own" or "musique".
	Name string
	// Mapping says where the labels come from, in one sentence to be shown
	// beside every figure.
	Mapping  string
	Rollouts []Rollout
}

// Rollout is one rollout of a set: a line of its file.
type Rollout struct {
	// ID is unique in the set.
	ID string `json:"id"`
	// QuestionID names the question. Rollouts of one question share it, and
	// intervals and splits go by it.
	QuestionID string `json:"question_id"`
	Question   string `json:"question"`
	// Source says what the rollout was made from, such as "musique".
	Source string `json:"source"`
	// Split is SplitDev, SplitHeld or empty.
	Split string `json:"split,omitempty"`
	// Answer is the rollout's final answer, Gold the accepted ones.
	Answer string   `json:"answer,omitempty"`
	Gold   []string `json:"gold,omitempty"`
	Steps  []Step   `json:"steps"`
}

// Step is one step. The fields up to Passages are what a pipeline may see; the
// others are the gold label and notes on it, and never leave the set.
type Step struct {
	Kind  schema.Kind `json:"kind"`
	Plan  string      `json:"plan,omitempty"`
	Query string      `json:"query,omitempty"`
	// Text is what was written after the evidence, as written.
	Text string `json:"text,omitempty"`
	// Claim holds the facts asserted; empty where Text asserts none, or where
	// the pipeline is to read the claim from Text itself.
	Claim string `json:"claim,omitempty"`
	// Answer is the final answer; conclusions only.
	Answer string `json:"answer,omitempty"`
	// Passages are those that this step fetched. Passages of earlier steps stay
	// in view by themselves. A conclusion fetches none.
	Passages []Passage `json:"passages,omitempty"`

	// Label is the gold label, or empty for a step that is not scored.
	Label schema.Gap `json:"label,omitempty"`
	// Quote is the verbatim span of a passage that decides, where there is one.
	Quote string `json:"quote,omitempty"`
	// Abstains says that the step says that something was not found.
	Abstains bool `json:"abstains,omitempty"`
	// Perturbation names how a built step was made, such as "same_passage_name".
	Perturbation string `json:"perturbation,omitempty"`
	// Sure is the annotator's certainty, 1 to 3; 0 where none was given.
	Sure int `json:"sure,omitempty"`
	// Why is a short reason for the label.
	Why string `json:"why,omitempty"`
}

// Passage is a retrieved text.
type Passage struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
}

// Scored reports whether the step has a gold label.
func (s *Step) Scored() bool { return s.Label != "" }

// StepID is the id of the step with this index, from 1: "<rollout id>#<index>".
func (r *Rollout) StepID(index int) string { return fmt.Sprintf("%s#%d", r.ID, index) }

// Seen returns the passages in view at the step with this index, from 1: its
// own and those of every earlier step.
func (r *Rollout) Seen(index int) []Passage {
	var seen []Passage
	for i := range r.Steps[:index] {
		seen = append(seen, r.Steps[i].Passages...)
	}
	return seen
}

// Item is one scored step.
type Item struct {
	ID      string
	Rollout *Rollout
	Index   int // from 1
	Step    *Step
}

// Items iterates over the scored steps, in the order of the file.
func (s *Set) Items() iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for i := range s.Rollouts {
			r := &s.Rollouts[i]
			for j := range r.Steps {
				if r.Steps[j].Scored() && !yield(Item{ID: r.StepID(j + 1), Rollout: r, Index: j + 1, Step: &r.Steps[j]}) {
					return
				}
			}
		}
	}
}

// Part returns the rollouts of one split, as a set of the same name. The
// rollouts are shared, not copied.
func (s *Set) Part(split string) Set {
	out := Set{Name: s.Name, Mapping: s.Mapping}
	for _, r := range s.Rollouts {
		if r.Split == split {
			out.Rollouts = append(out.Rollouts, r)
		}
	}
	return out
}

// Counts says how large a set is and how its labels are distributed.
type Counts struct {
	Rollouts  int                 `json:"rollouts"`
	Questions int                 `json:"questions"`
	Steps     int                 `json:"steps"` // scored ones
	Context   int                 `json:"context"`
	Labels    map[schema.Gap]int  `json:"labels"`
	Kinds     map[schema.Kind]int `json:"kinds"`
	Abstains  int                 `json:"abstains"`
	Perturbed map[string]int      `json:"perturbations,omitempty"`
	Splits    map[string]int      `json:"splits,omitempty"` // scored steps a split
}

// Count counts.
func (s *Set) Count() Counts {
	c := Counts{Rollouts: len(s.Rollouts), Labels: map[schema.Gap]int{}, Kinds: map[schema.Kind]int{},
		Perturbed: map[string]int{}, Splits: map[string]int{}}
	questions := map[string]bool{}
	for i := range s.Rollouts {
		r := &s.Rollouts[i]
		questions[r.QuestionID] = true
		c.Context += len(r.Steps)
	}
	for it := range s.Items() {
		c.Steps++
		c.Labels[it.Step.Label]++
		c.Kinds[it.Step.Kind]++
		if it.Step.Abstains {
			c.Abstains++
		}
		if it.Step.Perturbation != "" {
			c.Perturbed[it.Step.Perturbation]++
		}
		if it.Rollout.Split != "" {
			c.Splits[it.Rollout.Split]++
		}
	}
	c.Questions, c.Context = len(questions), c.Context-c.Steps
	return c
}

// Hash is the hex SHA-256 of the set as Write writes it. It names the content:
// two sets of the same hash have the same rollouts in the same order.
func (s *Set) Hash() (string, error) {
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), nil
}
