package nliworker

import (
	"context"
	"fmt"
	"sort"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Cross is stage E: do the verified quotes of earlier steps entail the
// conclusion? It ends a step as none, irrelevant_evidence or
// ungraded(upstream), or waits for labels that do not stand yet.
type Cross struct {
	scorer Session
	opts   Options
}

var _ tree.Decider = (*Cross)(nil)

// NewCross returns stage E over scorer.
func NewCross(scorer nli.Scorer, opts Options) (*Cross, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return &Cross{scorer: begin(scorer), opts: opts}, nil
}

// upstream is what is known of the earlier steps' labels.
type upstream struct {
	missing  []int // no label yet
	ungraded []int
}

func readUpstream(item *tree.Item) upstream {
	var u upstream
	for _, h := range item.Step.History { // in order
		switch l := item.Earlier[h.Index]; {
		case l == nil:
			u.missing = append(u.missing, h.Index)
		case !l.Label.Graded():
			u.ungraded = append(u.ungraded, h.Index)
		}
	}
	return u
}

// Decide implements tree.Decider.
func (c *Cross) Decide(ctx context.Context, item *tree.Item) (tree.Decision, error) {
	up := readUpstream(item)
	// While labels may still come, only single quotes from before the first
	// gap are asked. They would be asked first in any case, so the moment of
	// asking changes neither label nor quote.
	before, joins := item.Step.Index, true
	if len(up.missing) > 0 && !item.Final {
		before, joins = up.missing[0], false
	}
	run := &Cross{scorer: begin(c.scorer), opts: c.opts}
	if !joins && run.scorer.Meta(nli.Pair{}).Judge.Asks() {
		// Asked now, the calls would be on no bill: a wait has no trail.
		return waits(up), nil
	}
	findings, err := run.judge(ctx, item, earlierQuotes(item, before), joins)
	if err != nil {
		return tree.Decision{}, judgeError(item.Step, schema.StageCross, run.scorer, err)
	}
	return run.decide(item, up, combine(findings)), nil
}

func (c *Cross) decide(item *tree.Item, up upstream, f finding) tree.Decision {
	end := func(gap schema.Gap, reason schema.Reason, detail string) tree.Decision {
		d := tree.Verdict(item, gap, reason, detail, c.entry(f, detail))
		d.Quotes = decidingFirst(f.windows, item.Quotes)
		return d
	}
	switch {
	case f.outcome == entailed:
		detail := "quotes of earlier steps entail the conclusion"
		if f.note != "" {
			detail += ": " + f.note
		}
		return end(schema.GapNone, "", detail)
	case len(up.missing) > 0 && !item.Final:
		return waits(up)
	case len(up.missing) > 0:
		return end(schema.GapUngraded, schema.ReasonUpstream, fmt.Sprintf("no label of steps %v came in time", up.missing))
	case len(up.ungraded) > 0:
		return end(schema.GapUngraded, schema.ReasonUpstream, fmt.Sprintf("steps %v are ungraded", up.ungraded))
	default:
		detail := "no quote of an earlier step entails the conclusion"
		if f.note != "" {
			detail += ": " + f.note
		}
		return end(schema.GapIrrelevant, "", detail)
	}
}

func waits(up upstream) tree.Decision {
	return tree.Decision{Wait: true, Detail: fmt.Sprintf("waiting for the labels of steps %v", up.missing)}
}

// entry is the trail entry of E; without scores where there was no premise to
// ask about.
func (c *Cross) entry(f finding, detail string) schema.TrailEntry {
	e := entry(schema.StageCross, c.scorer, f, detail)
	if f.outcome != entailed {
		e.Outcome = "not_entailed"
	}
	if f.pair.Premise == "" || f.computed {
		e.Scores, e.Flags = nil, nil
	}
	return e
}

// judge finds for each sentence of the conclusion whether earlier quotes entail
// it.
func (c *Cross) judge(ctx context.Context, item *tree.Item, quotes []schema.Quote, joins bool) ([]finding, error) {
	claims := claimSentences(item.Step)
	if len(claims) == 0 {
		return nil, errNoClaim
	}
	limit, err := c.opts.room(c.scorer, claims...)
	if err != nil {
		return nil, err
	}
	windows, err := passageWindows(item.Step.Passages, queries(claims), limit, c.scorer)
	if err != nil {
		return nil, err
	}
	findings := make([]finding, 0, len(claims))
	for _, cl := range claims {
		f, err := c.sentence(ctx, item, cl, quotes, windows, limit, joins)
		if err != nil {
			return nil, fmt.Errorf("judging the sentence %q: %w", cl, err)
		}
		findings = append(findings, f)
	}
	return findings, nil
}

func (c *Cross) sentence(ctx context.Context, item *tree.Item, claim string, quotes []schema.Quote, windows []window, limit int, joins bool) (finding, error) {
	query := evidence.NewQuery(claim)
	candidates, err := c.candidates(claim, query, quotes, windows, limit, joins)
	if err != nil {
		return finding{}, err
	}
	if cmp, ok := comparisonOf(claim, item.Step.Question, item.Step.Answer); ok && c.opts.Guard {
		if !joins {
			// It takes two quotes; one alone must not anticipate them.
			return finding{outcome: neutral, pair: nli.Pair{Hypothesis: claim}}, nil
		}
		if f, ok := compared(cmp, claim, candidates); ok {
			return f, nil
		}
	}
	hypotheses := []string{claim}
	if short := presumed(claim, item.Step.Question, item.Step.Answer); short != claim {
		hypotheses = append(hypotheses, short)
	}
	lacks := func(premise, hypothesis string) string {
		if why := absent(premise, lowered(hypothesis, item.Step.Question)); why != "" {
			return why + " is not in the quotes"
		}
		if why := swapped(premise, hypothesis); why != "" {
			return why
		}
		if why := denied(premise, inUnitsOf(premise, hypothesis)); why != "" {
			return why
		}
		if what := unsupported(premise, claim, item.Step.Question); what != "" {
			return what + " is not in the quotes"
		}
		return ""
	}
	f, err := c.ask(ctx, candidates, hypotheses, lacks)
	if err != nil {
		return finding{}, err
	}
	if f.outcome == entailed && c.opts.Guard {
		// Premises after the deciding one are left out: they may not be here yet.
		return newBridges(c, item.Step, candidates[:f.at+1]).deny(ctx, claim, f)
	}
	if f.outcome == entailed || !joins {
		return f, nil
	}
	resolved, err := newBridges(c, item.Step, candidates).resolve(ctx, claim, maxHops)
	if err != nil {
		return finding{}, err
	}
	asked, near := f.pairs+resolved.pairs, f.near || resolved.near
	if resolved.outcome != entailed {
		known, err := lemmas(item, windows, limit, c)
		if err != nil {
			return finding{}, err
		}
		if resolved, err = c.byLemma(ctx, item, claim, candidates, known, hypotheses, lacks); err != nil {
			return finding{}, err
		}
		asked, near = asked+resolved.pairs, near || resolved.near
	}
	if resolved.outcome == entailed {
		f = resolved
	}
	f.pairs, f.near = asked, near
	return f, nil
}

// compared is what code finds of a comparison from the values in the quotes,
// without the model.
func compared(cmp comparison, claim string, candidates []candidate) (finding, bool) {
	holds, why, used, ok := cmp.decide(candidates)
	if !ok {
		return finding{}, false
	}
	f := finding{outcome: neutral, note: why, pair: nli.Pair{Hypothesis: claim}, computed: true}
	if holds {
		f.outcome = entailed
	}
	var premises []window
	for _, i := range used {
		premises = append(premises, candidates[i].windows...)
	}
	j := joined(premises)
	f.windows, f.pair.Premise = j.windows, j.premise
	return f, true
}

// ask finds the first premise that entails one of the hypotheses, which all
// say what is to be proved; or the pair that came nearest. With the guard on,
// lacks names what a premise would have to hold and doesn't.
func (c *Cross) ask(ctx context.Context, candidates []candidate, hypotheses []string, lacks func(premise, hypothesis string) string) (finding, error) {
	best := finding{outcome: neutral, pair: nli.Pair{Hypothesis: hypotheses[0]}}
	if len(candidates) == 0 {
		return best, nil
	}
	var pairs []nli.Pair
	for i := range candidates {
		for _, h := range hypotheses {
			pairs = append(pairs, asked(candidates[i].premise, h))
		}
	}
	scores, err := c.scorer.Score(ctx, pairs)
	if err != nil {
		return finding{}, err
	}
	near := false
	for i, s := range scores {
		near = near || c.opts.near(s.Entailment, c.opts.Entailment)
		f := finding{outcome: neutral, scores: s, pair: pairs[i], at: i / len(hypotheses), pairs: len(pairs)}
		f.windows = candidates[f.at].windows
		if s.Entailment >= c.opts.Entailment {
			if c.opts.Guard {
				f.note = lacks(pairs[i].Premise, pairs[i].Hypothesis)
			}
			if f.note == "" {
				f.outcome, f.near = entailed, c.opts.near(s.Entailment, c.opts.Entailment)
				return f, nil
			}
		}
		if best.pair.Premise == "" || s.Entailment > best.scores.Entailment {
			best = f
		}
	}
	best.near = near
	return best, nil
}

// candidates are the premises for one sentence: each quote by itself, in step
// order; then, when joins is set, all together, or if that is too long, those
// that share a name with the claim.
func (c *Cross) candidates(claim string, query evidence.Query, quotes []schema.Quote, windows []window, limit int, joins bool) ([]candidate, error) {
	var out []candidate
	var all, sharing []window
	seen := make(map[string]bool)
	for i := range quotes {
		w, err := quoteWindow(&quotes[i], windows, query, limit, c.scorer)
		if err != nil {
			return nil, err
		}
		p := w.premise
		if seen[p] {
			continue
		}
		seen[p] = true
		out = append(out, single(w))
		all = append(all, w)
		if sharesName(p, claim) {
			sharing = append(sharing, w)
		}
	}
	if !joins {
		return out, nil
	}
	for _, ws := range [][]window{all, sharing} {
		if len(ws) < 2 {
			continue
		}
		j := joined(ws)
		fits, err := nli.Fits(j.premise, limit, c.scorer)
		if err != nil {
			return nil, err
		}
		if fits {
			return append(out, j), nil
		}
	}
	return out, nil
}

// earlierQuotes are the quotes of the graded labels of steps before one, in
// step order: those that were found in a passage, and of entailed steps also
// the windows that entailed.
func earlierQuotes(item *tree.Item, before int) []schema.Quote {
	steps := make([]int, 0, len(item.Earlier))
	for i, l := range item.Earlier {
		if l != nil && l.Label.Graded() && i < before {
			steps = append(steps, i)
		}
	}
	sort.Ints(steps)
	var out []schema.Quote
	for _, i := range steps {
		for _, q := range item.Earlier[i].Quotes {
			if q.Match != schema.MatchWindow || item.Earlier[i].Label == schema.GapNone {
				out = append(out, q)
			}
		}
	}
	return out
}
