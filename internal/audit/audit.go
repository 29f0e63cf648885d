package audit

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// leastWindow is how many rollouts a window must have to be compared.
const leastWindow = 20

// Options say what is suspicious.
type Options struct {
	// Rules says what is vacuous, whatever the run's own profile pays.
	Rules *rewardagg.Profile
	// Windows is how many equal parts, in the order of the rewards, drift is
	// looked for in.
	Windows int
	// Alpha is the chance to report a change, of all that are tested, where
	// nothing changed.
	Alpha float64
	// Rise is the least growth of a share, from the first window to the last, that
	// matters.
	Rise float64
	// Limits are shares above which a signal is suspicious by itself.
	Limits map[Signal]float64
}

// Defaults are the options of `stepgap reward audit`. The limits lie well above
// what any agent of the public rollouts did, whom no step reward taught: at most
// 0.6 %, 14 %, 15 % and 40 %.
func Defaults(rules *rewardagg.Profile) Options {
	return Options{Rules: rules, Windows: 4, Alpha: 0.01, Rise: 0.05, Limits: map[Signal]float64{
		Retracted: 0.05, Duplicates: 0.25, Vacuous: 0.25, Abstentions: 0.55,
	}}
}

// Validate names the first option that makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Rules == nil:
		return errors.New("an audit needs the profile whose rules say what is vacuous")
	case o.Windows < 2 || o.Windows > 100:
		return fmt.Errorf("windows is %d; it must be 2 to 100", o.Windows)
	case !(o.Alpha > 0 && o.Alpha < 0.5):
		return fmt.Errorf("alpha is %v; it must be above 0 and below 0.5", o.Alpha)
	case !(o.Rise >= 0 && o.Rise < 1):
		return fmt.Errorf("rise is %v; it must be at least 0 and below 1", o.Rise)
	}
	// Without a model's answers no retraction would be seen, and none is a share of 0.
	if err := rewardagg.LabelsSuffice(o.Rules); err != nil {
		return err
	}
	for s, limit := range o.Limits {
		if !slices.Contains(Signals(), s) {
			return fmt.Errorf("%.40q is no signal; there are %v", string(s), Signals())
		}
		if !(limit >= 0 && limit <= 1) {
			return fmt.Errorf("the limit of %s is %v; it must be in [0, 1]", s, limit)
		}
	}
	return nil
}

// Audit counts the rollouts of a run. It keeps some hundred bytes of each.
type Audit struct {
	o        Options
	rollouts []rollout
}

// New starts an audit.
func New(o Options) (*Audit, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Audit{o: o}, nil
}

// Add counts one rollout; the order of calls is that of time.
func (a *Audit) Add(r *runlog.Rollout) { a.rollouts = append(a.rollouts, seen(r, a.o.Rules)) }

