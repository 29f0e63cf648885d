package nlieval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Print writes the report for people.
func (r Report) Print(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "set\tpairs\tmodel\taccuracy\tmacro-F1\taccuracy, stage D\tmacro-F1, stage D\tmajority\thypothesis only\toverlap")
	for _, s := range r.Sets {
		for i, m := range r.Models {
			q := s.Files[m.File]
			name, n, rest := "", "", "\t\t"
			if i == 0 {
				b := s.Baselines
				name, n, rest = s.Name+s.mark(), fmt.Sprint(s.N), fmt.Sprintf("%s\t%s\t%s", percent(b.Majority), percent(b.Hypothesis), percent(b.Overlap))
			}
			fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, n, m.File, q.Alone.Accuracy, q.Alone.MacroF1, q.Stage.Accuracy, q.Stage.MacroF1, rest)
		}
	}
	if len(r.Kinds) > 0 {
		fmt.Fprintf(tab, "\nhand-written, %s\tpairs\tmodel alone\tstage D\n", r.Models[0].File)
		for _, k := range r.Kinds {
			fmt.Fprintf(tab, "%s\t%d\t%s\t%s\n", k.Kind, k.N, share(k.Alone, k.N), share(k.Stage, k.N))
		}
	}
	if err := tab.Flush(); err != nil {
		return fmt.Errorf("printing the figures: %w", err)
	}
	fmt.Fprintln(w, "\nIn percent, with 95 % bootstrap intervals by premise.")
	for _, note := range r.notes() {
		fmt.Fprintln(w, note)
	}
	return nil
}

// Markdown is the report as tables for the model card.
func (r Report) Markdown() string {
	var b strings.Builder
	b.WriteString("| set | pairs | model file | accuracy | macro-F1 | accuracy, stage D | macro-F1, stage D | majority | hypothesis only | overlap |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Sets {
		for i, m := range r.Models {
			q := s.Files[m.File]
			head, rest := "| | |", "| | | |"
			if i == 0 {
				head = fmt.Sprintf("| %s%s (%s) | %d |", s.Name, s.mark(), s.Part, s.N)
				rest = fmt.Sprintf("| %s | %s | %s |", percent(s.Baselines.Majority), percent(s.Baselines.Hypothesis), percent(s.Baselines.Overlap))
			}
			fmt.Fprintf(&b, "%s `%s` | %s | %s | %s | %s %s\n", head, m.File, q.Alone.Accuracy, q.Alone.MacroF1, q.Stage.Accuracy, q.Stage.MacroF1, rest)
		}
	}
	if len(r.Kinds) > 0 {
		fmt.Fprintf(&b, "\nHand-written pairs by kind, `%s`:\n\n| kind | pairs | model alone | stage D |\n|---|---|---|---|\n", r.Models[0].File)
		for _, k := range r.Kinds {
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", k.Kind, k.N, share(k.Alone, k.N), share(k.Stage, k.N))
		}
	}
	for _, note := range r.notes() {
		b.WriteString("\n" + note + "\n")
	}
	return b.String()
}

func (s SetReport) mark() string {
	switch {
	case s.Trained:
		return " ‡"
	case s.TwoWay:
		return " †"
	}
	return ""
}

// notes explain the marks that occur, and what is missing.
func (r Report) notes() []string {
	trained, two := false, false
	for _, s := range r.Sets {
		trained, two = trained || s.Trained, two || s.TwoWay
	}
	var out []string
	if trained {
		out = append(out, "‡ The default model was trained on these pairs: no held-out figure. A neutral answer counts as wrong.")
	}
	if two {
		out = append(out, "† Supported or not (partly supported counts as not); the model alone is asked about pieces of the page, stage D about its windows.")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
		out = append(out, "Not measured: "+name+": "+r.Missing[name])
	}
	return out
}

// String is the figure in percent with its interval.
func (f Figure) String() string {
	return fmt.Sprintf("%.1f (%.1f–%.1f)", 100*f.Value, 100*f.Low, 100*f.High)
}

func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }

func share(n, of int) string { return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(of)) }
