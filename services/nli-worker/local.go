package nliworker

import (
	"context"
	"fmt"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Local is stage D: does the quote entail the claim? It ends every step with a
// label: contradicted_claim, none or missing_bridge.
type Local struct {
	scorer Session
	opts   Options
}

var _ tree.Decider = (*Local)(nil)

// NewLocal returns stage D over scorer.
func NewLocal(scorer nli.Scorer, opts Options) (*Local, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return &Local{scorer: begin(scorer), opts: opts}, nil
}

// Decide implements tree.Decider.
func (l *Local) Decide(ctx context.Context, item *tree.Item) (tree.Decision, error) {
	run := &Local{scorer: begin(l.scorer), opts: l.opts}
	findings, err := run.judge(ctx, item)
	if err != nil {
		return tree.Decision{}, judgeError(item.Step, schema.StageLocal, run.scorer, err)
	}
	return run.decide(item, findings), nil
}

// judge finds for each sentence of the claim what the evidence says of it.
func (l *Local) judge(ctx context.Context, item *tree.Item) ([]finding, error) {
	claims := claimSentences(item.Step)
	if len(claims) == 0 {
		return nil, errNoClaim
	}
	limit, err := l.opts.room(l.scorer, claims...)
	if err != nil {
		return nil, err
	}
	windows, err := passageWindows(item.Step.Passages, queries(claims), limit, l.scorer)
	if err != nil {
		return nil, err
	}
	var findings []finding
	var proven []window
	for _, c := range claims {
		s := &sentence{local: l, claim: c, query: evidence.NewQuery(c), proven: proven, alone: len(claims) == 1, limit: limit}
		f, err := s.judge(ctx, item.Quotes, windows)
		if err != nil {
			return nil, fmt.Errorf("judging the sentence %q: %w", c, err)
		}
		if f, err = l.bridge(ctx, item.Step, c, windows, f); err != nil {
			return nil, fmt.Errorf("judging the sentence %q: %w", c, err)
		}
		if f.outcome == entailed {
			proven = append(proven, f.windows...)
		}
		findings = append(findings, f)
		if f.outcome == contradicted {
			break // nothing after it can change the label
		}
	}
	return findings, nil
}

func (l *Local) decide(item *tree.Item, findings []finding) tree.Decision {
	f := combine(findings)
	gap, detail := schema.GapMissingBridge, "the evidence does not say so"
	switch f.outcome {
	case contradicted:
		gap, detail = schema.GapContradicted, "the evidence contradicts the claim"
	case entailed:
		gap, detail = schema.GapNone, "the evidence entails the claim"
	}
	if f.note != "" {
		detail += ": " + f.note
	}
	d := tree.Verdict(item, gap, "", detail, entry(schema.StageLocal, l.scorer, f, detail))
	windows := f.windows
	for _, other := range findings {
		// E reads the quotes of this label, so all that proved something go
		// into it, not only those of the sentence that decided.
		if other.outcome == entailed {
			windows = append(windows[:len(windows):len(windows)], other.windows...)
		}
	}
	d.Quotes = decidingFirst(windows, item.Quotes)
	return d
}

const maxQuotes = 8

// decidingFirst lists the quotes of the windows that decided, then the others.
// A window that stood in for a quote gives way to those that decided. There are
// at most maxQuotes, which keeps labels small.
func decidingFirst(windows []window, given []schema.Quote) []schema.Quote {
	var out []schema.Quote
	type place struct {
		passage    string
		start, end int
	}
	seen := make(map[place]bool)
	add := func(q schema.Quote) {
		at := place{q.Passage, q.Start, q.End}
		if !seen[at] && len(out) < maxQuotes {
			seen[at] = true
			out = append(out, q)
		}
	}
	for _, w := range windows {
		add(w.quote())
	}
	for _, q := range given {
		if q.Match != schema.MatchWindow || len(windows) == 0 {
			add(q)
		}
	}
	return out
}
