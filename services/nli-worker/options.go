package nliworker

import (
	"fmt"

	"github.com/stepgap/stepgap/internal/nli"
)

// Options are what D and E decide by. They are part of a run's pinned
// configuration.
type Options struct {
	// Contradiction and Entailment are the least probabilities that count as
	// such, in (0, 1].
	Contradiction float64 `json:"contradiction"`
	Entailment    float64 `json:"entailment"`
	// Epsilon: where a score that decides, or would have, is this near to its
	// threshold, the trail is flagged near_threshold.
	Epsilon float64 `json:"epsilon"`
	// PremiseTokens bounds a premise, in the model's tokens. A pair never has
	// more tokens than the model takes, whatever this says.
	PremiseTokens int `json:"premise_tokens"`
	// Windows is how many windows beside the deciding one may entail a
	// sentence of the claim.
	Windows int `json:"windows"`
	// QuoteMargin: another window replaces the quote as the one that decides a
	// sentence of a longer claim if it is more relevant by this much, in
	// [0, 1].
	QuoteMargin float64 `json:"quote_margin"`
	// Related is the least relevance at which a neighbouring sentence joins a
	// window, or another window is looked at.
	Related float64 `json:"related"`
	// Guard turns the deterministic checks on.
	Guard bool `json:"guard"`
}

// Epsilons of models that compute in fp32, and of quantised ones, whose scores
// depend on the batch that a pair shares.
const (
	epsilon          = 0.02
	epsilonQuantised = 0.05
)

// EpsilonOf is the epsilon that was configured, or the default for the model
// where that is 0.
func EpsilonOf(model nli.Info, configured float64) float64 {
	switch {
	case configured != 0:
		return configured
	case model.Quantised():
		return epsilonQuantised
	default:
		return epsilon
	}
}

// Defaults are the options for models whose thresholds were not calibrated:
// a class counts when it has more probability than the others together.
func Defaults() Options {
	return Options{
		Contradiction: 0.5, Entailment: 0.5, Epsilon: epsilon,
		PremiseTokens: 192, Windows: 3, QuoteMargin: 0.15, Related: 0.15, Guard: true,
	}
}

// Validate names the first option that makes no sense.
func (o Options) Validate() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"contradiction", o.Contradiction}, {"entailment", o.Entailment}} {
		if !(p.value > 0 && p.value <= 1) {
			return fmt.Errorf("nli option %s is %v; it must be above 0 and at most 1", p.name, p.value)
		}
	}
	switch {
	case !(o.Epsilon >= 0 && o.Epsilon < 0.5):
		return fmt.Errorf("nli option epsilon is %v; it must be at least 0 and below 0.5", o.Epsilon)
	case o.PremiseTokens < minPremiseTokens:
		return fmt.Errorf("nli option premise_tokens is %d; it must be at least %d", o.PremiseTokens, minPremiseTokens)
	case o.Windows < 0 || o.Windows > 64:
		return fmt.Errorf("nli option windows is %d; it must be 0 to 64", o.Windows)
	}
	return nil
}

// minPremiseTokens is the least room for a premise that is worth asking in.
const minPremiseTokens = 32

// room is how many tokens a premise may have beside the longest of claims.
func (o Options) room(s nli.Scorer, claims ...string) (int, error) {
	room := o.PremiseTokens
	info := s.Info()
	for _, c := range claims {
		n, err := s.CountTokens(c)
		if err != nil {
			return 0, fmt.Errorf("measuring the claim: %w", err)
		}
		left := info.MaxTokens - info.PairOverhead - n
		if left < minPremiseTokens {
			return 0, fmt.Errorf("a sentence of the claim has %d tokens, which leaves %d of the model's %d for evidence: %w", n, left, info.MaxTokens, nli.ErrTooLong)
		}
		room = min(room, left)
	}
	return room, nil
}
