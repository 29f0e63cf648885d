package rewardagg

import (
	"slices"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// repair is what was done about a step's gap. A step that can't be looked into
// (it never came, or could not be read) gives known false: no number then.
type repair struct {
	known  bool
	reason schema.ShapeReason
	at     int // position of the repairing step in the views
}

// repairOf looks for the repair of the gap of step i in its window.
func repairOf(views []*view, i int, p *Profile, answers map[Question]schema.Scores) repair {
	j, ok := windowOf(views, i)
	if !ok {
		return repair{known: true, reason: schema.ShapeNoWindow, at: -1}
	}
	switch views[i].gap() {
	case schema.GapContradicted:
		return retraction(views, i, j, p, answers)
	case schema.GapIrrelevant:
		return search(views, i, j, schema.ShapeReSearched, p)
	case schema.GapMissingBridge:
		return search(views, i, j, schema.ShapeBridged, p)
	default:
		return repair{}
	}
}

// windowOf returns the position of the step in which the repair of step i is
// looked for: the next one; or, where the policy was shown labels, the first
// that was written after it had seen that of step i.
func windowOf(views []*view, i int) (int, bool) {
	if !redirected(views) {
		return i + 1, i+1 < len(views)
	}
	for j := i + 1; j < len(views); j++ {
		if f := views[j].facts(); f != nil && f.Saw >= views[i].ref.Index {
			return j, true
		}
	}
	return 0, false
}

func redirected(views []*view) bool {
	for _, v := range views {
		if f := v.facts(); f != nil && f.Saw > 0 {
			return true
		}
	}
	return false
}

// retraction judges step j as the repair of a contradicted step i. Where stage
// A found the aim wrong, the repair is a next step whose aim A finds right.
// Else it is a retraction's surface form, with the claim not asserted again; in
// mode nli something that contradicts the claim must stand in its place. An
// abstention claims nothing to contradict, so there the form is enough.
func retraction(views []*view, i, j int, p *Profile, answers map[Question]schema.Scores) repair {
	if views[i].label.Stage == schema.StageEntity {
		if !views[j].graded() {
			return repair{at: j}
		}
		again := views[j].gap() == schema.GapContradicted && views[j].label.Stage == schema.StageEntity
		return repair{known: true, reason: either(!again, schema.ShapeRetracted), at: j}
	}
	f := views[j].facts()
	if f == nil {
		return repair{at: j}
	}
	took := views[j].read.retracts && !assertedAgain(views[j:], views[i], p)
	if took && p.Retraction.Mode == RetractByNLI && !assertsNothing(views[i]) {
		var known bool
		if took, known = contradicts(views[i], views[j], p, answers); !known {
			return repair{at: j}
		}
	}
	return repair{known: true, reason: either(took, schema.ShapeRetracted), at: j}
}

// assertedAgain reports whether later steps say all that v claimed, outside the
// sentences that take it back, or abstain again where v's fault was to.
func assertedAgain(later []*view, v *view, p *Profile) bool {
	if v.facts() == nil {
		return false
	}
	if assertsNothing(v) {
		return slices.ContainsFunc(later, func(l *view) bool { return l.facts() != nil && l.facts().Abstains })
	}
	return allSaid(later, func(r *reading) []sentence { return r.standing }, v.read.sentences, p.RepeatedClaim.Value)
}

// assertsNothing reports a step that claims nothing, so that its fault was to
// abstain.
func assertsNothing(v *view) bool {
	f := v.facts()
	return f == nil || strings.TrimSpace(f.Claim) == ""
}

// search judges step j as a search that mends step i: a query that is no
// near-duplicate of any earlier one and, for a bridge, names an entity of step i
// that the earlier queries lack.
func search(views []*view, i, j int, right schema.ShapeReason, p *Profile) repair {
	gap, f := views[i].facts(), views[j].facts()
	if f == nil || gap == nil {
		return repair{at: j}
	}
	done := repair{known: true, reason: schema.ShapeIgnored, at: j}
	read := views[j].read
	switch {
	case read.query == nil:
	case read.asksAgain:
		done.reason = schema.ShapeNearDuplicate
	case right == schema.ShapeReSearched || read.query.namesNew(views[:j], gap.Entities, p.BridgeSearch):
		done.reason = right
	}
	return done
}

func either(did bool, reason schema.ShapeReason) schema.ShapeReason {
	if did {
		return reason
	}
	return schema.ShapeIgnored
}
