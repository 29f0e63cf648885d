package check

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// WriteText writes a result for people, in lines of at most width columns.
func WriteText(w io.Writer, r *Result, width int) error {
	width = max(width, 40)
	p := &printer{w: w, width: width}
	p.line("", fmt.Sprintf("%s  %s", r.Rollout, total(r)))
	p.wrap("  ", r.Question)
	for _, s := range r.Steps {
		head := fmt.Sprintf("  %2d %s %-19s %s", s.Index, s.Label.Short(), s.Label, numbers(s))
		p.line("", strings.TrimRight(head, " "))
		const in = "       "
		if s.Query != "" {
			p.field(in, "query", s.Query)
		}
		if s.Claim != "" {
			p.field(in, "claim", s.Claim)
		} else if s.Kind == schema.KindSearch {
			p.field(in, "claim", "(none)")
		}
		if s.Quote != "" {
			from := ""
			if s.QuoteFrom != "" {
				from = " [" + s.QuoteFrom + "]"
			}
			p.field(in, "quote", "“"+oneLine(s.Quote, 300)+"”"+from)
		}
		if where := windows(s.Windows); where != "" {
			p.field(in, "window", where)
		}
		why := s.Reason
		if s.Code != "" {
			why = strings.TrimSpace(string(s.Code) + ": " + why)
		}
		by := fmt.Sprintf("(%s %s", s.Stage.Letter(), s.Stage)
		if s.Judge != "" {
			by += ", " + s.Judge
		}
		p.field(in, "why", strings.TrimSpace(why+" "+by+")"))
		if near(s.Flags) {
			p.field(in, "near", "a score is near to its threshold"+scores(s.Scores))
		}
		if s.Repair != schema.RepairNone {
			repair := string(s.Repair)
			if s.ShapeReason != "" {
				repair += " (" + string(s.ShapeReason) + ")"
			}
			p.field(in, "repair", repair)
		}
	}
	for _, warning := range r.Warnings {
		p.field("  ", "note", warning)
	}
	p.line("", "")
	return p.err
}

// windows says which stretches of the evidence decided: the step that brought
// the passage, the head of its digest, and characters from and to.
func windows(ws []schema.Window) string {
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = fmt.Sprintf("step %d, %.8s %d-%d", w.ByStep, w.Passage, w.Start, w.End)
		if w.Titled {
			out[i] += " with its title"
		}
	}
	return strings.Join(out, "; ")
}

func near(flags []string) bool { return slices.Contains(flags, schema.FlagNearThreshold) }

func scores(s *schema.Scores) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" (entailment %.3f, contradiction %.3f)", s.Entailment, s.Contradiction)
}

func total(r *Result) string {
	if r.Total == nil {
		return "reward null (" + string(r.Reason) + ")"
	}
	return fmt.Sprintf("reward %+.3f", *r.Total)
}

func numbers(s StepResult) string {
	out := ""
	if s.Base != nil {
		out += fmt.Sprintf("base %+.3f", *s.Base)
	}
	if s.Shape != nil {
		out += fmt.Sprintf(" shape %+.3f", *s.Shape)
	}
	return strings.TrimSpace(out)
}

type printer struct {
	w     io.Writer
	width int
	err   error
}

func (p *printer) line(indent, s string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(indent+s, " "))
	}
}

func (p *printer) field(indent, name, value string) {
	p.wrapAs(indent+fmt.Sprintf("%-7s", name), indent+strings.Repeat(" ", 7), oneLine(value, 600))
}

func (p *printer) wrap(indent, s string) { p.wrapAs(indent, indent, oneLine(s, 600)) }

// wrapAs writes s in lines of the printer's width, the first after first and
// the others after rest.
func (p *printer) wrapAs(first, rest, s string) {
	room := max(p.width-len([]rune(first)), 20)
	line, used := first, 0
	for _, word := range strings.Fields(s) {
		n := len([]rune(word))
		if used > 0 && used+1+n > room {
			p.line("", line)
			line, used = rest, 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	p.line("", line)
}

// oneLine folds white space and cuts s to n code points.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// WriteSummary writes the counts for people.
func WriteSummary(w io.Writer, s Summary) error {
	p := &printer{w: w, width: 79}
	p.line("", fmt.Sprintf("%d rollouts, %d steps in %.1f s (%.1f steps/s), %d complete", s.Rollouts, s.Steps, s.Seconds, s.StepsPerSecond(), s.Complete))
	for _, g := range schema.Gaps() {
		if n := s.Labels[g]; n > 0 {
			p.line("  ", fmt.Sprintf("%s %-20s %6d  %5.1f%%", g.Short(), g, n, 100*float64(n)/float64(max(s.Steps, 1))))
		}
	}
	for reason, n := range s.Reasons {
		p.line("  ", fmt.Sprintf("   ungraded: %-17s %6d", reason, n))
	}
	if s.Near > 0 {
		p.line("  ", fmt.Sprintf("%d labels with a score near to its threshold (near_threshold)", s.Near))
	}
	for _, a := range []Answered{AnsweredRight, AnsweredWrong, AnsweredUnknown} {
		if e := s.Conclusions[a]; e.All > 0 {
			p.line("  ", fmt.Sprintf("conclusions entailed, answer %-8s %5d of %5d  %5.1f%%", a, e.Entailed, e.All, 100*float64(e.Entailed)/float64(e.All)))
		}
	}
	if s.Warnings > 0 {
		p.line("  ", fmt.Sprintf("%d notes on odd input (see each rollout)", s.Warnings))
	}
	return p.err
}
