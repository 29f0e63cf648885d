package baseline

import (
	"cmp"
	"math"
	"slices"

	"github.com/stepgap/stepgap/pkg/schema"
)

// commonest is the most frequent label of those that ok lets through, the
// first in the order of labels where several are; none where there is none.
func commonest(train []example, ok func(example) bool) schema.Gap {
	count := map[schema.Gap]int{}
	for _, e := range train {
		if ok(e) {
			count[e.gold]++
		}
	}
	best := schema.GapNone
	for _, g := range schema.Gaps() {
		if count[g] > count[best] {
			best = g
		}
	}
	return best
}

// stump cuts a number where that tells gaps from none best, by balanced
// accuracy, and gives either side its commonest label of that class.
func stump(train []example, number func(example) float64) func(example) schema.Gap {
	sorted := slices.Clone(train)
	slices.SortStableFunc(sorted, func(a, b example) int { return cmp.Compare(number(a), number(b)) })
	gaps, fine := 0, 0
	for _, e := range sorted {
		if e.gold == schema.GapNone {
			fine++
		} else {
			gaps++
		}
	}
	if gaps == 0 || fine == 0 {
		only := commonest(train, func(example) bool { return true })
		return func(example) schema.Gap { return only }
	}
	// Below the cut lie gapsBelow and fineBelow; the best of both directions.
	best, cut, gapAbove := 0.5, math.Inf(-1), true
	gapsBelow, fineBelow := 0, 0
	for i, e := range sorted {
		if i > 0 && number(e) != number(sorted[i-1]) {
			above := (float64(gaps-gapsBelow)/float64(gaps) + float64(fineBelow)/float64(fine)) / 2
			if above > best {
				best, cut, gapAbove = above, number(e), true
			}
			if 1-above > best {
				best, cut, gapAbove = 1-above, number(e), false
			}
		}
		if e.gold == schema.GapNone {
			fineBelow++
		} else {
			gapsBelow++
		}
	}
	isGap := func(e example) bool { return (number(e) >= cut) == gapAbove }
	gap := commonest(train, func(e example) bool { return e.gold != schema.GapNone && isGap(e) })
	if gap == schema.GapNone { // none of them on that side
		gap = commonest(train, func(e example) bool { return e.gold != schema.GapNone })
	}
	return func(e example) schema.Gap {
		if isGap(e) {
			return gap
		}
		return schema.GapNone
	}
}

// bayes is naive Bayes over which words and pairs of words stand in the claim:
// first gap or none, both as likely, then which gap.
func bayes(train []example) func(example) schema.Gap {
	class := func(of func(schema.Gap) bool) terms {
		t := terms{count: map[string]float64{}}
		for _, e := range train {
			if of(e.gold) {
				t.add(e.words)
			}
		}
		return t
	}
	is := func(g schema.Gap) func(schema.Gap) bool { return func(x schema.Gap) bool { return x == g } }
	fine, gap := class(is(schema.GapNone)), class(func(g schema.Gap) bool { return g != schema.GapNone })
	var kinds []schema.Gap
	var each []terms
	for _, g := range schema.Gaps() {
		if t := class(is(g)); g != schema.GapNone && t.n > 0 {
			kinds, each = append(kinds, g), append(each, t)
		}
	}
	return func(e example) schema.Gap {
		found := distinct(e.words)
		if len(kinds) == 0 || gap.score(found) <= fine.score(found) {
			return schema.GapNone
		}
		best := 0
		for k := range kinds {
			if each[k].score(found) > each[best].score(found) {
				best = k
			}
		}
		return kinds[best]
	}
}

// terms counts the texts that a term stands in.
type terms struct {
	count map[string]float64
	n     float64
}

func (t *terms) add(words []string) {
	t.n++
	for _, w := range distinct(words) {
		t.count[w]++
	}
}

// score is the log likelihood of terms, smoothed.
func (t *terms) score(found []string) float64 {
	sum := 0.0
	for _, w := range found {
		sum += math.Log((t.count[w] + 1) / (t.n + 2))
	}
	return sum
}

// distinct lists words and pairs of neighbours, each once, in order.
func distinct(words []string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(term string) {
		if !seen[term] {
			seen[term] = true
			out = append(out, term)
		}
	}
	for i, w := range words {
		add(w)
		if i > 0 {
			add(words[i-1] + " " + w)
		}
	}
	return out
}
