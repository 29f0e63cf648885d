package rewardagg

import "github.com/stepgap/stepgap/pkg/schema"

// noteNoFacts marks a step whose label carries nothing to apply the rules to.
const noteNoFacts = "no_facts"

// baseOf gives the base of step i, undivided, and where it is anchored. raws
// holds those of the steps before it.
func baseOf(views []*view, raws []raw, i int, p *Profile) raw {
	v := views[i]
	value, ok := p.Base.Of(v.gap())
	if !ok || !v.graded() {
		return raw{}
	}
	f := v.facts()
	if f == nil && len(p.Unpaid) > 0 && value > 0 {
		// Whether the step may be paid can't be known, so no number is given.
		return raw{note: noteNoFacts}
	}
	r := raw{base: &value, baseAt: anchor(f, schema.SpanClaim, schema.SpanAnswer, schema.SpanAction, schema.SpanPlan)}
	if value <= 0 {
		return r
	}
	if rule := unpaidBy(views, raws, i, p); rule != "" {
		*r.base, r.note = 0, string(rule)
	}
	return r
}

// unpaidBy returns the first of p's rules that keeps step i's base from being
// positive, or "".
func unpaidBy(views []*view, raws []raw, i int, p *Profile) Rule {
	if len(p.Unpaid) == 0 {
		return ""
	}
	label, f := views[i].label, views[i].facts()
	read := views[i].read
	for _, c := range []struct {
		rule Rule
		hit  func() bool
	}{
		{RuleAbstention, func() bool { return f.Abstains || label.Reason == schema.ReasonAbstainOK }},
		{RuleNoClaim, func() bool { return read.claim == "" || label.Reason == schema.ReasonNoClaim }},
		{RuleRepeatedClaim, func() bool {
			return allSaid(views[:i], func(r *reading) []sentence { return r.sentences }, read.sentences, p.RepeatedClaim.Value)
		}},
		{RuleRepeatedQuery, func() bool { return nothingNewAsked(views, i) }},
		{RuleRepeatedSource, func() bool { return f.Kind == schema.KindSearch && sourcePaid(views[:i], raws[:i], label) }},
		{RuleSecondConclusion, func() bool { return f.Kind == schema.KindConclusion && hasConclusion(views[:i]) }},
	} {
		if p.unpaid(c.rule) && c.hit() {
			return c.rule
		}
	}
	return ""
}

// nothingNewAsked reports a search step that did not search, although steps
// came before it, or that searched for the same again: a step cut in two has
// such a second half.
func nothingNewAsked(views []*view, i int) bool {
	f, read := views[i].facts(), views[i].read
	if f.Kind != schema.KindSearch {
		return false
	}
	if read.query == nil {
		return i > 0
	}
	return read.asksAgain
}

// sourcePaid reports whether the passage that decided a label has decided an
// earlier step that was paid: what one passage says can be claimed in one step.
func sourcePaid(earlier []*view, raws []raw, label *schema.Label) bool {
	source := sourceOf(label)
	for i, v := range earlier {
		if source != "" && raws[i].base != nil && *raws[i].base > 0 && v.gap() == schema.GapNone && sourceOf(v.label) == source {
			return true
		}
	}
	return false
}

// sourceOf is the digest of the passage that decided a label; "" where none
// did. The first quote decides.
func sourceOf(label *schema.Label) string {
	if len(label.Quotes) == 0 {
		return ""
	}
	return label.Quotes[0].Passage
}

func hasConclusion(earlier []*view) bool {
	for _, v := range earlier {
		if f := v.facts(); f != nil && f.Kind == schema.KindConclusion {
			return true
		}
	}
	return false
}

// anchor is the last span of the first of kinds that the step has; nil where it
// has none of them.
func anchor(f *schema.Facts, kinds ...schema.SpanKind) *schema.Span {
	if f == nil {
		return nil
	}
	for _, kind := range kinds {
		var last *schema.Span
		for i := range f.Spans {
			if sp := f.Spans[i]; sp.Kind == kind && (last == nil || sp.End > last.End) {
				last = &sp
			}
		}
		if last != nil {
			return last
		}
	}
	return nil
}
