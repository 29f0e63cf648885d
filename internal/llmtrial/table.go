package llmtrial

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Markdown writes a report as the tables that stand in the documentation.
func Markdown(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, model `%s`, temperature 0, each item through `stepgap serve`.\n\n", r.Date, r.Model)
	b.WriteString("| | prompt | right | best constant answer | local judge | not reached | errors | confidence right / wrong | flips | padding flips |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Stages {
		fmt.Fprintf(&b, "| %s | `%s` | %d of %d | %d | %d | %d | %d | %s / %s | %s | %s |\n", s.Stage.Letter(), s.Prompt, s.Right, s.Items,
			s.Constant, s.Local, s.Items-s.Reached, s.Errors, number(s.ConfidenceRight, 2), number(s.ConfidenceWrong, 2), flips(s.Flips), flips(s.PaddingFlips))
	}
	b.WriteString("\n| | calls | p50 s | max s | load | tokens in | of these cached | tokens out | cost |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Stages {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %d | %d | %d | %s |\n", s.Stage.Letter(), s.Calls, number(s.P50Seconds, 1), number(s.MaxSeconds, 1),
			number(s.Load, 1), s.Tokens.In, s.Tokens.Cached, s.Tokens.Out, price(s.Cost))
	}
	if wrong := wrongOnes(r.Stages); wrong != "" {
		b.WriteString("\nWrong ones: " + wrong + ".\n")
	}
	for _, s := range r.Stages {
		if s.Stage == schema.StageEntity {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %d quotes in its labels, %d from outside the passages.", s.Stage.Letter(), s.Quotes, s.Outside)
		if s.RelevanceRight != nil {
			fmt.Fprintf(&b, " Relevance alone: %d of %d right.", *s.RelevanceRight, s.Items)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func wrongOnes(stages []StageReport) string {
	var all []string
	for _, s := range stages {
		var names []string
		for _, c := range s.Cases {
			if !c.Right {
				names = append(names, "*"+c.Name+"*")
			}
		}
		if len(names) > 0 {
			all = append(all, s.Stage.Letter()+" "+strings.Join(names, ", "))
		}
	}
	return strings.Join(all, "; ")
}

func share(right, items int) string {
	if items == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", right, items)
}

func flips(f *Flips) string {
	if f == nil {
		return "-"
	}
	said := share(len(f.Differ), f.Pairs)
	if f.Cached > 0 {
		said += fmt.Sprintf(" (%d cached)", f.Cached)
	}
	return said
}

func number(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

func price(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}

// Passed says what a trial may not show: an item without a verdict, a quote
// from outside the evidence, a stage no better than the best constant answer.
func Passed(r Report) error {
	var faults []error
	for _, s := range r.Stages {
		if s.Errors > 0 {
			faults = append(faults, fmt.Errorf("%s: %d items got no verdict", s.Stage, s.Errors))
		}
		if s.Outside > 0 {
			faults = append(faults, fmt.Errorf("%s: %d quotes come from outside the evidence", s.Stage, s.Outside))
		}
		if s.Right <= s.Constant {
			faults = append(faults, fmt.Errorf("%s: %d of %d right; always giving the best constant answer gets %d", s.Stage, s.Right, s.Items, s.Constant))
		}
	}
	return errors.Join(faults...)
}
