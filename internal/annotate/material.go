package annotate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/transcript"
)

// sourceRollouts is the Source of rollouts that were read from a user's file.
const sourceRollouts = "rollouts"

// Material is what is to be labelled.
type Material struct {
	// Rollouts have their steps without labels, quotes and notes.
	Rollouts []stepset.Rollout
	// Skipped says which rollouts can't be labelled, and why.
	Skipped  []string
	tasks    []Task
	question map[string]string // by step: the id of its question
}

// Task is one step as an annotator sees it.
type Task struct {
	// Step is the step's id, "<rollout id>#<index>".
	Step string `json:"step"`
	// Digest names the content: a journal's entry holds for this content alone.
	Digest   string    `json:"digest"`
	Kind     string    `json:"kind"`
	Question string    `json:"question"`
	Earlier  []Earlier `json:"earlier,omitempty"`
	Query    string    `json:"query,omitempty"`
	// Text is what was written after the evidence, Claim what of it asserts
	// facts; either may be empty.
	Text     string    `json:"text,omitempty"`
	Claim    string    `json:"claim,omitempty"`
	Answer   string    `json:"answer,omitempty"`
	Passages []Passage `json:"passages,omitempty"`
}

// Earlier is an earlier step of the same rollout.
type Earlier struct {
	Query string `json:"query,omitempty"`
	Claim string `json:"claim,omitempty"`
}

// Passage is one that is in view, with the index of the step that fetched it.
type Passage struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
	By    int    `json:"by"`
	Own   bool   `json:"own,omitempty"`
}

// FromRollouts takes rollouts as stepgap check reads them. Rollouts without a
// question or without steps are skipped.
func FromRollouts(rollouts iter.Seq2[*transcript.Rollout, error]) (*Material, error) {
	m := &Material{}
	used := map[string]bool{}
	for r, err := range rollouts {
		if err != nil {
			return nil, err
		}
		switch {
		case strings.TrimSpace(r.Question) == "":
			m.Skipped = append(m.Skipped, fmt.Sprintf("rollout %q has no question, and a step can't be judged without one", r.ID))
			continue
		case len(r.Steps) == 0:
			m.Skipped = append(m.Skipped, fmt.Sprintf("rollout %q has no steps", r.ID))
			continue
		case used[r.ID]:
			return nil, fmt.Errorf("two rollouts have the id %q; give each its own, or the labels of one would be those of the other", r.ID)
		}
		used[r.ID] = true
		m.Rollouts = append(m.Rollouts, fromTranscript(r))
	}
	return m, m.finish()
}

// FromSet takes the steps of a set. If any of them has a gold label, those
// alone are to be labelled; the others are context.
func FromSet(set stepset.Set) (*Material, error) {
	m := &Material{}
	only := map[string]bool{}
	for it := range set.Items() {
		only[it.ID] = true
	}
	for _, r := range set.Rollouts {
		r.Steps = append([]stepset.Step(nil), r.Steps...)
		for i := range r.Steps {
			s := &r.Steps[i]
			s.Label, s.Quote, s.Why, s.Perturbation, s.Sure, s.Abstains = "", "", "", "", 0, false
		}
		m.Rollouts = append(m.Rollouts, r)
	}
	if err := m.finish(); err != nil {
		return nil, err
	}
	if len(only) > 0 {
		var kept []Task
		for _, t := range m.tasks {
			if only[t.Step] {
				kept = append(kept, t)
			}
		}
		m.tasks = kept
	}
	return m, nil
}

// Tasks are the steps to be labelled, in the order of the source.
func (m *Material) Tasks() []Task { return m.tasks }

// Only keeps the tasks of some steps, such as those of a list of disputes.
func (m *Material) Only(steps []string) error {
	wanted := map[string]bool{}
	for _, s := range steps {
		wanted[s] = true
	}
	var kept []Task
	for _, t := range m.tasks {
		if wanted[t.Step] {
			kept = append(kept, t)
			delete(wanted, t.Step)
		}
	}
	for _, s := range steps {
		if wanted[s] {
			return fmt.Errorf("step %.80q is none of these files'; give the files that the list was made of", s)
		}
	}
	m.tasks = kept
	return nil
}

func fromTranscript(r *transcript.Rollout) stepset.Rollout {
	out := stepset.Rollout{
		ID: r.ID, QuestionID: questionID(r.Question), Question: r.Question, Source: sourceRollouts,
		Answer: r.Answer, Gold: r.Gold,
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		step := stepset.Step{Kind: s.Kind, Plan: s.Plan, Query: s.Query, Text: s.Text, Claim: s.Claim, Answer: s.Answer}
		for _, p := range s.Passages {
			if p.ByStep == s.Index {
				step.Passages = append(step.Passages, stepset.Passage{Title: p.Title, Text: p.Text})
			}
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// questionID is the same for rollouts of the same question.
func questionID(question string) string {
	sum := sha256.Sum256([]byte(question))
	return "q-" + hex.EncodeToString(sum[:6])
}

// finish checks the rollouts and makes their tasks.
func (m *Material) finish() error {
	set := stepset.Set{Rollouts: m.Rollouts}
	if err := set.Check(); err != nil {
		return fmt.Errorf("reading the steps to label: %w", err)
	}
	m.question = map[string]string{}
	for i := range m.Rollouts {
		for j := range m.Rollouts[i].Steps {
			t, err := task(&m.Rollouts[i], j+1)
			if err != nil {
				return err
			}
			m.tasks = append(m.tasks, t)
			m.question[t.Step] = m.Rollouts[i].QuestionID
		}
	}
	return nil
}

func task(r *stepset.Rollout, index int) (Task, error) {
	s := &r.Steps[index-1]
	t := Task{
		Kind: string(s.Kind), Question: r.Question, Query: s.Query, Text: s.Text, Claim: s.Claim, Answer: s.Answer,
	}
	for i := range r.Steps[:index] {
		before := &r.Steps[i]
		own := i == index-1
		for _, p := range before.Passages {
			t.Passages = append(t.Passages, Passage{Title: p.Title, Text: p.Text, By: i + 1, Own: own})
		}
		if !own {
			claim := before.Claim
			if claim == "" {
				claim = before.Text
			}
			t.Earlier = append(t.Earlier, Earlier{Query: before.Query, Claim: claim})
		}
	}
	body, err := json.Marshal(t)
	if err != nil {
		return Task{}, fmt.Errorf("step %s: %w", r.StepID(index), err)
	}
	sum := sha256.Sum256(body)
	t.Step, t.Digest = r.StepID(index), hex.EncodeToString(sum[:8])
	return t, nil
}
