package predict

import (
	"fmt"
	"io"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Wrong is a step whose label is not the gold one.
type Wrong struct {
	Question string `json:"question"` // as it was asked
	Step
}

// Wrong lists the scored steps whose label is wrong, those with the gold label
// and prediction given, or all where they are empty.
func (f *File) Wrong(gold, pred schema.Gap) []Wrong {
	out := []Wrong{}
	for _, r := range f.Rollouts {
		for _, s := range r.Steps {
			if s.Gold == "" || s.Pred == s.Gold || gold != "" && s.Gold != gold || pred != "" && s.Pred != pred {
				continue
			}
			out = append(out, Wrong{r.Text, s})
		}
	}
	return out
}

// WriteWrong writes such steps for people.
func WriteWrong(w io.Writer, list []Wrong) error {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s: gold %s, labelled %s by %s", s.Step.Step, s.Gold.Short(), s.Pred.Short(), s.Stage.Letter())
		if s.Group != "" {
			fmt.Fprintf(&b, " (%s)", s.Group)
		}
		b.WriteString("\n")
		for _, part := range []struct{ name, text string }{
			{"question", s.Question}, {"query", s.Query}, {"claim", s.Claim}, {"quote", s.Quote}, {"label", s.Detail}, {"gold", s.Why},
		} {
			if part.text != "" {
				fmt.Fprintf(&b, "  %-9s %s\n", part.name, strings.Join(strings.Fields(part.text), " "))
			}
		}
	}
	fmt.Fprintf(&b, "%d wrong\n", len(list))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("printing what is wrong: %w", err)
	}
	return nil
}
