package check

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/stepgap/stepgap/pkg/schema"
)

//go:embed page.html
var pageText string

// Page is the HTML report of a check: one file, no scripts from elsewhere.
type Page struct {
	Summary Summary
	Results []*Result
}

// Write renders the page.
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"gaps":    schema.Gaps,
		"windows": windows, "near": near, "scores": scores,
		"percent": func(n, of int) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(of, 1))) },
		"signed": func(v *float64) string {
			if v == nil {
				return "–"
			}
			return fmt.Sprintf("%+.3f", *v)
		},
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("reading the report's template: %w", err)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
