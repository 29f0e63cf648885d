package metrics

import "github.com/stepgap/stepgap/pkg/schema"

// Scores are those of one class.
type Scores struct {
	Precision Value `json:"precision"`
	Recall    Value `json:"recall"`
	F1        Value `json:"f1"`
	// Gold and Predicted are how many steps (or questions) have the class.
	Gold      int `json:"gold"`
	Predicted int `json:"predicted"`
}

func (h hits) scores() Scores {
	return Scores{Precision: h.precision(), Recall: h.recall(), F1: h.f1(), Gold: h.gold, Predicted: h.predicted}
}

// Summary is everything that is known of a system on a set, without intervals.
type Summary struct {
	Steps     int `json:"steps"`
	Questions int `json:"questions"`
	Ungraded  int `json:"ungraded"`
	// Coverage is the share of steps that were graded.
	Coverage Value `json:"coverage"`
	// Gap are the scores of the class gap over steps, Question those over
	// questions.
	Gap      Scores `json:"gap"`
	Question Scores `json:"question"`
	BA       Value  `json:"ba"`
	Kappa    Value  `json:"kappa"`
	MacroF1  Value  `json:"macro_f1"`
	Accuracy Value  `json:"accuracy"`
	// Labels are the scores of each of the four labels.
	Labels map[schema.Gap]Scores `json:"labels"`
	// Confusion has a row for each gold label and a column for each prediction,
	// both in the order of schema.Gaps; the last column is ungraded.
	Confusion [Labels][Labels + 1]int `json:"confusion"`
	// Gold and Predicted are the distributions of labels.
	Gold      map[schema.Gap]Part `json:"gold"`
	Predicted map[schema.Gap]Part `json:"predicted"`
}

// Part is a count and its share of all steps.
type Part struct {
	N     int   `json:"n"`
	Share Value `json:"share"`
}

// Summarise computes all metrics of a Tally.
func Summarise(t *Tally) Summary {
	s := Summary{
		Steps: t.All(), Ungraded: t.Ungraded(), Coverage: Coverage.Of(t),
		Gap: t.gap().scores(), Question: t.question().scores(),
		BA: BalancedAccuracy.Of(t), Kappa: Kappa.Of(t), MacroF1: MacroF1.Of(t), Accuracy: Accuracy.Of(t),
		Labels: map[schema.Gap]Scores{}, Confusion: t.Steps,
		Gold: map[schema.Gap]Part{}, Predicted: map[schema.Gap]Part{},
	}
	for _, row := range t.Questions {
		s.Questions += row[0] + row[1]
	}
	for _, g := range schema.Gaps() {
		s.Predicted[g] = t.part(t.predicted(column(g)))
		if g.Graded() {
			s.Labels[g] = t.label(row(g)).scores()
			s.Gold[g] = t.part(t.gold(row(g)))
		}
	}
	return s
}

func (t *Tally) part(n int) Part {
	if t.All() == 0 {
		return Part{Share: undefined(Empty)}
	}
	return Part{N: n, Share: share(n, t.All())}
}
