package transcript

import (
	"fmt"

	"github.com/stepgap/stepgap/pkg/schema"
)

// pile gathers the passages of a rollout in the order in which they were first
// fetched.
type pile struct {
	order []schema.Passage
	at    map[string]int
}

// fetch adds what step index fetched, and returns the passages of that step:
// its own and all earlier ones, each once. A document that an earlier step
// fetched first keeps that step's number, except in this step, whose own it is
// too.
func (p *pile) fetch(index int, docs []document) []schema.Passage {
	if p.at == nil {
		p.at = map[string]int{}
	}
	var again []int
	for _, d := range docs {
		d.title, d.text = cut(d.title, schema.MaxTitle), cut(d.text, schema.MaxPassageText)
		digest := schema.PassageDigest(d.title, d.text)
		if i, ok := p.at[digest]; ok {
			if p.order[i].ByStep != index {
				again = append(again, i)
			}
			continue
		}
		p.at[digest] = len(p.order)
		p.order = append(p.order, schema.Passage{Digest: digest, Title: d.title, ByStep: index, Text: d.text})
	}
	all := p.order[:len(p.order):len(p.order)]
	if len(again) == 0 {
		return all
	}
	own := make([]schema.Passage, len(all))
	copy(own, all)
	for _, i := range again {
		own[i].ByStep = index
	}
	return own
}

// maxPassageBytes is how much of a message the passages may take; the rest is
// for what the policy wrote.
const maxPassageBytes = schema.MaxMessage - schema.MaxMessage/4

// fit drops earlier passages, oldest first, until the wire takes the step.
func fit(step *schema.Step) (dropped int) {
	bytes := 0
	for _, p := range step.Passages {
		bytes += len(p.Title) + len(p.Text) + 96
	}
	if len(step.Passages) <= schema.MaxPassages && bytes <= maxPassageBytes {
		return 0
	}
	count := len(step.Passages)
	kept := make([]schema.Passage, 0, len(step.Passages))
	for _, own := range []bool{false, true} {
		for _, p := range step.Passages {
			if (p.ByStep == step.Index) != own {
				continue
			}
			if over := count > schema.MaxPassages || bytes > maxPassageBytes; over {
				count--
				bytes -= len(p.Title) + len(p.Text) + 96
				dropped++
				continue
			}
			kept = append(kept, p)
		}
	}
	step.Passages = kept
	return dropped
}

// clip cuts a field to what the wire takes, between characters.
func (r *Rollout) clip(field *string, limit, step int, name string) {
	if len(*field) <= limit {
		return
	}
	r.warn(WarnClipped, step, fmt.Sprintf("%s: %d bytes, the limit is %d", name, len(*field), limit))
	*field = cut(*field, limit)
}

func (r *Rollout) warn(code WarningCode, step int, detail string) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Step: step, Detail: detail})
}
