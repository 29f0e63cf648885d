package quoteextract

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Outcomes in the trail.
const (
	OutcomeQuoted     = "quoted"      // relevant, with a verified quote
	OutcomeNoQuote    = "no_quote"    // relevant, but nothing that decides
	OutcomeIrrelevant = "irrelevant"  // about something else
	OutcomeNoPassages = "no_passages" // nothing was retrieved at all
	OutcomeNoClaim    = "no_claim"    // relevant, and nothing is claimed
	OutcomeAbstained  = "abstained"   // relevant, and the step rightly abstains
	OutcomeRelevant   = "relevant"    // live checks only
)

// windowNeighbours is how many sentences on either side of the most relevant
// one belong to the window that stands in for a quote.
const windowNeighbours = 1

// New returns stage C with the given judge.
func New(j Judge) tree.Decider {
	return tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
		step := item.Step
		reading := claim.Read(step)
		in := inputOf(step, reading.Claims)
		if len(in.Passages) == 0 {
			entry := schema.TrailEntry{Stage: schema.StageQuote, Outcome: OutcomeNoPassages, Detail: "No passage was retrieved."}
			return tree.Verdict(item, schema.GapIrrelevant, "", "No passage supports the step: nothing was retrieved.", entry), nil
		}
		verdict, err := j.Extract(ctx, in)
		if err != nil {
			return tree.Decision{}, fmt.Errorf("quote extraction for run %s rollout %s step %d: %w", step.Run, step.Rollout, step.Index, err)
		}
		return decide(item, in, verdict), nil
	})
}

// decide is the stage's branch of the tree, given the judge's answer.
func decide(item *tree.Item, in Input, verdict Verdict) tree.Decision {
	entry := func(outcome string) schema.TrailEntry { return verdict.Meta.Entry(schema.StageQuote, outcome) }
	switch {
	case !verdict.Relevant:
		return tree.Verdict(item, schema.GapIrrelevant, "", irrelevantDetail(item.Step, verdict.Meta.Detail), entry(OutcomeIrrelevant))
	case len(in.Claims) == 0 && item.Abstaining:
		return tree.Verdict(item, schema.GapNone, schema.ReasonAbstainOK,
			"The passages are about the right thing, and the step rightly says that they don't state the fact.", entry(OutcomeAbstained))
	case len(in.Claims) == 0:
		return tree.Verdict(item, schema.GapNone, schema.ReasonNoClaim,
			"The passages are about the right thing, and the step claims nothing.", entry(OutcomeNoClaim))
	}
	if quotes := locate(in.Passages, verdict.Quotes); len(quotes) > 0 {
		decision := tree.Forward(item, tree.HopLocal, entry(OutcomeQuoted))
		decision.Quotes = quotes
		return decision
	}
	if item.Step.Kind == schema.KindConclusion {
		return tree.Forward(item, tree.HopCross, entry(OutcomeNoQuote))
	}
	decision := tree.Forward(item, tree.HopLocal, entry(OutcomeNoQuote))
	if window, ok := evidence.BestWindow(in.Passages, in.Claim, windowNeighbours); ok {
		decision.Quotes = []schema.Quote{window}
	}
	return decision
}

// Relevance answers the second leg of a live probe: are the passages that just
// came in about what is needed? Nothing is claimed yet. The gap is GapNone or
// GapIrrelevant.
func Relevance(ctx context.Context, j Judge, step *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
	in := inputOf(step, nil)
	if len(in.Passages) == 0 {
		detail := "Nothing was retrieved."
		return schema.GapIrrelevant, detail, schema.TrailEntry{Stage: schema.StageLiveText, Outcome: OutcomeNoPassages, Detail: detail}, nil
	}
	verdict, err := j.Extract(ctx, in)
	if err != nil {
		return "", "", schema.TrailEntry{}, fmt.Errorf("live check of the passages of run %s rollout %s step %d: %w", step.Run, step.Rollout, step.Index, err)
	}
	if !verdict.Relevant {
		return schema.GapIrrelevant, irrelevantDetail(step, verdict.Meta.Detail), verdict.Meta.Entry(schema.StageLiveText, OutcomeIrrelevant), nil
	}
	return schema.GapNone, "The passages are about what is needed.", verdict.Meta.Entry(schema.StageLiveText, OutcomeRelevant), nil
}

func inputOf(step *schema.Step, claims []string) Input {
	return Input{
		Question: step.Question,
		Kind:     step.Kind,
		Query:    step.Query,
		Claim:    strings.Join(claims, " "),
		Claims:   claims,
		Passages: tree.Readable(append(step.Own(), step.Earlier()...)),
	}
}

// locate returns those proposed quotes that stand in the passages, without
// those that lie within another one before them.
func locate(passages []schema.Passage, proposed []string) []schema.Quote {
	var quotes []schema.Quote
	for _, p := range proposed {
		q, ok := evidence.Locate(passages, p)
		within := func(o schema.Quote) bool { return o.Passage == q.Passage && o.Start <= q.Start && q.End <= o.End }
		if ok && !slices.ContainsFunc(quotes, within) {
			quotes = append(quotes, q)
		}
	}
	return quotes
}

func irrelevantDetail(step *schema.Step, why string) string {
	detail := "The passages are not about what the step needs."
	if step.Query != "" {
		detail = fmt.Sprintf("The passages are not about what %q asks for.", step.Query)
	}
	if why != "" {
		detail += " " + why
	}
	return detail
}
