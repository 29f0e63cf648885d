package stage

import (
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// factsOf collects what rewards are computed from.
func factsOf(step *schema.Step, l *schema.Label) *schema.Facts {
	facts := &schema.Facts{
		Kind: step.Kind, Query: step.Query, Text: clip(step.Text, 64<<10), Claim: clip(claimOf(step), 64<<10),
		Answer: step.Answer, Spans: step.Spans, Saw: step.Saw,
		// Whether the step abstains was decided by A, from its text; what it
		// decided is where it sent the step.
		Abstains: slices.ContainsFunc(l.Trail, func(t schema.TrailEntry) bool { return t.Stage == schema.StageAbstain }),
	}
	if bridgeable(l) {
		facts.Entities = entitiesOf(step)
	}
	return facts
}

// claimOf is the claim that the stages judged: the publisher's, or what they
// read in the text.
func claimOf(step *schema.Step) string {
	if strings.TrimSpace(step.Claim) != "" {
		return step.Claim
	}
	return strings.Join(claim.Read(step).Claims, " ")
}

// sureEntailment is an entailment that no sensible threshold would turn down.
const sureEntailment = 0.95

// bridgeable reports whether the label is, or could under other thresholds
// become, one whose repair is judged by entities. Finding them in long passages
// is the dearest part of a label, and most steps need none.
func bridgeable(l *schema.Label) bool {
	if l.Label == schema.GapMissingBridge {
		return true
	}
	for _, t := range l.Trail {
		if t.Scores != nil && t.Scores.Entailment < sureEntailment {
			return true
		}
	}
	return false
}

// entitiesOf names what the step's claim and its own passages are about.
func entitiesOf(step *schema.Step) []string {
	entities := []string{}
	seen := map[string]bool{}
	add := func(names ...string) {
		for _, e := range names {
			if e = clip(e, 512); e != "" && !seen[e] && len(entities) < schema.MaxEntities {
				seen[e] = true
				entities = append(entities, e)
			}
		}
	}
	add(evidence.Entities(claimOf(step))...)
	for _, p := range step.Own() {
		add(p.Title)
		if len(entities) < schema.MaxEntities {
			add(evidence.Entities(p.Text)...)
		}
	}
	return entities
}
