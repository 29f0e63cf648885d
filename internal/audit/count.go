package audit

import (
	"time"

	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// Signal names a share that is counted.
type Signal string

// The signals of farming. Each is a share of what could have shown it.
const (
	// Retracted: contradicted steps that were taken back, of all steps.
	Retracted Signal = "retracted"
	// Duplicates: steps whose query asks again what an earlier one asked, of those
	// with a query.
	Duplicates Signal = "near_duplicate_query"
	// Vacuous: steps labelled none that add nothing by the rules of the profile
	// stepgap (no claim, a repeated one, a passage or a query used before, a second
	// conclusion), of all steps.
	Vacuous Signal = "vacuous"
	// Abstentions: steps that abstain on what they sought, of all steps.
	Abstentions Signal = "abstains"
	// Ignored: gaps that nothing was done about, of gaps that something could have
	// been done about.
	Ignored Signal = "gap_ignored"
)

// Signals lists them in the order of tables.
func Signals() []Signal { return []Signal{Retracted, Duplicates, Vacuous, Abstentions, Ignored} }

// count is how often something was, of how often it could have been.
type count struct{ hit, of int }

func (c *count) see(hit bool) {
	c.of++
	if hit {
		c.hit++
	}
}

// rollout is what an audit keeps of one.
type rollout struct {
	at      time.Time
	steps   int
	labels  map[schema.Gap]int
	signals map[Signal]count
	// process and outcome are nil where there was no number.
	process, outcome *float64
	// paid and unearned are the positive base rewards, and those of them that went
	// to vacuous steps.
	paid, unearned float64
}

// seen counts one rollout. rules is the profile whose rules say what is vacuous;
// the numbers are those that the run's own profile gave.
func seen(r *runlog.Rollout, rules *rewardagg.Profile) rollout {
	out := rollout{at: r.At, steps: len(r.Reward.Steps), labels: map[schema.Gap]int{}, signals: map[Signal]count{}, process: r.Reward.Process}
	out.outcome = rules.Outcome.Metric.Of(r.Reward.Outcome)
	notes, shapes := rewardagg.Judged(r.Reward, r.Labels, rules)
	see := func(s Signal, hit bool) {
		c := out.signals[s]
		c.see(hit)
		out.signals[s] = c
	}
	again := map[int]bool{} // steps that ask again
	for _, s := range shapes {
		if s.Reason == schema.ShapeNearDuplicate {
			again[s.At] = true
		}
	}
	for _, s := range r.Reward.Steps {
		out.labels[s.Label]++
		facts := factsOf(r.Labels[s.Index])
		shape := shapes[s.Index]
		rule, vacuous := notes[s.Index]
		vacuous = vacuous && rule != rewardagg.RuleAbstention // counted by itself
		see(Vacuous, vacuous)
		see(Retracted, shape.Reason == schema.ShapeRetracted)
		see(Abstentions, facts.Abstains)
		if facts.Query != "" {
			see(Duplicates, again[s.Index])
		}
		if s.Label.Graded() && s.Label != schema.GapNone && shape.Reason != "" && shape.Reason != schema.ShapeNoWindow {
			see(Ignored, shape.Reason == schema.ShapeIgnored || shape.Reason == schema.ShapeNearDuplicate)
		}
		if s.Base != nil && *s.Base > 0 {
			out.paid += *s.Base
			if vacuous {
				out.unearned += *s.Base
			}
		}
	}
	return out
}

func factsOf(l *schema.Label) schema.Facts {
	if l == nil || l.Facts == nil {
		return schema.Facts{}
	}
	return *l.Facts
}
