package audit

import (
	"fmt"

	"github.com/stepgap/stepgap/pkg/schema"
)

// sure is how many standard deviations 95 % of a normal distribution lie within.
const sure = 1.959964

// levels are the signals whose whole interval lies above their limit.
func (o Options) levels(w Window) []Finding {
	var out []Finding
	for _, s := range Signals() {
		limit, bounded := o.Limits[s]
		if share := w.Signals[s]; bounded && share.Of > 0 && share.Low > limit {
			out = append(out, Finding{Kind: Level, What: string(s), Suspicious: true,
				Detail: fmt.Sprintf("%d of %d (%.1f %%, at least %.1f %%), the limit is %.1f %%", share.Hit, share.Of, 100**share.Share, 100*share.Low, 100*limit)})
		}
	}
	return out
}

// changes compares the first window with the last. Alpha is divided by the number
// of tests, so that many of them do not find something by chance.
func (o Options) changes(first, last Window) []Finding {
	tests := len(Signals()) + len(schema.Gaps()) + 1
	least := o.Alpha / float64(tests)
	var out []Finding
	change := func(kind Kind, what string, a, b count, suspicious bool) {
		was, known := a.share()
		is, also := b.share()
		if !known || !also {
			return
		}
		p := twoShares(a, b)
		grew := is - was
		if p >= least || grew < o.Rise && (kind != LabelDrift || -grew < o.Rise) {
			return
		}
		out = append(out, Finding{Kind: kind, What: what, Suspicious: suspicious, P: &p,
			Detail: fmt.Sprintf("from %.1f %% (%d of %d) to %.1f %% (%d of %d)", 100*was, a.hit, a.of, 100*is, b.hit, b.of)})
	}
	for _, s := range Signals() {
		change(Rise, string(s), first.signals[s], last.signals[s], true)
	}
	for _, gap := range schema.Gaps() {
		change(LabelDrift, string(gap), first.labels[gap], last.labels[gap], false)
	}
	if f, ok := o.withoutOutcome(first, last, least); ok {
		out = append(out, f)
	}
	return out
}

// withoutOutcome: the process reward grew for sure, and the outcome did not grow
// by as much as chance could bring.
func (o Options) withoutOutcome(first, last Window, least float64) (Finding, bool) {
	was, known := first.process.value()
	is, also := last.process.value()
	before, scored := first.outcome.value()
	after, too := last.outcome.value()
	if !known || !also || !scored || !too || is <= was {
		return Finding{}, false
	}
	p := twoMeans(first.process, last.process)
	const likely = 0.05
	if p >= least || after > before && twoMeans(first.outcome, last.outcome) < likely {
		return Finding{}, false
	}
	return Finding{Kind: WithoutOutcome, What: "process", Suspicious: true, P: &p,
		Detail: fmt.Sprintf("the mean process reward went from %+.4f to %+.4f, the mean outcome from %.3f to %.3f", was, is, before, after)}, true
}
