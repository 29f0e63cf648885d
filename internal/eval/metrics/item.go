package metrics

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Item is one scored step.
type Item struct {
	// Question is the id of the step's question, by which steps are clustered.
	Question string `json:"question"`
	// Step is the step's id, unique in its set.
	Step string `json:"step"`
	// Gold is none, contradicted_claim, irrelevant_evidence or missing_bridge.
	Gold schema.Gap `json:"gold"`
	// Pred is one of the same, or ungraded.
	Pred schema.Gap `json:"pred"`
}

// check returns what is wrong with an item.
func (it Item) check() error {
	switch {
	case it.Step == "":
		return fmt.Errorf("a step of question %q has no id", it.Question)
	case it.Question == "":
		return fmt.Errorf("step %q names no question", it.Step)
	case !it.Gold.Graded():
		return fmt.Errorf("step %q has the gold label %q; it must be one of none, contradicted_claim, irrelevant_evidence, missing_bridge", it.Step, it.Gold)
	case !it.Pred.Valid():
		return fmt.Errorf("step %q has the prediction %q, which is no label", it.Step, it.Pred)
	}
	return nil
}

// Sample is what a system made of a set, question by question.
type Sample struct {
	// Questions are the ids of the questions, sorted.
	Questions []string
	// Tallies are the counts of each question, in the same order.
	Tallies []Tally
}

// NewSample counts items. The order of items does not matter. It refuses an
// item that is not valid and a step that stands twice.
func NewSample(items []Item) (Sample, error) {
	byQuestion := make(map[string]*Tally)
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		if err := it.check(); err != nil {
			return Sample{}, err
		}
		if seen[it.Step] {
			return Sample{}, fmt.Errorf("step %q stands twice", it.Step)
		}
		seen[it.Step] = true
		t := byQuestion[it.Question]
		if t == nil {
			t = &Tally{}
			byQuestion[it.Question] = t
		}
		t.Steps[row(it.Gold)][column(it.Pred)]++
	}
	s := Sample{Questions: slices.Sorted(maps.Keys(byQuestion))}
	for _, q := range s.Questions {
		t := byQuestion[q]
		t.Questions[bit(t.goldGaps() > 0)][bit(t.predictedGaps() > 0)] = 1
		s.Tallies = append(s.Tallies, *t)
	}
	return s, nil
}

// Total is the sum of all questions.
func (s Sample) Total() Tally {
	var total Tally
	for i := range s.Tallies {
		total.Add(&s.Tallies[i])
	}
	return total
}

// Paired reports an error unless a and b are about the same steps with the same
// gold labels, which a paired comparison takes.
func Paired(a, b []Item) error {
	gold := make(map[string]Item, len(a))
	for _, it := range a {
		gold[it.Step] = it
	}
	for _, it := range b {
		other, ok := gold[it.Step]
		switch {
		case !ok:
			return fmt.Errorf("step %q of the second system was not judged by the first, so the two can't be compared in pairs", it.Step)
		case other.Gold != it.Gold || other.Question != it.Question:
			return fmt.Errorf("step %q is %s of question %q to the first system and %s of question %q to the second, so they were measured on different sets", it.Step, other.Gold, other.Question, it.Gold, it.Question)
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("the first system judged %d steps and the second %d, so the two can't be compared in pairs", len(a), len(b))
	}
	return nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
