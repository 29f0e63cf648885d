package nlieval

import (
	"crypto/sha256"
	"math"

	"github.com/stepgap/stepgap/internal/evidence"
)

// Baselines are accuracies that need no NLI model. The last two are trained on
// four fifths of the set's own premises and tested on the fifth, in turn: they
// know the set better than the model, which saw none of it.
type Baselines struct {
	// Majority always gives the set's most frequent label.
	Majority float64 `json:"majority"`
	// Hypothesis reads the hypothesis alone (naive Bayes over its words and
	// pairs of words): what the set gives away without its premises.
	Hypothesis float64 `json:"hypothesis_only"`
	// Overlap reads how many of the hypothesis's words stand in the premise,
	// and whether one of the two denies.
	Overlap float64 `json:"overlap"`
}

const folds = 5

func baselines(pairs []Pair) Baselines {
	hypothesis, overlap := 0, 0
	for fold := range folds {
		var words bayes
		var bins [overlapBins]tally
		var all tally
		for _, p := range pairs {
			if foldOf(p) != fold {
				words.learn(p)
				bins[overlapBin(p)][p.Label]++
				all[p.Label]++
			}
		}
		for _, p := range pairs {
			if foldOf(p) != fold {
				continue
			}
			if words.predict(p) == p.Label {
				hypothesis++
			}
			bin := bins[overlapBin(p)]
			if bin == (tally{}) {
				bin = all
			}
			if bin.most() == p.Label {
				overlap++
			}
		}
	}
	var all tally
	for _, p := range pairs {
		all[p.Label]++
	}
	n := float64(len(pairs))
	return Baselines{
		Majority:   float64(all[all.most()]) / n,
		Hypothesis: float64(hypothesis) / n,
		Overlap:    float64(overlap) / n,
	}
}

// foldOf keeps the pairs of a premise together.
func foldOf(p Pair) int {
	sum := sha256.Sum256([]byte(p.Premise))
	return int(sum[0]) % folds
}

// tally counts labels.
type tally [labels]int

func (t tally) most() Label {
	best := Entailment
	for l, n := range t {
		if n > t[best] {
			best = Label(l)
		}
	}
	return best
}

const (
	overlapSteps = 10
	overlapBins  = 2 * (overlapSteps + 1)
)

// overlapBin is the share of the hypothesis's content words that the premise
// holds, in tenths, and whether just one of the two denies.
func overlapBin(p Pair) int {
	have := make(map[string]bool)
	for _, w := range evidence.ContentTokens(p.Premise) {
		have[w] = true
	}
	words, found := evidence.ContentTokens(p.Hypothesis), 0
	for _, w := range words {
		if have[w] {
			found++
		}
	}
	bin := 0
	if len(words) > 0 {
		bin = found * overlapSteps / len(words)
	}
	if evidence.Negated(p.Premise) != evidence.Negated(p.Hypothesis) {
		bin += overlapSteps + 1
	}
	return bin
}

// bayes is a multinomial naive Bayes classifier with add-one smoothing.
type bayes struct {
	counts map[string]*tally
	total  tally
	pairs  tally
}

func (b *bayes) learn(p Pair) {
	if b.counts == nil {
		b.counts = make(map[string]*tally)
	}
	b.pairs[p.Label]++
	for _, f := range features(p.Hypothesis) {
		if b.counts[f] == nil {
			b.counts[f] = new(tally)
		}
		b.counts[f][p.Label]++
		b.total[p.Label]++
	}
}

func (b *bayes) predict(p Pair) Label {
	best, top := Entailment, math.Inf(-1)
	found := features(p.Hypothesis)
	for l := range labels {
		if b.pairs[l] == 0 {
			continue
		}
		sum := math.Log(float64(b.pairs[l]))
		for _, f := range found {
			n := 0
			if t := b.counts[f]; t != nil {
				n = t[l]
			}
			sum += math.Log(float64(n+1) / float64(b.total[l]+len(b.counts)+1))
		}
		if sum > top {
			best, top = Label(l), sum
		}
	}
	return best
}

// features are a text's words and pairs of neighbouring words.
func features(text string) []string {
	var out []string
	previous := "^"
	for _, w := range evidence.Words(text) {
		out = append(out, w.Key, previous+" "+w.Key)
		previous = w.Key
	}
	return append(out, previous+" $")
}
