package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// WriteMarkdown writes the report as Markdown tables.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Evaluation\n")
	for i := range r.Sets {
		r.Sets[i].markdown(&b)
	}
	b.WriteString("\n")
	for _, n := range r.notes() {
		b.WriteString("- " + cell(n) + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// cell keeps a text from ending its cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}

func mdRow(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + cell(c) + " ")
	}
	b.WriteString("|\n")
}

func mdHead(b *strings.Builder, cells ...string) {
	mdRow(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

func (s *SetReport) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s.", s.Name, cell(s.head()))
	if s.About != "" {
		fmt.Fprintf(b, " Labels: %s.", cell(s.About))
	}
	b.WriteString("\n\n")
	s.mdSystems(b)
	s.mdLead(b)
	s.mdAblations(b)
	s.mdConfusions(b)
	s.mdShares(b)
	s.mdGroups(b)
}

func (s *SetReport) mdSystems(b *strings.Builder) {
	head := []string{"system"}
	for _, m := range metrics.Main() {
		head = append(head, m.Name())
	}
	mdHead(b, append(head, "ungraded", "judges")...)
	for _, y := range s.Systems {
		cells := []string{y.Name}
		for _, m := range metrics.Main() {
			v := whole(y.Estimates[m])
			if m == metrics.QF1 && y.Trap {
				v += " " + trap
			}
			cells = append(cells, v)
		}
		mdRow(b, append(cells, fmt.Sprint(y.Ungraded), y.About)...)
	}
}

func (s *SetReport) mdLead(b *strings.Builder) {
	first := s.Systems[0].Name
	fmt.Fprintf(b, "\nHow far %s is ahead, in points, paired:\n\n", first)
	head := []string{"of"}
	for _, m := range metrics.Main() {
		head = append(head, m.Name())
	}
	mdHead(b, head...)
	for _, y := range s.Systems {
		if y.Lead == nil {
			continue
		}
		cells := []string{y.Name}
		for _, m := range metrics.Main() {
			cells = append(cells, signed(y.Lead[m]))
		}
		mdRow(b, cells...)
	}
}

func (s *SetReport) mdAblations(b *strings.Builder) {
	if len(s.Ablations) == 0 {
		return
	}
	b.WriteString("\nWhat removing a stage changes, in points, paired:\n\n")
	head := []string{"system", "without"}
	for _, m := range ablated() {
		head = append(head, m.Name())
	}
	mdHead(b, append(head, "the stage")...)
	for _, a := range s.Ablations {
		cells := []string{a.Of, a.Without.Letter() + " " + string(a.Without)}
		for _, m := range ablated() {
			cells = append(cells, signed(a.Delta[m]))
		}
		mdRow(b, append(cells, a.says())...)
	}
	b.WriteString("\nThe cancellation test (does a removal raise the figure, so that errors of one stage made up for another's?):\n\n")
	for _, c := range s.Cancellations() {
		b.WriteString("- " + cell(c.String()) + "\n")
	}
}

func (s *SetReport) mdConfusions(b *strings.Builder) {
	for _, y := range s.own() {
		if y.Baseline {
			continue
		}
		fmt.Fprintf(b, "\nConfusion of %s, gold labels in rows:\n\n", y.Name)
		head := []string{""}
		for _, g := range schema.Gaps() {
			head = append(head, g.Short())
		}
		mdHead(b, append(head, "recall", "precision", "F1")...)
		for i, g := range goldLabels() {
			cells := []string{g.Short()}
			for _, n := range y.Confusion[i] {
				cells = append(cells, fmt.Sprint(n))
			}
			l := y.Labels[g]
			mdRow(b, append(cells, plain(l.Recall), plain(l.Precision), plain(l.F1))...)
		}
	}
}

func (s *SetReport) mdShares(b *strings.Builder) {
	b.WriteString("\nLabels, in percent of steps:\n\n")
	head := []string{"system"}
	for _, g := range schema.Gaps() {
		head = append(head, g.Short())
	}
	mdHead(b, head...)
	gold := []string{"gold"}
	for _, g := range goldLabels() {
		gold = append(gold, plain(s.Gold[g].Share))
	}
	mdRow(b, append(gold, "")...)
	for _, y := range s.Systems {
		cells := []string{y.Name}
		for _, g := range schema.Gaps() {
			cells = append(cells, plain(y.Predicted[g].Share))
		}
		mdRow(b, cells...)
	}
}

func (s *SetReport) mdGroups(b *strings.Builder) {
	if len(s.Groups) == 0 {
		return
	}
	b.WriteString("\nGap or none right, in percent, by how the step was made; in brackets the very label right:\n\n")
	head := []string{"made by", "gold", "n"}
	own := s.own()
	for _, y := range own {
		head = append(head, y.Name)
	}
	mdHead(b, head...)
	for _, g := range s.Groups {
		cells := []string{g.Name, g.Gold.Short(), fmt.Sprint(g.N)}
		for _, y := range own {
			cells = append(cells, fmt.Sprintf("%s (%s)", shareOf(g.Caught[y.Name], g.N), shareOf(g.Right[y.Name], g.N)))
		}
		mdRow(b, cells...)
	}
}