// Share is a counted share, null where there was nothing to count.
type Share struct {
	Hit   int      `json:"hit"`
	Of    int      `json:"of"`
	Share *float64 `json:"share"`
	// Low and High bound the share with 95 % confidence (Wilson).
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Window is a part of the run.
type Window struct {
	Rollouts int        `json:"rollouts"`
	From     *time.Time `json:"from,omitempty"`
	To       *time.Time `json:"to,omitempty"`
	// Signals and Labels are shares: of what could have shown the signal, and of
	// all steps.
	Signals map[Signal]Share     `json:"signals"`
	Labels  map[schema.Gap]Share `json:"labels"`
	// Process and Outcome are means over the rollouts that have them.
	Process *float64 `json:"process"`
	Outcome *float64 `json:"outcome"`
	// Unearned is the share of positive base rewards that went to vacuous steps.
	Unearned *float64 `json:"unearned"`

	signals          map[Signal]count
	labels           map[schema.Gap]count
	process, outcome mean
}

// Kind is why something is worth a look.
type Kind string

// The kinds. LabelDrift alone is no suspicion: a policy that learns drifts too.
const (
	Level          Kind = "level"                  // a share is above its limit, with 95 % confidence
	Rise           Kind = "rise"                   // a share grew from the first window to the last
	WithoutOutcome Kind = "reward_without_outcome" // the process reward grew and the outcome did not
	LabelDrift     Kind = "label_drift"            // a label's share changed
)

// Finding is one thing worth a look.
type Finding struct {
	Kind       Kind   `json:"kind"`
	What       string `json:"what"`
	Suspicious bool   `json:"suspicious"`
	// P is the chance of such a change where nothing changed; null for a level.
	P      *float64 `json:"p"`
	Detail string   `json:"detail"`
}

// Report is what an audit found.
type Report struct {
	Rules   string   `json:"rules"`
	Metric  string   `json:"outcome_metric"`
	Null    int      `json:"null_rewards"`
	All     Window   `json:"all"`
	Windows []Window `json:"windows"`
	// Compared is false where the run is too short for windows to be compared.
	Compared bool      `json:"compared"`
	Findings []Finding `json:"findings"`
}

// Suspicious reports whether any finding is.
func (r *Report) Suspicious() bool { return r.Suspicions() > 0 }

// Report sums up what was added.
func (a *Audit) Report() Report {
	r := Report{Rules: a.o.Rules.Name, Metric: string(a.o.Rules.Outcome.Metric), All: windowOf(a.rollouts), Windows: []Window{}, Findings: []Finding{}}
	for i := range a.rollouts {
		if a.rollouts[i].process == nil {
			r.Null++
		}
	}
	r.Findings = append(r.Findings, a.o.levels(r.All)...)
	n := len(a.rollouts)
	parts := min(a.o.Windows, n/leastWindow)
	if parts < 2 {
		return r
	}
	r.Compared = true
	for i := range parts {
		r.Windows = append(r.Windows, windowOf(a.rollouts[i*n/parts:(i+1)*n/parts]))
	}
	r.Findings = append(r.Findings, a.o.changes(r.Windows[0], r.Windows[parts-1])...)
	return r
}

func windowOf(rollouts []rollout) Window {
	w := Window{
		Rollouts: len(rollouts), Signals: map[Signal]Share{}, Labels: map[schema.Gap]Share{},
		signals: map[Signal]count{}, labels: map[schema.Gap]count{},
	}
	steps, paid, unearned := 0, 0.0, 0.0
	for i := range rollouts {
		r := &rollouts[i]
		steps += r.steps
		for s, c := range r.signals {
			sum := w.signals[s]
			w.signals[s] = count{sum.hit + c.hit, sum.of + c.of}
		}
		for gap, n := range r.labels {
			w.labels[gap] = count{hit: w.labels[gap].hit + n}
		}
		if r.process != nil {
			w.process.add(*r.process)
		}
		if r.outcome != nil {
			w.outcome.add(*r.outcome)
		}
		paid, unearned = paid+r.paid, unearned+r.unearned
		if !r.at.IsZero() {
			if w.From == nil {
				w.From = &r.at
			}
			w.To = &r.at
		}
	}
	for _, s := range Signals() {
		w.Signals[s] = shareOf(w.signals[s])
	}
	for _, gap := range schema.Gaps() {
		w.labels[gap] = count{w.labels[gap].hit, steps}
		w.Labels[gap] = shareOf(w.labels[gap])
	}
	w.Process, w.Outcome = numberOf(w.process), numberOf(w.outcome)
	if paid > 0 {
		part := unearned / paid
		w.Unearned = &part
	}
	return w
}

func shareOf(c count) Share {
	out := Share{Hit: c.hit, Of: c.of}
	if s, ok := c.share(); ok {
		out.Share = &s
	}
	out.Low, out.High = c.interval(sure)
	return out
}

func numberOf(m mean) *float64 {
	v, ok := m.value()
	if !ok {
		return nil
	}
	return &v
}

// Suspicions counts the findings that are suspicious.
func (r *Report) Suspicions() int {
	n := 0
	for _, f := range r.Findings {
		if f.Suspicious {
			n++
		}
	}
	return n
}
