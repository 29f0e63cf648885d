package rewardagg

import "github.com/stepgap/stepgap/pkg/schema"

// noteNoFacts marks a step whose label carries nothing to apply the rules to.
const noteNoFacts = "no_facts"

// baseOf gives the base of step i, undivided, and where it is anchored.
func baseOf(views []*view, i int, p *Profile) raw {
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
	if rule := unpaidBy(views, i, p); rule != "" {
		*r.base, r.note = 0, string(rule)
	}
	return r
}

// unpaidBy returns the first of p's rules that keeps step i's base from being
// positive, or "".
func unpaidBy(views []*view, i int, p *Profile) Rule {
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
