package calibrate

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// WriteJSON writes the calibration as one JSON object.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes it for people.
func (r *Result) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "by %s\tentailment\tcontradiction\n", r.Objective.Name())
	row := func(name string, th nliworker.Thresholds) {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\n", name, th.Entailment, th.Contradiction)
	}
	row("now", r.Base)
	row("chosen by all questions", r.Chosen)
	for i, f := range r.Folds {
		row(fmt.Sprintf("for fold %d (%d questions)", i+1, f.Questions), f.Chosen)
	}
	fmt.Fprintln(t, "\nquestions that did not choose\tnow\tcross-validated\tdifference")
	for _, name := range slices.Sorted(maps.Keys(r.Sets)) {
		s := r.Sets[name]
		for _, m := range metrics.Main() {
			fmt.Fprintf(t, "%s, %s\t%s\t%s\t%s\n", name, m.Name(), percent(s.Base[m]), percent(s.Cross[m]), points(s.Delta[m]))
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the calibration: %w", err)
	}
	left := 0
	for _, g := range r.Grid {
		if g.Value == nil {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%d of %d pairs of thresholds were left out, as the runs' trails don't say enough of them.\n", left, len(r.Grid))
	return err
}

func percent(e interval.Estimate) string {
	if e.Value == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.1f", 100**e.Value)
}

func points(e interval.Estimate) string {
	if e.Value == nil || e.Low == nil {
		return "n/a"
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100**e.Value, 100**e.Low, 100**e.High)
}
