package nlieval

import (
	"context"
	"fmt"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// staged asks stage D, with its guard, about each pair: the premise is the
// quote, or the passage where it is a whole page, and the hypothesis is the
// step's claim.
func staged(ctx context.Context, scorer nli.Scorer, set Set) ([]Label, error) {
	local, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	if err != nil {
		return nil, err
	}
	out := make([]Label, len(set.Pairs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4) // a pair is several questions, one after the other
	for i, p := range set.Pairs {
		g.Go(func() error {
			d, err := local.Decide(ctx, item(p))
			if err != nil {
				return fmt.Errorf("pair %d: %w", i+1, err)
			}
			out[i] = verdict(d.Gap)
			if set.TwoWay && out[i] != Entailment {
				out[i] = Neutral
			}
			return nil
		})
	}
	return out, g.Wait()
}

func item(p Pair) *tree.Item {
	passage := schema.Passage{Digest: "premise", Text: p.Premise, ByStep: 1}
	it := &tree.Item{Step: &schema.Step{
		Run: "eval", Rollout: "pair", Index: 1, Kind: schema.KindSearch,
		Claim: p.Hypothesis, Passages: []schema.Passage{passage},
	}}
	if p.Sentences == nil {
		it.Quotes = []schema.Quote{{
			Passage: passage.Digest, ByStep: 1, Text: p.Premise,
			End: utf8.RuneCountInString(p.Premise), Match: schema.MatchExact,
		}}
	}
	return it
}

func verdict(gap schema.Gap) Label {
	switch gap {
	case schema.GapNone:
		return Entailment
	case schema.GapContradicted:
		return Contradiction
	}
	return Neutral
}
