package stepset_test

import (
	"hash/fnv"
	"math"
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

// trivial returns the balanced accuracy, in percent, at telling gaps from none
// that baselines reach which understand nothing. Each is fitted on four fifths
// of the questions and measured on the rest, in turn.
func trivial(set *stepset.Set) map[string]float64 {
	var rows []row
	for it := range set.Items() {
		rows = append(rows, newRow(it))
	}
	out := map[string]float64{}
	for name, f := range map[string]func(row) float64{
		"length of the claim":          func(r row) float64 { return float64(len(r.claim)) },
		"words of the claim":           func(r row) float64 { return float64(len(r.words)) },
		"position":                     func(r row) float64 { return float64(r.index) },
		"number of passages":           func(r row) float64 { return float64(r.passages) },
		"length of the passages":       func(r row) float64 { return float64(r.length) },
		"words in the passages":        func(r row) float64 { return r.overlap },
		"words in one passage":         func(r row) float64 { return r.overlapOne },
		"question's words in passages": func(r row) float64 { return r.overlapQuestion },
	} {
		out[name] = crossed(rows, func(train []row) func(row) bool { return threshold(train, f) })
	}
	out["hypothesis only"] = crossed(rows, func(train []row) func(row) bool {
		return bayes(train, func(r row) []string { return r.words })
	})
	out["words of the step"] = crossed(rows, func(train []row) func(row) bool {
		return bayes(train, func(r row) []string { return r.text })
	})
	return out
}

type row struct {
	gap                                  bool
	fold                                 uint32
	claim                                string
	words, text                          []string
	index, passages, length              int
	overlap, overlapOne, overlapQuestion float64
}

var reWord = regexp.MustCompile(`[\p{L}\p{N}]+`)

func wordsOf(s string) []string { return reWord.FindAllString(strings.ToLower(s), -1) }

func newRow(it stepset.Item) row {
	s := it.Step
	h := fnv.New32a()
	_, _ = h.Write([]byte(it.Rollout.QuestionID))
	r := row{gap: s.Label != schema.GapNone, fold: h.Sum32() % 5, claim: s.Claim, index: it.Index}
	if r.claim == "" {
		r.claim = s.Text
	}
	r.words, r.text = wordsOf(r.claim), wordsOf(s.Text+" "+s.Query)
	question := wordsOf(it.Rollout.Question)
	all := map[string]bool{}
	for _, p := range it.Rollout.Seen(it.Index) {
		r.passages++
		r.length += len(p.Text)
		one := map[string]bool{}
		for _, w := range wordsOf(p.Title + " " + p.Text) {
			one[w], all[w] = true, true
		}
		r.overlapOne = max(r.overlapOne, among(r.words, one))
	}
	r.overlap, r.overlapQuestion = among(r.words, all), among(question, all)
	return r
}

func among(words []string, in map[string]bool) float64 {
	n := 0
	for _, w := range words {
		if in[w] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

// crossed is the balanced accuracy over five folds of questions.
func crossed(rows []row, fit func(train []row) func(row) bool) float64 {
	var right, of [2]float64
	for fold := range uint32(5) {
		var train, test []row
		for _, r := range rows {
			if r.fold == fold {
				test = append(test, r)
			} else {
				train = append(train, r)
			}
		}
		says := fit(train)
		for _, r := range test {
			of[at(r.gap)]++
			if says(r) == r.gap {
				right[at(r.gap)]++
			}
		}
	}
	return 50 * (right[0]/max(1, of[0]) + right[1]/max(1, of[1]))
}

func at(b bool) int {
	if b {
		return 1
	}
	return 0
}

// threshold finds the best cut of a number, in either direction.
func threshold(train []row, f func(row) float64) func(row) bool {
	var best, cut float64
	above := true
	for _, t := range train {
		var gaps, hits, fine, wrong float64
		for _, r := range train {
			over := f(r) >= f(t)
			if r.gap {
				gaps++
				hits += float64(at(over))
			} else {
				fine++
				wrong += float64(at(over))
			}
		}
		ba := (hits/max(1, gaps) + 1 - wrong/max(1, fine)) / 2
		if ba > best {
			best, cut, above = ba, f(t), true
		}
		if 1-ba > best {
			best, cut, above = 1-ba, f(t), false
		}
	}
	return func(r row) bool { return (f(r) >= cut) == above }
}

// bayes is naive Bayes over which words and pairs of words stand in a text.
func bayes(train []row, words func(row) []string) func(row) bool {
	counts := [2]map[string]float64{{}, {}}
	var n [2]float64
	for _, r := range train {
		n[at(r.gap)]++
		for w := range terms(words(r)) {
			counts[at(r.gap)][w]++
		}
	}
	return func(r row) bool {
		score := 0.0
		for w := range terms(words(r)) {
			score += math.Log((counts[1][w]+1)/(n[1]+2)) - math.Log((counts[0][w]+1)/(n[0]+2))
		}
		return score > 0
	}
}

func terms(words []string) map[string]bool {
	out := map[string]bool{}
	for i, w := range words {
		out[w] = true
		if i > 0 {
			out[words[i-1]+" "+w] = true
		}
	}
	return out
}
