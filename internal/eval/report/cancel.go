package report

import (
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/eval/metrics"
)

// Verdict is what an ablation's delta says.
type Verdict string

// The verdicts.
const (
	// Helps: without the stage the system is worse, beyond the interval.
	Helps Verdict = "helps"
	// Cancels: without the stage the system is better, beyond the interval, so
	// that its errors cancelled others or did harm alone.
	Cancels Verdict = "cancels"
	// Unclear: the interval holds zero, or there is none.
	Unclear Verdict = "unclear"
	// Nothing: not a figure changes.
	Nothing Verdict = "nothing"
)

// Verdict is that of one metric.
func (a Ablation) Verdict(m metrics.Metric) Verdict {
	d := a.Delta[m]
	switch {
	case d.Above(0):
		return Cancels
	case d.Below(0):
		return Helps
	case d.Value != nil && *d.Value == 0 && d.Low != nil && *d.Low == 0 && *d.High == 0:
		return Nothing
	default:
		return Unclear
	}
}

// raises reports whether the figure is higher without the stage.
func (a Ablation) raises(m metrics.Metric) bool {
	d := a.Delta[m]
	return d.Value != nil && *d.Value > 0
}

// Cancellation is the test of one system: do removals raise its figures? A tree
// whose parts are sound loses by each removal; where removals gain, errors of
// one part made up for those of another, and the whole figure was luck.
type Cancellation struct {
	Of       string
	Metric   metrics.Metric
	Removals int
	// Raised counts removals with a delta above zero, Sure those of them whose
	// interval lies above zero.
	Raised, Sure int
	// Stages are the letters of the stages whose removal raises the figure; a
	// sure one has an exclamation mark.
	Stages []string
}

// Passed reports whether no removal raises the figure.
func (c Cancellation) Passed() bool { return c.Raised == 0 }

// String says it in a sentence.
func (c Cancellation) String() string {
	switch {
	case c.Raised == 0:
		return fmt.Sprintf("%s: none of %d removals raises %s, so no errors are seen to cancel.", c.Of, c.Removals, c.Metric.Name())
	case c.Sure == 0:
		return fmt.Sprintf("%s: %d of %d removals raise %s (%s), none beyond its interval: errors may cancel.", c.Of, c.Raised, c.Removals, c.Metric.Name(), strings.Join(c.Stages, ", "))
	default:
		return fmt.Sprintf("%s: %d of %d removals raise %s (%s), %d beyond the interval (!): errors cancel.", c.Of, c.Raised, c.Removals, c.Metric.Name(), strings.Join(c.Stages, ", "), c.Sure)
	}
}

// Cancellations tests each system that was taken apart, on sF1 and macro-F1.
func (s *SetReport) Cancellations() []Cancellation {
	var out []Cancellation
	var bases []string
	for _, a := range s.Ablations {
		if len(bases) == 0 || bases[len(bases)-1] != a.Of {
			bases = append(bases, a.Of)
		}
	}
	for _, base := range bases {
		for _, m := range []metrics.Metric{metrics.SF1, metrics.MacroF1} {
			c := Cancellation{Of: base, Metric: m}
			for _, a := range s.Ablations {
				if a.Of != base {
					continue
				}
				c.Removals++
				if !a.raises(m) {
					continue
				}
				c.Raised++
				letter := a.Without.Letter()
				if a.Verdict(m) == Cancels {
					c.Sure++
					letter += "!"
				}
				c.Stages = append(c.Stages, letter)
			}
			out = append(out, c)
		}
	}
	return out
}
