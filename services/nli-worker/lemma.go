package nliworker

import (
	"context"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

const byLemmas = "by claims of earlier steps that their quotes entail"

// lemmas are the claims of earlier steps that their evidence was found to
// entail, as premises: what follows from them follows from their quotes, and a
// claim says in a few words what a quote may say in many. They stand for the
// first quote that their label gives.
func lemmas(item *tree.Item, windows []window, limit int, c *Cross) ([]candidate, error) {
	var out []candidate
	for _, h := range item.Step.History { // in order
		l := item.Earlier[h.Index]
		if l == nil || l.Label != schema.GapNone || len(l.Quotes) == 0 || strings.TrimSpace(h.Claim) == "" {
			continue
		}
		said := strings.Join(statements(h.Claim), " ")
		w, err := quoteWindow(&l.Quotes[0], windows, evidence.NewQuery(said), limit, c.scorer)
		if err != nil {
			return nil, err
		}
		out = append(out, candidate{premise: said, windows: []window{w}})
	}
	if len(out) < 2 {
		return out, nil
	}
	all := candidate{}
	var parts []string
	for _, l := range out {
		parts = append(parts, l.premise)
		all.windows = append(all.windows, l.windows...)
	}
	all.premise = strings.Join(parts, " ")
	n, err := c.scorer.CountTokens(all.premise)
	if err != nil || n > limit {
		return out, err
	}
	return append(out, all), nil
}

// byLemma asks whether a conclusion that no quote entails follows from lemmas,
// with the quotes or without them.
func (c *Cross) byLemma(ctx context.Context, item *tree.Item, claim string, candidates, known []candidate, hypotheses []string, lacks func(premise, hypothesis string) string) (finding, error) {
	if len(known) == 0 {
		return finding{outcome: neutral}, nil
	}
	f, err := c.ask(ctx, known, hypotheses, lacks)
	if err != nil {
		return finding{}, err
	}
	all := append(known[:len(known):len(known)], candidates...)
	if f.outcome == entailed {
		if c.opts.Guard {
			if f, err = newBridges(c, item.Step, all).deny(ctx, claim, f); err != nil {
				return finding{}, err
			}
		}
	} else {
		r, err := newBridges(c, item.Step, all).resolve(ctx, claim, maxHops)
		if err != nil {
			return finding{}, err
		}
		r.pairs += f.pairs
		r.near = r.near || f.near
		f = r
	}
	if f.outcome == entailed {
		f.note = byLemmas
	}
	return f, nil
}
