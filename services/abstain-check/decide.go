package abstaincheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Outcomes in the trail.
const (
	OutcomeJustified   = "justified"
	OutcomeUnjustified = "unjustified"
)

// New returns stage B with the given judge. An abstention although the fact is
// stated is a contradicted claim; a justified one goes on to C, marked as
// abstaining. Where there are no passages nothing is stated, and no call is
// made.
func New(j Judge) tree.Decider {
	return tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
		step := item.Step
		in := inputOf(step, claim.Read(step))
		if len(in.Passages) == 0 {
			return justified(item, schema.TrailEntry{
				Stage: schema.StageAbstain, Outcome: OutcomeJustified,
				Detail: "There are no passages that could state the fact.",
			}), nil
		}
		verdict, err := j.Stated(ctx, in)
		if err != nil {
			return tree.Decision{}, fmt.Errorf("abstain check of run %s rollout %s step %d: %w", step.Run, step.Rollout, step.Index, err)
		}
		if !verdict.Stated {
			return justified(item, verdict.Meta.Entry(schema.StageAbstain, OutcomeJustified)), nil
		}
		entry := verdict.Meta.Entry(schema.StageAbstain, OutcomeUnjustified)
		detail := "The step says that the fact can't be found, but the passages state it"
		quotes := locate(in.Passages, verdict.Quotes)
		if len(quotes) > 0 {
			detail += fmt.Sprintf(": %q", quotes[0].Text)
		}
		decision := tree.Verdict(item, schema.GapContradicted, "", detail+".", entry)
		decision.Quotes = quotes
		return decision, nil
	})
}

func justified(item *tree.Item, entry schema.TrailEntry) tree.Decision {
	decision := tree.Forward(item, tree.HopQuote, entry)
	decision.Abstaining = true
	return decision
}

func inputOf(step *schema.Step, reading claim.Reading) Input {
	sought := step.Query
	if sought == "" {
		sought = step.Question
	}
	return Input{
		Question:   step.Question,
		Query:      step.Query,
		Sought:     sought,
		Abstention: strings.Join(reading.Open, " "),
		Claim:      strings.Join(reading.Claims, " "),
		Passages:   tree.Readable(append(step.Own(), step.Earlier()...)),
	}
}

// locate returns those proposed quotes that stand in the passages.
func locate(passages []schema.Passage, proposed []string) []schema.Quote {
	var quotes []schema.Quote
	for _, p := range proposed {
		if q, ok := evidence.Locate(passages, p); ok {
			quotes = append(quotes, q)
		}
	}
	return quotes
}
