package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// wide is how many systems a terminal's table of groups has room for.
const wide = 4

// WriteText writes the report for a terminal of 80 columns.
func (r *Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	for i := range r.Sets {
		if i > 0 {
			b.WriteString("\n")
		}
		r.Sets[i].text(&b)
	}
	b.WriteString("\n")
	for _, n := range r.notes() {
		b.WriteString(n + "\n")
	}
	// Cells that end a row leave blanks behind.
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (s *SetReport) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s: %s\n", s.Name, s.head())
	if s.About != "" {
		fmt.Fprintf(b, "%s\n", s.About)
	}
	b.WriteString("\n")
	s.textSystems(b)
	for _, base := range bases(s.Ablations) {
		s.textAblations(b, base)
	}
	for _, c := range s.Cancellations() {
		fmt.Fprintf(b, "%s\n", c)
	}
	s.textConfusion(b)
	s.textShares(b)
	s.textGroups(b)
}

// table is a tabwriter over b; its errors are the buffer's, which has none.
func table(b *bytes.Buffer) *tabwriter.Writer { return tabwriter.NewWriter(b, 0, 0, 2, ' ', 0) }

func row(t *tabwriter.Writer, cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }

func (s *SetReport) textSystems(b *bytes.Buffer) {
	t := table(b)
	head := []string{"system"}
	for _, m := range metrics.Main() {
		head = append(head, m.Name())
	}
	row(t, head...)
	for _, y := range s.own() {
		values, ends := []string{y.Name}, []string{""}
		if y.Ungraded > 0 {
			ends[0] = fmt.Sprintf("  %d ungraded", y.Ungraded)
		}
		for _, m := range metrics.Main() {
			v := percent(y.Estimates[m])
			if m == metrics.QF1 && y.Trap {
				v += trap
			}
			values, ends = append(values, v), append(ends, bounds(y.Estimates[m]))
		}
		row(t, values...)
		row(t, ends...)
	}
	_ = t.Flush()
}

// bases are the systems that were taken apart, in order.
func bases(list []Ablation) []string {
	var out []string
	for _, a := range list {
		if len(out) == 0 || out[len(out)-1] != a.Of {
			out = append(out, a.Of)
		}
	}
	return out
}

func (s *SetReport) textAblations(b *bytes.Buffer, base string) {
	t := table(b)
	b.WriteString("\n")
	row(t, base, "sF1", "macro-F1", "the stage")
	for _, a := range s.Ablations {
		if a.Of == base {
			row(t, "without "+a.Without.Letter(), signed(a.Delta[metrics.SF1]), signed(a.Delta[metrics.MacroF1]), a.says())
		}
	}
	_ = t.Flush()
}

// says is the verdict on sF1, and that on macro-F1 where it is another.
func (a Ablation) says() string {
	one, two := a.Verdict(metrics.SF1), a.Verdict(metrics.MacroF1)
	if one == two {
		return string(one)
	}
	return string(one) + ", " + string(two)
}

func (s *SetReport) textConfusion(b *bytes.Buffer) {
	y := s.Systems[0]
	fmt.Fprintf(b, "\n%s: gold labels in rows, predictions in columns\n", y.Name)
	t := table(b)
	head := []string{""}
	for _, g := range schema.Gaps() {
		head = append(head, g.Short())
	}
	row(t, append(head, "recall", "precision")...)
	for i, g := range goldLabels() {
		cells := []string{g.Short()}
		for _, n := range y.Confusion[i] {
			cells = append(cells, fmt.Sprint(n))
		}
		l := y.Labels[g]
		row(t, append(cells, plain(l.Recall), plain(l.Precision))...)
	}
	_ = t.Flush()
}

// plain is a metric without an interval, in percent.
func plain(v metrics.Value) string {
	if x, ok := v.Get(); ok {
		return tenths(x)
	}
	return none
}

func (s *SetReport) textShares(b *bytes.Buffer) {
	b.WriteString("\nlabels, in percent of steps\n")
	t := table(b)
	head := []string{""}
	for _, g := range schema.Gaps() {
		head = append(head, g.Short())
	}
	row(t, head...)
	gold := []string{"gold"}
	for _, g := range goldLabels() {
		gold = append(gold, plain(s.Gold[g].Share))
	}
	row(t, gold...)
	for _, y := range s.own() {
		cells := []string{y.Name}
		for _, g := range schema.Gaps() {
			cells = append(cells, plain(y.Predicted[g].Share))
		}
		row(t, cells...)
	}
	_ = t.Flush()
}

func (s *SetReport) textGroups(b *bytes.Buffer) {
	if len(s.Groups) == 0 {
		return
	}
	b.WriteString("\ngap or none right, in percent, by how the step was made\n")
	var shown []string
	for _, y := range s.own() {
		if !y.Baseline && len(shown) < wide {
			shown = append(shown, y.Name)
		}
	}
	t := table(b)
	row(t, append([]string{"", "gold", "n"}, shown...)...)
	for _, g := range s.Groups {
		cells := []string{g.Name, g.Gold.Short(), fmt.Sprint(g.N)}
		for _, name := range shown {
			cells = append(cells, shareOf(g.Caught[name], g.N))
		}
		row(t, cells...)
	}
	_ = t.Flush()
}
