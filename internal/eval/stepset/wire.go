package stepset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Transcript is the rollout as the pipeline takes it. It goes through the same
// reader as a user's file in wire form, so that passages accumulate, histories
// are filled in and limits hold in the same way. Labels, quotes and notes are
// left behind. Steps keep their indices.
func (r *Rollout) Transcript() (*transcript.Rollout, error) {
	type wire struct {
		ID       string        `json:"id"`
		Question string        `json:"question"`
		Answer   string        `json:"answer,omitempty"`
		Gold     []string      `json:"gold,omitempty"`
		Group    string        `json:"group"`
		Steps    []schema.Step `json:"steps"`
	}
	w := wire{ID: r.ID, Question: r.Question, Answer: r.Answer, Gold: r.Gold, Group: r.QuestionID}
	for _, s := range r.Steps {
		step := schema.Step{Kind: s.Kind, Plan: s.Plan, Query: s.Query, Text: s.Text, Claim: s.Claim, Answer: s.Answer}
		for _, p := range s.Passages {
			step.Passages = append(step.Passages, schema.Passage{Title: p.Title, Text: p.Text})
		}
		w.Steps = append(w.Steps, step)
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("rollout %q: %w", r.ID, err)
	}
	var out *transcript.Rollout
	for got, err := range transcript.Decode(bytes.NewReader(body), r.ID, transcript.Options{Format: transcript.FormatStepGap, MaxRecord: 2 * maxLine}) {
		if err != nil {
			return nil, fmt.Errorf("rollout %q: %w", r.ID, err)
		}
		out = got
	}
	if out == nil || len(out.Steps) != len(r.Steps) {
		return nil, fmt.Errorf("rollout %q: its %d steps did not come through the reader whole", r.ID, len(r.Steps))
	}
	return out, nil
}

// Transcripts iterates over the rollouts as the pipeline takes them, for
// check.Run. It ends at the first error.
func (s *Set) Transcripts() iter.Seq2[*transcript.Rollout, error] {
	return func(yield func(*transcript.Rollout, error) bool) {
		for i := range s.Rollouts {
			t, err := s.Rollouts[i].Transcript()
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
