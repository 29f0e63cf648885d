package stage

import (
	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// factsOf collects what rewards are computed from.
func factsOf(step *schema.Step) *schema.Facts {
	reading := claim.Read(step)
	entities := evidence.Entities(step.Claim)
	seen := map[string]bool{}
	for _, e := range entities {
		seen[e] = true
	}
	for _, p := range step.Own() {
		for _, e := range append([]string{p.Title}, evidence.Entities(p.Text)...) {
			if len(entities) >= schema.MaxEntities {
				break
			}
			if e != "" && !seen[e] {
				seen[e] = true
				entities = append(entities, clip(e, 512))
			}
		}
	}
	if len(entities) > schema.MaxEntities {
		entities = entities[:schema.MaxEntities]
	}
	return &schema.Facts{
		Kind: step.Kind, Query: step.Query, Text: clip(step.Text, 64<<10), Claim: clip(step.Claim, 64<<10),
		Answer: step.Answer, Entities: entities, Spans: step.Spans, Saw: step.Saw,
		Abstains: reading.Abstains(),
	}
}
