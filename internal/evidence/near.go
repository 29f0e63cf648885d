package evidence

import (
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Bounds of a near match.
const (
	nearMinTokens = 4       // shorter quotes must be exact or folded
	nearMaxTokens = 160     // longer ones are no quotes but passages
	nearMaxCells  = 8 << 20 // of the alignment over all passages together
	nearShare     = 0.2     // tokens that may differ
)

// locateNear finds the stretch of a passage that comes closest to quote, by
// tokens. What differs must carry no negation, number, date or name, and the
// result is the passage's own text, never the quote's.
func locateNear(passages []schema.Passage, quote string) (schema.Quote, bool) {
	want := Words(quote)
	if len(want) < nearMinTokens || len(want) > nearMaxTokens {
		return schema.Quote{}, false
	}
	var (
		best     schema.Quote
		bestCost = int(nearShare*float64(len(want))) + 1
		cells    = 0
	)
	for _, p := range passages {
		if !readable(p) {
			continue
		}
		have := Words(p.Text)
		if cells += len(have) * len(want); cells > nearMaxCells {
			break
		}
		a, ok := align(want, have)
		if !ok || a.cost >= bestCost || !a.harmless(want, have) {
			continue
		}
		span := Span{have[a.from].Start, have[a.to-1].End}
		span.End = keepStop(p.Text, span.End)
		if cuts(p.Text, span.Start) || cuts(p.Text, span.End) {
			continue
		}
		best, bestCost = QuoteAt(p, span, schema.MatchNear), a.cost
	}
	return best, best.Text != ""
}

// keepStop takes a sentence's full stop in.
func keepStop(text string, end int) int {
	if end < len(text) && isStopByte(text[end]) && !cuts(text, end+1) {
		return end + 1
	}
	return end
}

// alignment says which tokens of a passage, [from, to), a quote stands for,
// and which tokens on either side have no equal.
type alignment struct {
	from, to    int
	cost        int
	extraWanted []int // indices into the quote's tokens
	extraHave   []int // indices into the passage's tokens
}

// align finds the cheapest alignment of all of want with a stretch of have,
// each missing, added or exchanged token costing 1.
func align(want, have []Token) (alignment, bool) {
	n, m := len(want), len(have)
	if n == 0 || m == 0 {
		return alignment{}, false
	}
	const (
		diagonal = iota
		up
		left
	)
	cost := make([]int, m+1)
	step := make([]byte, (n+1)*(m+1))
	for i := 1; i <= n; i++ {
		corner := cost[0]
		cost[0] = i
		step[i*(m+1)] = up
		for j := 1; j <= m; j++ {
			c, s := corner, byte(diagonal)
			if want[i-1].Key != have[j-1].Key {
				c++
			}
			if cost[j]+1 < c {
				c, s = cost[j]+1, up
			}
			if cost[j-1]+1 < c {
				c, s = cost[j-1]+1, left
			}
			corner, cost[j] = cost[j], c
			step[i*(m+1)+j] = s
		}
	}
	a := alignment{to: 0, cost: n + 1}
	for j := 1; j <= m; j++ {
		if cost[j] < a.cost {
			a.cost, a.to = cost[j], j
		}
	}
	j := a.to
	for i := n; i > 0; {
		switch step[i*(m+1)+j] {
		case diagonal:
			i, j = i-1, j-1
			if want[i].Key != have[j].Key {
				a.extraWanted = append(a.extraWanted, i)
				a.extraHave = append(a.extraHave, j)
			}
		case up:
			i--
			a.extraWanted = append(a.extraWanted, i)
		default:
			j--
			a.extraHave = append(a.extraHave, j)
		}
	}
	a.from = j
	return a, a.from < a.to
}

// harmless reports whether nothing that differs changes what is said: no
// negation, number, date or name, on either side.
func (a alignment) harmless(want, have []Token) bool {
	for _, i := range a.extraWanted {
		if weighty(want, i) {
			return false
		}
	}
	for _, j := range a.extraHave {
		if weighty(have, j) {
			return false
		}
	}
	return true
}

// weighty reports whether a token is a negation, number, date or name.
func weighty(words []Token, i int) bool {
	w := words[i]
	switch {
	case IsNegation(w.Key) || strings.HasSuffix(w.Key, "n't"):
		return true
	case strings.ContainsAny(w.Key, "0123456789"):
		return true
	case monthNumber(w.Key) > 0, isWeekday(w.Key), scaleOf(w.Key) > 0:
		return true
	case isCaseless(w.Text):
		return true
	case isCapitalised(w.Text):
		return !isSentenceStarter(w.Text) && !IsStopWord(w.Key)
	}
	_, ordinal := wordNumber(w.Key)
	value, _ := wordNumber(w.Key)
	return ordinal || value > 0 || w.Key == "zero"
}
