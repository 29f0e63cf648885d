package metrics

import "github.com/stepgap/stepgap/pkg/schema"

// Labels is how many labels a step can truly have; predictions have one more,
// ungraded.
const Labels = 4

// Tally counts steps and questions. The zero value counts nothing.
type Tally struct {
	// Steps is the confusion matrix: rows are gold labels, columns predictions,
	// in the order of schema.Gaps; the last column is ungraded.
	Steps [Labels][Labels + 1]int
	// Questions counts questions by whether a gold step is a gap (1) or none is
	// (0), and by whether a step is predicted to be one.
	Questions [2][2]int
}

// row is the row of a gold label.
func row(g schema.Gap) int { return column(g) }

// column is the column of a prediction.
func column(g schema.Gap) int {
	switch g {
	case schema.GapNone:
		return 0
	case schema.GapContradicted:
		return 1
	case schema.GapIrrelevant:
		return 2
	case schema.GapMissingBridge:
		return 3
	default:
		return Labels
	}
}

// Add adds o's counts.
func (t *Tally) Add(o *Tally) {
	for r := range t.Steps {
		for c := range t.Steps[r] {
			t.Steps[r][c] += o.Steps[r][c]
		}
	}
	for r := range t.Questions {
		for c := range t.Questions[r] {
			t.Questions[r][c] += o.Questions[r][c]
		}
	}
}

// Sub takes o's counts away again.
func (t *Tally) Sub(o *Tally) {
	for r := range t.Steps {
		for c := range t.Steps[r] {
			t.Steps[r][c] -= o.Steps[r][c]
		}
	}
	for r := range t.Questions {
		for c := range t.Questions[r] {
			t.Questions[r][c] -= o.Questions[r][c]
		}
	}
}

// All is the number of steps.
func (t *Tally) All() int {
	n := 0
	for r := range t.Steps {
		n += t.gold(r)
	}
	return n
}

// Ungraded is the number of steps without a prediction.
func (t *Tally) Ungraded() int { return t.predicted(Labels) }

// gold is the number of steps of a row.
func (t *Tally) gold(r int) int {
	n := 0
	for _, c := range t.Steps[r] {
		n += c
	}
	return n
}

// predicted is the number of steps of a column.
func (t *Tally) predicted(c int) int {
	n := 0
	for r := range t.Steps {
		n += t.Steps[r][c]
	}
	return n
}

func (t *Tally) goldGaps() int { return t.gold(1) + t.gold(2) + t.gold(3) }

func (t *Tally) predictedGaps() int { return t.predicted(1) + t.predicted(2) + t.predicted(3) }

// caught is the number of gaps that are predicted to be some gap.
func (t *Tally) caught() int {
	n := 0
	for r := 1; r < Labels; r++ {
		for c := 1; c < Labels; c++ {
			n += t.Steps[r][c]
		}
	}
	return n
}

// hits are the outcomes of one class.
type hits struct {
	right     int // of the class and predicted so
	gold      int // of the class
	predicted int // predicted so
}

func (t *Tally) label(l int) hits { return hits{t.Steps[l][l], t.gold(l), t.predicted(l)} }

func (t *Tally) gap() hits { return hits{t.caught(), t.goldGaps(), t.predictedGaps()} }

func (t *Tally) question() hits {
	q := t.Questions
	return hits{q[1][1], q[1][0] + q[1][1], q[0][1] + q[1][1]}
}

func (h hits) precision() Value {
	if h.predicted == 0 {
		return undefined(NeverPredicted)
	}
	return share(h.right, h.predicted)
}

func (h hits) recall() Value {
	if h.gold == 0 {
		return undefined(NotInGold)
	}
	return share(h.right, h.gold)
}

func (h hits) f1() Value {
	if h.gold+h.predicted == 0 {
		return undefined(Absent)
	}
	return share(2*h.right, h.gold+h.predicted)
}
