package rewardagg

import (
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
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
func repairOf(views []*view, i int, p *Profile) repair {
	j, ok := windowOf(views, i)
	if !ok {
		return repair{known: true, reason: schema.ShapeNoWindow, at: -1}
	}
	switch views[i].gap() {
	case schema.GapContradicted:
		return retraction(views, i, j, p)
	case schema.GapIrrelevant:
		return search(views, i, j, p, schema.ShapeReSearched, nil)
	case schema.GapMissingBridge:
		return search(views, i, j, p, schema.ShapeBridged, namesOf(views[i].facts()))
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
// Else it is a retraction's surface form, with the claim not asserted again.
func retraction(views []*view, i, j int, p *Profile) repair {
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
	took := p.retracts(evidence.FoldString(f.Text)) || anySentence(f.Text, p)
	return repair{known: true, reason: either(took && !assertedAgain(views[j:], views[i].facts(), p), schema.ShapeRetracted), at: j}
}

func anySentence(text string, p *Profile) bool {
	for _, s := range sentencesOf(text) {
		if p.retracts(evidence.FoldString(s)) {
			return true
		}
	}
	return false
}

// assertedAgain reports whether later steps say all that f claimed, outside the
// sentences that take it back, or abstain again where f's fault was to.
func assertedAgain(later []*view, f *schema.Facts, p *Profile) bool {
	if f == nil {
		return false
	}
	claim := strings.TrimSpace(f.Claim)
	var claims []string
	for _, v := range later {
		g := v.facts()
		switch {
		case g == nil:
		case claim == "" && g.Abstains:
			return true
		default:
			claims = append(claims, standing(g.Claim, p))
		}
	}
	return allSaid(claims, claim, p.RepeatedClaim.Value)
}

// standing is a claim without the sentences that take something back: they
// name what they retract.
func standing(claim string, p *Profile) string {
	var keep []string
	for _, s := range sentencesOf(claim) {
		if !p.retracts(evidence.FoldString(s)) {
			keep = append(keep, s)
		}
	}
	return strings.Join(keep, " ")
}

// search judges step j as a search that mends step i: a query that is no
// near-duplicate of any earlier one and, where names are given, holds one of
// them that the earlier queries lack.
func search(views []*view, i, j int, p *Profile, right schema.ShapeReason, names []string) repair {
	f := views[j].facts()
	if f == nil || views[i].facts() == nil {
		return repair{at: j}
	}
	done := repair{known: true, reason: schema.ShapeIgnored, at: j}
	query := strings.TrimSpace(f.Query)
	switch {
	case query == "":
	case repeatsQuery(views[:j], query, p.NearDuplicateQuery.Value):
		done.reason = schema.ShapeNearDuplicate
	case right == schema.ShapeReSearched || namesNew(views[:j], query, names):
		done.reason = right
	}
	return done
}

func namesOf(f *schema.Facts) []string {
	if f == nil {
		return nil
	}
	return f.Entities
}

func either(did bool, reason schema.ShapeReason) schema.ShapeReason {
	if did {
		return reason
	}
	return schema.ShapeIgnored
}
