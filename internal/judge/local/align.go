package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
)

// Align calls a step misaligned only where it is clearly off: it names
// something, and shares no content with the question or with any earlier claim.
// An earlier step that claims nothing leaves room for names that the policy
// read in its evidence, which stage A doesn't see; then the rules stay silent.
func (Judge) Align(ctx context.Context, in entitycheck.Input) (entitycheck.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return entitycheck.Verdict{}, fmt.Errorf("reading the step's aim: %w", err)
	}
	aim := in.Query
	if aim == "" {
		aim = in.Claim
	}
	wanted := evidence.ContentTokens(aim)
	if len(wanted) == 0 {
		return aligned("The step names nothing that could be off."), nil
	}
	known := []string{in.Question}
	open := false
	for _, prior := range in.Earlier {
		known = append(known, prior.Claim)
		open = open || prior.Claim == ""
	}
	ground := strings.Join(known, "\n")
	if shared := sharedToken(wanted, evidence.ContentTokens(ground)); shared != "" {
		return aligned(fmt.Sprintf("It shares %q with the question or an earlier claim.", shared)), nil
	}
	if open {
		return aligned("It shares nothing with the question, but an earlier step claimed nothing, so its names may come from evidence."), nil
	}
	names := evidence.Names(aim)
	if len(names) == 0 {
		return aligned("It names no entity that could be off."), nil
	}
	return entitycheck.Verdict{Meta: meta(fmt.Sprintf(
		"%q occurs neither in the question nor in any earlier claim.", names[0]))}, nil
}

func aligned(why string) entitycheck.Verdict {
	return entitycheck.Verdict{Aligned: true, Meta: meta(why)}
}

// sharedToken returns the first of a's tokens that b holds too, or that begins
// like one of b's ("Norwegian" and "Norway"); else "".
func sharedToken(a, b []string) string {
	const stem = 5
	have := make(map[string]bool, 2*len(b))
	head := func(t string) string {
		if r := []rune(t); len(r) > stem {
			return "^" + string(r[:stem])
		}
		return ""
	}
	for _, t := range b {
		have[t] = true
		if h := head(t); h != "" {
			have[h] = true
		}
	}
	for _, t := range a {
		if have[t] || head(t) != "" && have[head(t)] {
			return t
		}
	}
	return ""
}
