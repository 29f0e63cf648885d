package rewardagg

import (
	"slices"

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
func addShapes(views []*view, raws []raw, p *Profile, answers map[Question]schema.Scores) {
	charged := map[int]bool{}
	for i, v := range views {
		if !v.graded() || v.gap() == schema.GapNone {
			continue
		}
		rep := repairOf(views, i, p, answers)
		raws[i].setShape(rep, views, p)
		if rep.known && rep.reason == schema.ShapeNearDuplicate {
			charged[rep.at] = true
		}
	}
	for i, v := range views {
		if v.graded() && v.gap() == schema.GapNone && v.read != nil && v.read.asksAgain && !charged[i] {
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
	var idle []float64
	for i := range raws {
		working[i] = works(views, i, raws[i])
		t := raws[i].total()
		switch {
		case working[i]:
			count++
		case t < 0:
			idle = append(idle, t)
		}
	}
	forIdle := idleDivisor(idle, count)
	for i := range raws {
		by := divisor(p.Divide.Gains, len(raws), 0)
		switch {
		case raws[i].total() >= 0:
		case working[i]:
			by = divisor(p.Divide.Penalties, len(raws), float64(count))
		default:
			by = divisor(p.Divide.Penalties, len(raws), forIdle)
		}
		raws[i].apply(func(v float64) float64 { return v / by })
	}
}

// idleDivisor is what the penalties of steps that did no work are divided by,
// where working steps share them. Such steps share with each other too, or they
// would add up without bound; but a milder one must not thin out a worse one.
// So together they cost as much as the k worst of them do when shared by the
// working steps and those k, for the k that costs most.
func idleDivisor(penalties []float64, working int) float64 {
	sorted := slices.Sorted(slices.Values(penalties))
	sum, most := 0.0, 0.0
	for k, t := range sorted {
		sum += t
		most = min(most, sum/float64(working+k+1))
	}
	if most == 0 {
		return 1
	}
	return sum / most
}

func divisor(d Divisor, steps int, working float64) float64 {
	switch d {
	case DivideSteps:
		return float64(steps)
	case DivideWorking:
		return working
	default:
		return 1
	}
}

// works reports a step that penalties are shared with: one paid for its claim,
// or one that asked something new and did not get it.
func works(views []*view, i int, r raw) bool {
	switch views[i].gap() {
	case schema.GapNone:
		return r.base != nil && *r.base > 0
	case schema.GapIrrelevant, schema.GapMissingBridge:
		return views[i].read != nil && !nothingNewAsked(views, i)
	default:
		return false
	}
}
