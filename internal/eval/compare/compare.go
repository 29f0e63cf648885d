// Package compare holds two systems' predictions of the same steps against each
// other, in pairs.
package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Row is one metric of both and their difference.
type Row struct {
	Metric metrics.Metric    `json:"metric"`
	A      interval.Estimate `json:"a"`
	B      interval.Estimate `json:"b"`
	// Delta is B less A.
	Delta interval.Estimate `json:"delta"`
}

// Difference is a step that the two label differently.
type Difference struct {
	Step  string     `json:"step"`
	Group string     `json:"group,omitempty"`
	Gold  schema.Gap `json:"gold"`
	A     schema.Gap `json:"a"`
	B     schema.Gap `json:"b"`
	// WhyA and WhyB are the systems' sentences.
	WhyA string `json:"why_a,omitempty"`
	WhyB string `json:"why_b,omitempty"`
}

// Result is a comparison.
type Result struct {
	Set  string `json:"set"`
	A    string `json:"a"`
	B    string `json:"b"`
	N    int    `json:"steps"`
	Rows []Row  `json:"metrics"`
	// Both, OnlyA, OnlyB and Neither count steps whose label is right.
	Both        int          `json:"both_right"`
	OnlyA       int          `json:"only_a_right"`
	OnlyB       int          `json:"only_b_right"`
	Neither     int          `json:"neither_right"`
	Differences []Difference `json:"differences"`
}

// Of compares two files of predictions of the same steps.
func Of(ctx context.Context, a, b *predict.File, o interval.Options) (*Result, error) {
	itemsA, itemsB := a.Items(), b.Items()
	if err := metrics.Paired(itemsA, itemsB); err != nil {
		return nil, err
	}
	sampleA, err := metrics.NewSample(itemsA)
	if err != nil {
		return nil, err
	}
	sampleB, err := metrics.NewSample(itemsB)
	if err != nil {
		return nil, err
	}
	list := metrics.All()
	ofA, err := interval.Of(ctx, sampleA, list, o)
	if err != nil {
		return nil, err
	}
	ofB, err := interval.Of(ctx, sampleB, list, o)
	if err != nil {
		return nil, err
	}
	delta, err := interval.Difference(ctx, sampleA, sampleB, list, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Set: a.Set, A: a.System, B: b.System, N: len(itemsA)}
	if r.A == r.B { // two runs of one system
		r.A, r.B = r.A+" (1)", r.B+" (2)"
	}
	for _, m := range list {
		r.Rows = append(r.Rows, Row{m, ofA[m], ofB[m], delta[m]})
	}
	r.count(a, b)
	return r, nil
}

func (r *Result) count(a, b *predict.File) {
	other := map[string]predict.Step{}
	for _, p := range b.Rollouts {
		for _, s := range p.Steps {
			other[s.Step] = s
		}
	}
	for _, p := range a.Rollouts {
		for _, x := range p.Steps {
			if x.Gold == "" {
				continue
			}
			y := other[x.Step]
			switch rightA, rightB := x.Pred == x.Gold, y.Pred == x.Gold; {
			case rightA && rightB:
				r.Both++
			case rightA:
				r.OnlyA++
			case rightB:
				r.OnlyB++
			default:
				r.Neither++
			}
			if x.Pred != y.Pred {
				r.Differences = append(r.Differences, Difference{x.Step, x.Group, x.Gold, x.Pred, y.Pred, x.Detail, y.Detail})
			}
		}
	}
	slices.SortStableFunc(r.Differences, func(a, b Difference) int { return strings.Compare(a.Step, b.Step) })
}

// WriteJSON writes the comparison as one JSON object.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes it for people; each lists the steps that differ.
func (r *Result) WriteText(w io.Writer, each bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d steps\n\n", r.Set, r.N)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s\t%s\tdifference\n", r.A, r.B)
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row.Metric.Name(), percent(row.A), percent(row.B), points(row.Delta))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the comparison: %w", err)
	}
	fmt.Fprintf(&b, "\nlabel right: both %d, only %s %d, only %s %d, neither %d; %d labels differ\n",
		r.Both, r.A, r.OnlyA, r.B, r.OnlyB, r.Neither, len(r.Differences))
	if each {
		for _, d := range r.Differences {
			fmt.Fprintf(&b, "\n%s gold %s: %s %s, %s %s", d.Step, d.Gold.Short(), r.A, d.A.Short(), r.B, d.B.Short())
			if d.Group != "" {
				fmt.Fprintf(&b, " (%s)", d.Group)
			}
			for _, why := range []struct{ who, text string }{{r.A, d.WhyA}, {r.B, d.WhyB}} {
				if why.text != "" {
					fmt.Fprintf(&b, "\n  %s: %s", why.who, why.text)
				}
			}
			b.WriteString("\n")
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("printing the comparison: %w", err)
	}
	return nil
}

func percent(e interval.Estimate) string {
	if e.Value == nil {
		return "n/a (" + string(e.Reason) + ")"
	}
	return fmt.Sprintf("%.1f", 100**e.Value)
}

func points(e interval.Estimate) string {
	switch {
	case e.Value == nil:
		return "n/a"
	case e.Low == nil:
		return fmt.Sprintf("%+.1f", 100**e.Value)
	}
	s := fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100**e.Value, 100**e.Low, 100**e.High)
	if e.Above(0) || e.Below(0) {
		s += " *"
	}
	return s
}
