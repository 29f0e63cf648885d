package evidence

// Weights of a claim's tokens in Relevance: a name says more about what a text
// is about than the words around it, and a number less, since the number is
// what is most often wrong in a claim.
const (
	weightName   = 3.0
	weightWord   = 1.5
	weightNumber = 1.0
	// A window is charged this much of its relevance for each content token
	// beyond the claim's own, so that of two windows that hold the same tokens
	// the tighter one wins.
	lengthCharge = 0.0005
)

// Relevance says how much of what claim is about stands in window: the weighted
// share of the claim's content tokens found there, in [0, 1]. It depends on the
// two strings alone, so text elsewhere can't move it. A claim without content
// has relevance 0 to everything.
func Relevance(window, claim string) float64 {
	return NewQuery(claim).Relevance(window)
}

// Query is a claim prepared for many calls of Relevance.
type Query struct {
	weights map[string]float64
	total   float64
}

// NewQuery prepares claim.
func NewQuery(claim string) Query {
	q := Query{weights: map[string]float64{}}
	for _, w := range Words(claim) {
		if IsStopWord(w.Key) {
			continue
		}
		weight := weightWord
		switch {
		case startsWithDigit(w.Key):
			weight = weightNumber
		case isCapitalised(w.Text) && !isSentenceStarter(w.Text):
			weight = weightName
		}
		stem := Stem(w.Key)
		if weight > q.weights[stem] {
			q.total += weight - q.weights[stem]
			q.weights[stem] = weight
		}
	}
	return q
}

// Relevance is the same as the function of that name.
func (q Query) Relevance(window string) float64 {
	if q.total == 0 {
		return 0
	}
	found := 0.0
	tokens := ContentTokens(window)
	have := setOf(tokens)
	for stem := range have {
		found += q.weights[stem]
	}
	share := found / q.total
	extra := len(have) - len(q.weights)
	if extra > 0 {
		share *= 1 / (1 + lengthCharge*float64(extra))
	}
	return share
}

func setOf(tokens []string) map[string]bool {
	set := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		set[t] = true
	}
	return set
}
