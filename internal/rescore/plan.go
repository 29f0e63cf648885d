package rescore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// Judge is the kind of judge that the trail of a rescored label names.
const Judge = "rescore"

// Options say what to compute.
type Options struct {
	// As is the run that the results belong to.
	As      string
	Profile *rewardagg.Profile
	// Was are the thresholds that the run was labelled under, Now those to read
	// its labels under. Equal ones leave labels as they are.
	Was, Now nliworker.Thresholds
}

// Validate names the first option that makes no sense.
func (o Options) Validate(run string) error {
	switch {
	case o.Profile == nil:
		return errors.New("rescoring needs a reward profile")
	case run == o.As:
		return fmt.Errorf("run %s can't be rescored as itself: labels and rewards are immutable; name another run", run)
	}
	return errors.Join(schema.CheckID("run", run), schema.CheckID("run", o.As), o.Was.Validate(), o.Now.Validate())
}

func (o Options) relabels() bool { return o.Was != o.Now }

// Change is what became of a label.
type Change struct {
	Was, Now schema.Gap
}

// Plan is one rollout of the new run. It shares nothing with what it was made of.
type Plan struct {
	Labels  []*schema.Label // by index
	Reward  schema.Reward
	Changes []Change // of labels that are another now
}

// Of plans a rollout's rescoring.
func Of(r *runlog.Rollout, o Options) (*Plan, error) {
	p := &Plan{}
	labels := map[int]*schema.Label{}
	indices := make([]int, 0, len(r.Labels))
	for i := range r.Labels {
		indices = append(indices, i)
	}
	slices.Sort(indices)
	changed := false
	for _, i := range indices {
		old := r.Labels[i]
		got, err := nliworker.Regrade(old, o.Was, o.Now, changed)
		if err != nil {
			return nil, err
		}
		changed = changed || !got.Same
		l := o.relabelled(old, got)
		if l.Label != old.Label {
			p.Changes = append(p.Changes, Change{old.Label, l.Label})
		}
		labels[i] = l
		p.Labels = append(p.Labels, l)
	}
	standing := *r.Reward
	standing.Run = o.As
	var err error
	p.Reward, err = rewardagg.Again(&standing, labels, o.Profile)
	return p, err
}

// relabelled is old as a label of the new run. What its verdict cost was spent for
// the old run, so the new one's ledger doesn't hold it.
func (o Options) relabelled(old *schema.Label, got nliworker.Regraded) *schema.Label {
	l := *old
	l.Run = o.As
	l.Trail = slices.Clone(old.Trail)
	for i := range l.Trail {
		e := &l.Trail[i]
		e.Calls, e.TokensIn, e.TokensOut, e.TokensCached, e.LatencyUS, e.CacheHit = 0, 0, 0, 0, 0, false
	}
	if got.Known && got.Gap == old.Label {
		return &l
	}
	under := fmt.Sprintf("entailment %v and contradiction %v, was %v and %v", o.Now.Entailment, o.Now.Contradiction, o.Was.Entailment, o.Was.Contradiction)
	e := schema.TrailEntry{Stage: old.Stage, Judge: Judge, Outcome: string(got.Gap), Detail: "read from the trail under " + under}
	l.Label, l.Reason, l.Detail = got.Gap, "", e.Detail
	if !got.Known {
		l.Label, l.Reason = schema.GapUngraded, schema.ReasonNotInTrail
		l.Detail = "the trail doesn't hold what this label would be under " + under
		e.Outcome, e.Detail = string(schema.ReasonNotInTrail), l.Detail
	}
	l.Repair = l.Label.Repair()
	if len(l.Trail) < schema.MaxTrail {
		l.Trail = append(l.Trail, e)
	}
	return &l
}
