package entitycheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Outcomes in the trail.
const (
	OutcomeAligned    = "aligned"
	OutcomeMisaligned = "misaligned"
)

// New returns stage A with the given judge. A misaligned step is a contradicted
// claim; an aligned one goes to B if it abstains on what it sought, to E if it
// is a conclusion without passages of its own, and to C otherwise.
func New(j Judge) tree.Decider {
	return tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
		step := item.Step
		reading := claim.Read(step)
		verdict, err := j.Align(ctx, inputOf(step, reading.Claims))
		if err != nil {
			return tree.Decision{}, fmt.Errorf("entity check of run %s rollout %s step %d: %w", step.Run, step.Rollout, step.Index, err)
		}
		if !verdict.Aligned {
			entry := verdict.Meta.Entry(schema.StageEntity, OutcomeMisaligned)
			return tree.Verdict(item, schema.GapContradicted, "", misalignedDetail(step, entry.Detail), entry), nil
		}
		entry := verdict.Meta.Entry(schema.StageEntity, OutcomeAligned)
		return tree.Forward(item, route(step, reading), entry), nil
	})
}

// route says where an aligned step goes.
func route(step *schema.Step, reading claim.Reading) tree.Hop {
	switch {
	case reading.Abstains():
		return tree.HopAbstain
	case step.Kind == schema.KindConclusion && len(step.Own()) == 0:
		return tree.HopCross
	default:
		return tree.HopQuote
	}
}

// Plan answers a live check: does the planned query aim right? Nothing is
// retrieved or claimed yet. The gap is GapNone or GapContradicted.
func Plan(ctx context.Context, j Judge, step *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
	verdict, err := j.Align(ctx, inputOf(step, nil))
	if err != nil {
		return "", "", schema.TrailEntry{}, fmt.Errorf("live check of the plan of run %s rollout %s step %d: %w", step.Run, step.Rollout, step.Index, err)
	}
	if !verdict.Aligned {
		entry := verdict.Meta.Entry(schema.StageLiveAim, OutcomeMisaligned)
		return schema.GapContradicted, misalignedDetail(step, entry.Detail), entry, nil
	}
	entry := verdict.Meta.Entry(schema.StageLiveAim, OutcomeAligned)
	return schema.GapNone, "The query aims at what the question needs.", entry, nil
}

// inputOf leaves a search step's claim out: its query says what it aims at, and
// whether the claim holds is for the later stages. So a wrong claim can't
// condemn a good search, a live check of the plan and the step's own check are
// one question, and so are the steps of a group that begin with the same query.
func inputOf(step *schema.Step, claims []string) Input {
	in := Input{
		Question: step.Question,
		Kind:     step.Kind,
		Query:    step.Query,
		Earlier:  step.History,
	}
	if strings.TrimSpace(step.Query) == "" {
		in.Claim = strings.Join(claims, " ")
	}
	return in
}

func misalignedDetail(step *schema.Step, why string) string {
	what := "The step"
	if step.Query != "" {
		what = fmt.Sprintf("The query %q", step.Query)
	}
	detail := what + " aims at something other than what the question needs."
	if why != "" {
		detail += " " + why
	}
	return detail
}
