package rewardagg

import (
	"fmt"
	"slices"

	"github.com/stepgap/stepgap/pkg/schema"
)

// LabelsSuffice returns an error if p can't be computed from labels alone.
func LabelsSuffice(p *Profile) error {
	if p.Retraction.Mode == RetractByNLI {
		return fmt.Errorf("profile %s asks an NLI model about retractions, which labels can't answer; set retraction.mode to %s", p.Name, RetractByPattern)
	}
	return nil
}

// Again computes a standing reward anew from its labels under p: what its end
// said is taken from the reward itself. The outcome, which only the gold answers
// could change, and the end's digest stay. An error is that of
// LabelsSuffice.
func Again(standing *schema.Reward, labels map[int]*schema.Label, p *Profile) (schema.Reward, error) {
	if err := LabelsSuffice(p); err != nil {
		return schema.Reward{}, err
	}
	var r schema.Reward
	switch end := endOf(standing, labels); {
	case !computed(standing.Reason):
		r = *standing
		r.Steps = slices.Clone(standing.Steps)
		r.Profile, r.ProfileHash = p.Name, p.Hash()
	case end.Aborted:
		r = Compute(end, nil, p)
	case len(Missing(end, labels)) > 0:
		r = Null(end, p, schema.ReasonLabelsExpired, fmt.Sprintf("the labels of steps %v are gone", Missing(end, labels)))
	default:
		r = Compute(end, labels, p)
	}
	r.Outcome, r.EndDigest = standing.Outcome, standing.EndDigest
	return r, nil
}

// computed reports whether a reward with this reason came of its labels, or of
// what its end said: then it can come out otherwise. Other null rewards say that
// something went wrong before that.
func computed(reason schema.Reason) bool {
	switch reason {
	case "", schema.ReasonTooFewGraded, schema.ReasonNoSteps, schema.ReasonAborted, schema.ReasonIDReused:
		return true
	}
	return false
}

// endOf is the end that a reward was given for, as far as rewards depend on it:
// all but question and gold answers.
func endOf(r *schema.Reward, labels map[int]*schema.Label) *schema.RolloutEnd {
	end := &schema.RolloutEnd{
		Run: r.Run, Rollout: r.Rollout, Answer: r.Answer, Group: r.Group, GroupSize: r.GroupSize,
		Aborted: r.Reason == schema.ReasonAborted,
	}
	if end.Aborted {
		end.AbortReason = r.Detail
	}
	for _, s := range r.Steps {
		ref := schema.StepRef{Index: s.Index}
		// Where the label was given for other content, the step's own digest is not
		// known; an empty one differs from every digest, as its own did.
		if l := labels[s.Index]; l != nil && s.Reason != schema.ReasonIDReused {
			ref.Digest = l.Digest
		}
		end.Steps = append(end.Steps, ref)
	}
	return end
}

// Done is what was done about a step's gap, or that its query asks again.
type Done struct {
	Reason schema.ShapeReason
	// At is the index of the step that did it; 0 where none could.
	At int
}

// Judged says, by p's rules, why steps earn nothing where they don't, and what was
// done about gaps; by step index. It is what an audit looks for, whatever the
// run's own profile pays. LabelsSuffice must hold of p.
func Judged(standing *schema.Reward, labels map[int]*schema.Label, p *Profile) (unpaid map[int]Rule, done map[int]Done) {
	unpaid, done = map[int]Rule{}, map[int]Done{}
	end := endOf(standing, labels)
	if !computed(standing.Reason) || end.Aborted {
		return unpaid, done
	}
	for _, s := range Compute(end, labels, p).Steps {
		if slices.Contains(p.Unpaid, Rule(s.BaseNote)) {
			unpaid[s.Index] = Rule(s.BaseNote)
		}
		if s.ShapeReason != "" {
			done[s.Index] = Done{s.ShapeReason, s.ShapeStep}
		}
	}
	return unpaid, done
}
