package rewardagg

import (
	"fmt"
	"sort"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Compute is ComputeWith without answers: for profiles whose mode of retraction
// needs none.
func Compute(end *schema.RolloutEnd, labels map[int]*schema.Label, p *Profile) schema.Reward {
	return ComputeWith(end, labels, p, nil)
}

// ComputeWith turns an ended rollout and its labels, by step index, into its
// reward under p. It changes none of its arguments.
//
// An absent or ungraded label contributes nothing and is counted. The reward is
// null (Process nil, Reason set, no step holds a number) for an aborted
// rollout, one without steps, one whose labels belong to other content, one
// with too few graded steps, and an end that is malformed. EndDigest is left to
// the caller, who has the end's body. answers are those to Questions; a
// retraction that lacks one gets no number.
func ComputeWith(end *schema.RolloutEnd, labels map[int]*schema.Label, p *Profile, answers map[Question]schema.Scores) schema.Reward {
	views, err := viewsOf(end, labels)
	if err != nil {
		return Null(end, p, schema.ReasonMalformed, err.Error())
	}
	r := header(end, p)
	r.Steps = make([]schema.StepReward, len(views))
	for i, v := range views {
		r.Steps[i] = v.plain()
		if v.graded() {
			r.Graded++
		} else {
			r.Ungraded++
		}
	}
	r.Complete = r.Ungraded == 0 && len(views) > 0
	if !end.Aborted {
		r.Outcome = ScoreAnswer(end.Answer, end.Gold)
	}
	if r.Reason, r.Detail = nullReason(end, views, r.Graded, p); r.Reason != "" {
		return r
	}
	return withNumbers(r, views, p, answers)
}

// Null is the null reward of end, for a reason that its labels don't show, such
// as labels_expired. The outcome stands where the rollout came to its end.
func Null(end *schema.RolloutEnd, p *Profile, reason schema.Reason, detail string) schema.Reward {
	r := header(end, p)
	r.Reason, r.Detail = reason, detail
	r.Ungraded = len(end.Steps)
	for _, ref := range end.Steps {
		r.Steps = append(r.Steps, schema.StepReward{
			Index: ref.Index, Label: schema.GapUngraded, Repair: schema.RepairNone, Reason: reason,
		})
	}
	if !end.Aborted {
		r.Outcome = ScoreAnswer(end.Answer, end.Gold)
	}
	return r
}

func header(end *schema.RolloutEnd, p *Profile) schema.Reward {
	return schema.Reward{
		Run: end.Run, Rollout: end.Rollout, Group: end.Group, GroupSize: end.GroupSize,
		Answer: end.Answer, Profile: p.Name, ProfileHash: p.Hash(),
	}
}

// nullReason says why the rollout gets no process reward, or "".
func nullReason(end *schema.RolloutEnd, views []*view, graded int, p *Profile) (schema.Reason, string) {
	switch {
	case end.Aborted && end.AbortReason != "":
		return schema.ReasonAborted, end.AbortReason
	case end.Aborted:
		return schema.ReasonAborted, "the rollout worker gave up"
	case len(views) == 0:
		return schema.ReasonNoSteps, "the rollout ended without a step"
	}
	for _, v := range views {
		if v.otherContent() {
			return schema.ReasonIDReused, fmt.Sprintf("step %d: the label is for content %.12s, the end names %.12s", v.ref.Index, v.label.Digest, v.ref.Digest)
		}
	}
	if share := p.MinGradedShare.Value; graded == 0 || float64(graded) < share*float64(len(views)) {
		return schema.ReasonTooFewGraded, fmt.Sprintf("%d of %d steps are graded, the profile asks for a share of %v", graded, len(views), share)
	}
	return "", ""
}

func withNumbers(r schema.Reward, views []*view, p *Profile, answers map[Question]schema.Scores) schema.Reward {
	readAll(views, p)
	raws := make([]raw, len(views))
	for i := range views {
		raws[i] = baseOf(views, raws, i, p)
	}
	addShapes(views, raws, p, answers)
	if p.CapGaps {
		capGaps(views, raws)
	}
	weigh(views, raws, p)
	total := 0.0
	for i := range raws {
		raws[i].into(&r.Steps[i])
		if t := r.Steps[i].Reward; t != nil {
			total += *t
		}
	}
	if !finite(total) {
		// A loaded profile can't lead here; a number that is none never leaves.
		for i := range r.Steps {
			r.Steps[i] = views[i].plain()
		}
		r.Reason, r.Detail = schema.ReasonInternal, "the sum of the step rewards is not a number"
		return r
	}
	r.Process = &total
	return r
}

// view is one step as the end names it, with what its label says.
type view struct {
	ref   schema.StepRef
	label *schema.Label // nil: absent
	read  *reading      // nil: no facts
}

func viewsOf(end *schema.RolloutEnd, labels map[int]*schema.Label) ([]*view, error) {
	views := make([]*view, 0, len(end.Steps))
	for _, ref := range end.Steps {
		views = append(views, &view{ref: ref, label: labels[ref.Index]})
	}
	sort.SliceStable(views, func(i, j int) bool { return views[i].ref.Index < views[j].ref.Index })
	for i, v := range views {
		if v.ref.Index < 1 {
			return nil, fmt.Errorf("step index %d; indices count from 1", v.ref.Index)
		}
		if i > 0 && views[i-1].ref.Index == v.ref.Index {
			return nil, fmt.Errorf("step index %d is listed twice", v.ref.Index)
		}
	}
	return views, nil
}

func (v *view) graded() bool { return v.label != nil && v.label.Label.Graded() && !v.otherContent() }

// otherContent reports a label that was given to a step with the same id but
// another body.
func (v *view) otherContent() bool {
	return v.label != nil && v.label.Digest != "" && v.label.Digest != v.ref.Digest
}

// facts are nil where the step never came or could not be read.
func (v *view) facts() *schema.Facts {
	if v.label == nil || v.otherContent() {
		return nil
	}
	return v.label.Facts
}

func (v *view) gap() schema.Gap {
	if v.label == nil || !v.label.Label.Valid() {
		return schema.GapUngraded
	}
	return v.label.Label
}

// plain is the step's reward without a number.
func (v *view) plain() schema.StepReward {
	s := schema.StepReward{Index: v.ref.Index, Label: v.gap(), Repair: v.gap().Repair()}
	switch {
	case v.label == nil:
		s.Reason = schema.ReasonMissing
	case v.otherContent():
		s.Label, s.Repair, s.Reason = schema.GapUngraded, schema.RepairNone, schema.ReasonIDReused
	default:
		s.Stage, s.Reason = v.label.Stage, v.label.Reason
		if s.Label == schema.GapUngraded && s.Reason == "" {
			s.Reason = schema.ReasonInternal
		}
	}
	return s
}
