package local

import (
	"context"
	"fmt"

	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Extract decides by names whether the passages are about what the step needs,
// and picks for each claimed sentence the one sentence of the passages that
// decides it.
func (Judge) Extract(ctx context.Context, in quoteextract.Input) (quoteextract.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return quoteextract.Verdict{}, fmt.Errorf("reading the passages: %w", err)
	}
	texts := readPassages(in.Passages)
	relevant, why := about(in, texts)
	if !relevant {
		return quoteextract.Verdict{Meta: meta(why)}, nil
	}
	verdict := quoteextract.Verdict{Relevant: true, Meta: meta(why)}
	seen := map[string]bool{}
	for _, claim := range in.Claims {
		if err := ctx.Err(); err != nil {
			return quoteextract.Verdict{}, fmt.Errorf("choosing a quote: %w", err)
		}
		for _, quote := range decidingSentences(in, claim, texts) {
			if !seen[quote] {
				seen[quote] = true
				verdict.Quotes = append(verdict.Quotes, quote)
			}
		}
	}
	return verdict, nil
}
