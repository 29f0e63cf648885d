package nlieval

import (
	"fmt"
	"strings"
)

// Label is what a premise says of a hypothesis.
type Label int

// The labels. In a set of two ways Neutral stands for everything that is not
// entailed.
const (
	Entailment Label = iota
	Neutral
	Contradiction
	labels = 3
)

func (l Label) String() string {
	switch l {
	case Entailment:
		return "entailment"
	case Neutral:
		return "neutral"
	case Contradiction:
		return "contradiction"
	}
	return fmt.Sprintf("label %d", int(l))
}

// parseLabel reads a label as the sets spell it. Pairs whose annotators
// disagreed have "-" and are left out by their readers.
func parseLabel(s string) (Label, bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "entailment", "supports", "supported":
		return Entailment, true
	case "neutral", "not enough info", "not_enough_info", "not_supported", "partially_supported":
		return Neutral, true
	case "contradiction", "refutes":
		return Contradiction, true
	}
	return 0, false
}

// Pair is a premise and a hypothesis with the annotators' label.
type Pair struct {
	// Kind is what a hand-written pair tests; empty elsewhere.
	Kind       string
	Premise    string
	Hypothesis string
	Label      Label
	// Sentences are the premise's, where it is a whole page; the model is then
	// asked about pieces of it, and the hypothesis is entailed if one entails
	// it.
	Sentences []string
}

// Set is a named list of pairs.
type Set struct {
	Name string
	// Part says which part of the set this is.
	Part  string
	Pairs []Pair
	// TwoWay: the labels are entailed or not.
	TwoWay bool
	// Trained: the default model was trained on it, so that its figures are no
	// held-out ones.
	Trained bool
}
