// Package baseline holds judges that understand nothing: they know how long a
// claim is, where its step stands, how many of its words the passages have, or
// which words it uses. A set that they can label is no test of judges.
//
// Each is fitted on four fifths of the questions and judges the rest, in turn,
// so that it never sees a question that it judges.
package baseline

import (
	"hash/fnv"
	"strings"
	"unicode"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

// folds is how many parts the questions are divided into.
const folds = 5

// Baseline is one of them.
type Baseline struct {
	Name, About string
	fit         func(train []example) func(example) schema.Gap
}

// All lists the baselines.
func All() []Baseline {
	by := func(number func(example) float64) func([]example) func(example) schema.Gap {
		return func(train []example) func(example) schema.Gap { return stump(train, number) }
	}
	return []Baseline{
		{"length", "a cut of the claim's length in words", by(func(e example) float64 { return float64(len(e.words)) })},
		{"position", "a cut of the step's index", by(func(e example) float64 { return float64(e.index) })},
		{"word-overlap", "a cut of the share of the claim's words that stand in the passages", by(func(e example) float64 { return e.overlap })},
		{"hypothesis-only", "naive Bayes over words and pairs of words of the claim alone", bayes},
	}
}

// example is what a baseline may look at.
type example struct {
	gold    schema.Gap
	fold    uint32
	words   []string // of the claim, or of the text where there is none
	index   int
	overlap float64
}

// Items are the baseline's predictions of all scored steps of a set.
func (b Baseline) Items(set *stepset.Set) []metrics.Item {
	var examples []example
	var items []metrics.Item
	for it := range set.Items() {
		examples = append(examples, read(it))
		items = append(items, metrics.Item{Question: it.Rollout.QuestionID, Step: it.ID, Gold: it.Step.Label})
	}
	for fold := range uint32(folds) {
		var train []example
		for _, e := range examples {
			if e.fold != fold {
				train = append(train, e)
			}
		}
		says := b.fit(train)
		for i, e := range examples {
			if e.fold == fold {
				items[i].Pred = says(e)
			}
		}
	}
	return items
}

// read takes from a step what baselines look at.
func read(it stepset.Item) example {
	h := fnv.New32a()
	_, _ = h.Write([]byte(it.Rollout.QuestionID)) // never fails
	e := example{gold: it.Step.Label, fold: h.Sum32() % folds, index: it.Index}
	claim := it.Step.Claim
	if claim == "" {
		claim = it.Step.Text
	}
	e.words = words(claim)
	seen := map[string]bool{}
	for _, p := range it.Rollout.Seen(it.Index) {
		for _, w := range words(p.Title + " " + p.Text) {
			seen[w] = true
		}
	}
	n := 0
	for _, w := range e.words {
		if seen[w] {
			n++
		}
	}
	e.overlap = float64(n) / float64(max(1, len(e.words)))
	return e
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
