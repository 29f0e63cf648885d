package report

import (
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// none stands where there is no number.
const none = "n/a"

// percent is a value in percent.
func percent(e interval.Estimate) string {
	if e.Value == nil {
		return none
	}
	return tenths(*e.Value)
}

// bounds is the interval in percent; a p behind it marks percentiles.
func bounds(e interval.Estimate) string {
	if e.Low == nil {
		if e.Value == nil {
			return ""
		}
		return "no interval"
	}
	mark := ""
	if e.Method == interval.Percentile {
		mark = "p"
	}
	return tenths(*e.Low) + "–" + tenths(*e.High) + mark
}

// whole is a value with its interval.
func whole(e interval.Estimate) string {
	if b := bounds(e); b != "" {
		return percent(e) + " (" + b + ")"
	}
	return percent(e) + " (" + string(e.Reason) + ")"
}

// signed is a difference with its interval, in points.
func signed(e interval.Estimate) string {
	if e.Value == nil {
		return none
	}
	s := plus(*e.Value)
	if e.Low != nil {
		s += " (" + plus(*e.Low) + " to " + plus(*e.High) + ")"
	}
	return s
}

func plus(x float64) string { return strings.Replace(fmt.Sprintf("%+.1f", 100*x), "-0.0", "+0.0", 1) }

// tenths writes no minus before a zero.
func tenths(x float64) string {
	if s := fmt.Sprintf("%.1f", 100*x); s != "-0.0" {
		return s
	}
	return "0.0"
}

// shareOf is a count in percent of all.
func shareOf(n, of int) string {
	if of == 0 {
		return none
	}
	return tenths(float64(n) / float64(of))
}

// trap marks a Q-F1 that flag-all reaches.
const trap = "†"

// notes explain the marks that occur in a report.
func (r *Report) notes() []string {
	percentile, trapped, ungraded := false, false, 0
	for _, s := range r.Sets {
		for _, y := range s.Systems {
			trapped = trapped || y.Trap
			ungraded += y.Ungraded
			for _, m := range metrics.Main() {
				percentile = percentile || y.Estimates[m].Method == interval.Percentile
			}
		}
	}
	out := []string{fmt.Sprintf("In percent, with %g %% intervals: %d bootstrap draws of questions, BCa.", 100*r.Level, r.Draws)}
	if percentile {
		out = append(out, "p: percentiles, as there is no BCa interval (a constant figure, mostly).")
	}
	if trapped {
		out = append(out, trap+" A trap: flag-all, which flags every step, has this Q-F1 or a higher one.")
	}
	if ungraded > 0 {
		out = append(out, "Ungraded steps are missed, whatever they are, and are no false alarms.")
	}
	for _, m := range r.Missing {
		out = append(out, "Not measured: "+m)
	}
	return out
}

// head says what a set is.
func (s *SetReport) head() string {
	return fmt.Sprintf("%d steps of %d questions; gold: %s", s.Steps, s.Questions, s.goldLine())
}

func (s *SetReport) goldLine() string {
	var parts []string
	for _, g := range schema.Gaps() {
		if g.Graded() {
			parts = append(parts, fmt.Sprintf("%s %d", g.Short(), s.Gold[g].N))
		}
	}
	return strings.Join(parts, ", ")
}

// gold and predicted labels of matrices and distributions, in order.
func goldLabels() []schema.Gap { return schema.Gaps()[:metrics.Labels] }

// whole systems are those that are no ablation.
func (s *SetReport) own() []SystemReport {
	var out []SystemReport
	for _, y := range s.Systems {
		if y.Of == "" {
			out = append(out, y)
		}
	}
	return out
}
