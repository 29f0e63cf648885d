package audit

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/stepgap/stepgap/pkg/schema"
)

// WriteText writes a report for people.
func WriteText(to io.Writer, r Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rollouts, %d with a null reward; vacuous by the rules of profile %s\n\n", r.All.Rollouts, r.Null, r.Rules)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := "\tall\t95 %\t"
	for i := range r.Windows {
		header += fmt.Sprintf("window %d\t", i+1)
	}
	fmt.Fprintln(w, header)
	row := func(name string, of func(*Window) Share) {
		s := of(&r.All)
		line := fmt.Sprintf("%s\t%s\t%.1f - %.1f %%\t", name, percent(s.Share), 100*s.Low, 100*s.High)
		for i := range r.Windows {
			line += percent(of(&r.Windows[i]).Share) + "\t"
		}
		fmt.Fprintln(w, line)
	}
	for _, s := range Signals() {
		row(string(s), func(w *Window) Share { return w.Signals[s] })
	}
	for _, gap := range schema.Gaps() {
		row("label "+string(gap), func(w *Window) Share { return w.Labels[gap] })
	}
	number := func(name, format string, of func(*Window) *float64) {
		line := name + "\t" + show(format, of(&r.All)) + "\t\t"
		for i := range r.Windows {
			line += show(format, of(&r.Windows[i])) + "\t"
		}
		fmt.Fprintln(w, line)
	}
	number("mean process", "%+.4f", func(w *Window) *float64 { return w.Process })
	number("mean outcome ("+r.Metric+")", "%.3f", func(w *Window) *float64 { return w.Outcome })
	number("paid for vacuous steps", "%.3f", func(w *Window) *float64 { return w.Unearned })
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(&b)
	if !r.Compared {
		fmt.Fprintf(&b, "too few rollouts to compare windows: it takes %d\n", 2*leastWindow)
	}
	for _, f := range r.Findings {
		mark := "note"
		if f.Suspicious {
			mark = "SUSPICIOUS"
		}
		fmt.Fprintf(&b, "%s  %s of %s: %s", mark, f.Kind, f.What, f.Detail)
		if f.P != nil {
			fmt.Fprintf(&b, " (p = %.2g)", *f.P)
		}
		fmt.Fprintln(&b)
	}
	if !r.Suspicious() {
		fmt.Fprintln(&b, "nothing suspicious")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func percent(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

func show(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}
