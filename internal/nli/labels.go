package nli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LabelOrder says at which position of the model's output each class stands.
//
// A model of two labels (supported or not) tells "the premise says otherwise"
// and "the premise says nothing of it" not apart: its Contradiction is -1, and
// Neutral is its "not entailed".
type LabelOrder struct {
	Entailment, Neutral, Contradiction int
}

// absent is the position of a class that the model doesn't have.
const absent = -1

// ParseLabels reads id2label as configurations spell it: two or three classes,
// in any order and case, with any of the names in common use. Names that say
// nothing (LABEL_0) are refused, since guessing them silently swaps verdicts.
func ParseLabels(id2label map[int]string) (LabelOrder, error) {
	order := LabelOrder{absent, absent, absent}
	switch len(id2label) {
	case 0:
		return order, fmt.Errorf("id2label is missing, so the order of the model's classes is unknown")
	case 1:
		return order, fmt.Errorf("the model has one output (%s): a single score is a ranking or a regression, and can't be read as entailed or not", describe(id2label))
	case 2, 3:
	default:
		return order, fmt.Errorf("the model has %d classes (%s); an NLI model has three (entailment, neutral, contradiction) or two (entailment, not_entailment)", len(id2label), describe(id2label))
	}
	for _, id := range slices.Sorted(maps.Keys(id2label)) {
		name := id2label[id]
		var slot *int
		switch class(name) {
		case classEntailment:
			slot = &order.Entailment
		case classNeutral, classNotEntailed:
			slot = &order.Neutral
		case classContradiction:
			slot = &order.Contradiction
		default:
			return order, fmt.Errorf("id2label names class %d %q, which says nothing about its meaning (now %s); say what each class means in stepgap.json beside config.json, such as {\"labels\": %s}", id, name, describe(id2label), exampleLabels(len(id2label)))
		}
		if id < 0 || id >= len(id2label) {
			return order, fmt.Errorf("id2label has class id %d; ids 0 to %d are expected", id, len(id2label)-1)
		}
		if want := len(id2label) == 2; class(name) != classEntailment && (class(name) == classNotEntailed) != want {
			return order, fmt.Errorf("id2label (%s) has %d classes and calls one of them %q: of three the others are neutral and contradiction, of two the other is not_entailment; if that is what the class means, say so in stepgap.json", describe(id2label), len(id2label), name)
		}
		if *slot != absent {
			return order, fmt.Errorf("id2label names the same class twice (%s)", describe(id2label))
		}
		*slot = id
	}
	return order, nil
}

// Classes is the number of the model's outputs: 3 or 2.
func (o LabelOrder) Classes() int {
	if o.CanContradict() {
		return 3
	}
	return 2
}

// CanContradict tells whether the model has a class for contradiction.
func (o LabelOrder) CanContradict() bool { return o.Contradiction != absent }

// Logits picks one row of the model's output apart.
func (o LabelOrder) Logits(row []float32) Logits {
	l := Logits{Entailment: row[o.Entailment], Neutral: row[o.Neutral]}
	if o.CanContradict() {
		l.Contradiction = row[o.Contradiction]
	} else {
		l.TwoWay = true
	}
	return l
}

// Best names the class of the highest logit.
func (o LabelOrder) Best(l Logits) string {
	switch {
	case l.TwoWay && l.Neutral >= l.Entailment:
		return classNotEntailed
	case l.TwoWay:
		return classEntailment
	case l.Contradiction >= max(l.Entailment, l.Neutral):
		return classContradiction
	case l.Entailment > l.Neutral:
		return classEntailment
	default:
		return classNeutral
	}
}

// String lists the classes by position.
func (o LabelOrder) String() string {
	names := make([]string, o.Classes())
	names[o.Entailment], names[o.Neutral] = classEntailment, classNotEntailed
	if o.CanContradict() {
		names[o.Neutral], names[o.Contradiction] = classNeutral, classContradiction
	}
	return strings.Join(names, ", ")
}

const (
	classEntailment    = "entailment"
	classNeutral       = "neutral"
	classContradiction = "contradiction"
	classNotEntailed   = "not_entailment" // of two-label models: neutral or contradiction
)

// class is what a label's name means, or "".
func class(name string) string {
	words := strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(name)))
	switch strings.Join(words, " ") {
	case "entailment", "entail", "entails", "entailed", "supports", "supported", "support",
		"consistent", "grounded", "factual", "faithful":
		return classEntailment
	case "neutral", "not enough info", "not enough information", "nei":
		return classNeutral
	case "contradiction", "contradict", "contradicts", "contradictory", "contradicted",
		"refutes", "refuted", "refute":
		return classContradiction
	case "not entailment", "not entailed", "non entailment", "nonentailment", "no entailment",
		"not supported", "unsupported", "not support", "inconsistent", "not consistent",
		"ungrounded", "not grounded", "hallucination", "hallucinated", "unfaithful", "not factual":
		return classNotEntailed
	}
	return ""
}

func exampleLabels(n int) string {
	if n == 2 {
		return `{"0": "not_entailment", "1": "entailment"}`
	}
	return `{"0": "entailment", "1": "neutral", "2": "contradiction"}`
}

func describe(id2label map[int]string) string {
	parts := make([]string, 0, len(id2label))
	for _, id := range slices.Sorted(maps.Keys(id2label)) {
		parts = append(parts, fmt.Sprintf("%d: %q", id, id2label[id]))
	}
	return strings.Join(parts, ", ")
}
