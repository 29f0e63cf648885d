package annotate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

// mapping is what an exported set says of its labels.
const mapping = "labels by people, who saw neither each other's nor a pipeline's"

// Dispute is a step that people did not agree on: one for an adjudicator.
type Dispute struct {
	Step     string          `json:"step"`
	Question string          `json:"question"`
	Claim    string          `json:"claim,omitempty"`
	Answer   string          `json:"answer,omitempty"`
	Votes    map[string]Vote `json:"votes"`
}

// Vote is one person's decision.
type Vote struct {
	Choice Choice `json:"choice"`
	Quote  string `json:"quote,omitempty"`
}

// ReadDisputes reads the steps of a list of disputes.
func ReadDisputes(r io.Reader) ([]string, error) {
	var steps []string
	dec := json.NewDecoder(r)
	for {
		var d Dispute
		if err := dec.Decode(&d); errors.Is(err, io.EOF) {
			return steps, nil
		} else if err != nil {
			return nil, fmt.Errorf("entry %d of the list of disputes: %w", len(steps)+1, err)
		}
		if d.Step == "" {
			return nil, fmt.Errorf("entry %d of the list of disputes names no step", len(steps)+1)
		}
		steps = append(steps, d.Step)
	}
}

// Outcome is what an export came to.
type Outcome struct {
	Set stepset.Set
	// Disputes are the steps without agreement, in the order of the source.
	Disputes []Dispute
	// Agreed have a label by all who decided them; Adjudicated by the
	// adjudicator; TooFew were decided by fewer than are needed; Stale decisions
	// are on content that is not there any more.
	Agreed, Adjudicated, TooFew, Stale int
}

// Export makes a step set of the labels that people agree on.
//
// A step gets a label if at least least people, the adjudicator not counted,
// decided it and all chose the same label; or if the adjudicator chose one. A
// step that some were unsure of, or that got different labels, is a dispute
// until then. Everything else stays in the set as context.
func Export(m *Material, people []Person, least int, adjudicator string) Outcome {
	out := Outcome{Set: stepset.Set{Name: "annotated", Mapping: mapping}}
	labels := map[string]Vote{}
	for i := range m.tasks {
		t := &m.tasks[i]
		votes := map[string]Vote{}
		var judge *Vote
		var first Vote
		same := true
		for _, p := range people {
			e, ok := p.on(t)
			if !ok {
				continue
			}
			v := Vote{e.Choice, e.Quote}
			if p.Name == adjudicator {
				judge = &v
				continue
			}
			if len(votes) == 0 {
				first = v
			}
			same = same && v.Choice == first.Choice
			if first.Quote == "" && same {
				first.Quote = v.Quote
			}
			votes[p.Name] = v
		}
		decided := func(v Vote) bool { _, ok := v.Choice.Gap(); return ok }
		switch {
		case judge != nil && decided(*judge):
			labels[t.Step] = *judge
			out.Adjudicated++
		case len(votes) < least:
			out.TooFew++
		case same && decided(first):
			labels[t.Step] = first
			out.Agreed++
		default:
			out.Disputes = append(out.Disputes, Dispute{Step: t.Step, Question: t.Question, Claim: t.Claim, Answer: t.Answer, Votes: votes})
		}
	}
	out.Stale = stale(m, people)
	for _, r := range m.Rollouts {
		r.Steps = append([]stepset.Step(nil), r.Steps...)
		scored := false
		for i := range r.Steps {
			if v, ok := labels[r.StepID(i+1)]; ok {
				r.Steps[i].Label, r.Steps[i].Quote = schema.Gap(v.Choice), v.Quote
				scored = true
			}
		}
		if scored {
			out.Set.Rollouts = append(out.Set.Rollouts, r)
		}
	}
	return out
}

func stale(m *Material, people []Person) int {
	now := map[string]string{}
	for _, t := range m.tasks {
		now[t.Step] = t.Digest
	}
	n := 0
	for _, p := range people {
		for step, e := range p.Decisions {
			if now[step] != e.Digest {
				n++
			}
		}
	}
	return n
}
