package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

//go:embed page.html
var pageText string

// WriteHTML writes the report as one page that needs nothing else: styles and
// plots stand in it, and it has no script.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"gaps": schema.Gaps, "goldgaps": goldLabels, "main": metrics.Main, "ablated": ablated,
		"whole": whole, "signed": signed, "plain": plain, "shareof": shareOf,
		"trap": func(m metrics.Metric, y SystemReport) bool { return m == metrics.QF1 && y.Trap },
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("reading the report's template: %w", err)
	}
	type view struct {
		*SetReport
		Own       []SystemReport
		Intervals []Whiskers
		Deltas    []Whiskers
		Matrices  []Matrix
		Bars      Bars
	}
	page := struct {
		Sets  []view
		Notes []string
	}{Notes: r.notes()}
	for i := range r.Sets {
		s := &r.Sets[i]
		page.Sets = append(page.Sets, view{s, s.own(), s.intervals(), s.deltas(), s.matrices(), s.shares()})
	}
	if err := t.Execute(w, page); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
