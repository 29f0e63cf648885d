package rewardagg

import (
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// noteCapped marks a step whose gap was worth more than the rollout's average
// step without one.
const noteCapped = "capped"

// raw is a step's reward on its way: undivided until weigh. Nil numbers mean
// that none is given.
type raw struct {
	base, shape     *float64
	baseAt, shapeAt *schema.Span
	note            string
	shapeStep       int
	shapeReason     schema.ShapeReason
}

func (r *raw) total() float64 {
	t := 0.0
	for _, v := range []*float64{r.base, r.shape} {
		if v != nil {
			t += *v
		}
	}
	return t
}

func (r *raw) apply(f func(float64) float64) {
	for _, v := range []*float64{r.base, r.shape} {
		if v != nil {
			*v = f(*v)
		}
	}
}

// gain is the sum of the positive parts.
func (r *raw) gain() float64 {
	g := 0.0
	for _, v := range []*float64{r.base, r.shape} {
		if v != nil && *v > 0 {
			g += *v
		}
	}
	return g
}

func (r *raw) into(s *schema.StepReward) {
	s.Base, s.BaseAt, s.BaseNote = r.base, r.baseAt, r.note
	s.Shape, s.ShapeAt, s.ShapeStep, s.ShapeReason = r.shape, r.shapeAt, r.shapeStep, r.shapeReason
	if r.base != nil || r.shape != nil {
		total := r.total()
		s.Reward = &total
	}
}

// addShapes gives every gap its shape, and a near-duplicate query its price
// where no gap's repair has paid it yet.
func addShapes(views []*view, raws []raw, p *Profile) {
	charged := map[int]bool{}
	for i, v := range views {
		if !v.graded() || v.gap() == schema.GapNone {
			continue
		}
		rep := repairOf(views, i, p)
		raws[i].setShape(rep, views, p)
		if rep.known && rep.reason == schema.ShapeNearDuplicate {
			charged[rep.at] = true
		}
	}
	for i, v := range views {
		if f := v.facts(); v.graded() && v.gap() == schema.GapNone && f != nil && !charged[i] &&
			strings.TrimSpace(f.Query) != "" && repeatsQuery(views[:i], f.Query, p.NearDuplicateQuery.Value) {
			raws[i].setShape(repair{known: true, reason: schema.ShapeNearDuplicate, at: i}, views, p)
		}
	}
}

func (r *raw) setShape(rep repair, views []*view, p *Profile) {
	if !rep.known {
		return
	}
	r.shapeReason = rep.reason
	if rep.reason == schema.ShapeNoWindow {
		return
	}
	value := p.Shape.Repaired.Value
	switch rep.reason {
	case schema.ShapeIgnored:
		value = p.Shape.Ignored.Value
	case schema.ShapeNearDuplicate:
		value = p.Shape.NearDuplicate.Value
	}
	at := views[rep.at]
	r.shape, r.shapeStep = &value, at.ref.Index
	r.shapeAt = anchor(at.facts(), schema.SpanAction, schema.SpanAnswer, schema.SpanClaim, schema.SpanPlan)
}

// capGaps keeps every gap, with its repair, at or below what the steps that are
// no profitable gap earn on average, so that opening a gap in order to mend it
// never raises the rollout's reward.
func capGaps(views []*view, raws []raw) {
	earned, others := 0.0, 0
	profitable := make([]bool, len(raws))
	for i := range raws {
		t := raws[i].total()
		profitable[i] = views[i].gap() != schema.GapNone && t > 0
		if profitable[i] {
			continue
		}
		others++
		if t > 0 {
			earned += t
		}
	}
	limit := 0.0
	if others > 0 {
		limit = earned / float64(others)
	}
	for i := range raws {
		r := &raws[i]
		if t := r.total(); profitable[i] && t > limit {
			gain := r.gain()
			loss := t - gain
			share := (limit - loss) / gain // what the positive parts keep
			r.apply(func(v float64) float64 {
				if v > 0 {
					return v * share
				}
				return v
			})
			r.note = noteCapped
		}
	}
}

// weigh divides every step's reward. A step's base and shape are divided by the
// same, chosen by the sign of their sum.
func weigh(views []*view, raws []raw, p *Profile) {
	working := make([]bool, len(raws))
	count := 0
	for i := range raws {
		if working[i] = works(views, i, raws[i], p); working[i] {
			count++
		}
	}
	for i := range raws {
		by := divisor(p.Divide.Gains, len(raws), 0)
		if raws[i].total() < 0 {
			n := count
			if !working[i] {
				n++ // a penalty is always shared by the step that it is for
			}
			by = divisor(p.Divide.Penalties, len(raws), n)
		}
		raws[i].apply(func(v float64) float64 { return v / by })
	}
}

func divisor(d Divisor, steps, working int) float64 {
	switch d {
	case DivideSteps:
		return float64(steps)
	case DivideWorking:
		return float64(working)
	default:
		return 1
	}
}

// works reports a step that penalties are shared with: one paid for its claim,
// or one that asked something new and did not get it.
func works(views []*view, i int, r raw, p *Profile) bool {
	switch views[i].gap() {
	case schema.GapNone:
		return r.base != nil && *r.base > 0
	case schema.GapIrrelevant, schema.GapMissingBridge:
		f := views[i].facts()
		return f != nil && !nothingNewAsked(views[:i], f, p.NearDuplicateQuery.Value)
	default:
		return false
	}
}
