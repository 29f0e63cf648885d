package nli

import (
	"fmt"
	"sort"
	"strings"
)

// LabelOrder says at which position of the model's output each class stands.
type LabelOrder struct {
	Entailment, Neutral, Contradiction int
}

// ParseLabels reads id2label as configurations spell it: any order, any case,
// with "refutes" or "contradict" for contradiction. Names that say nothing
// (LABEL_0) are refused, since guessing them silently swaps verdicts.
func ParseLabels(id2label map[int]string) (LabelOrder, error) {
	order := LabelOrder{-1, -1, -1}
	if len(id2label) == 0 {
		return order, fmt.Errorf("id2label is missing, so the order of the model's classes is unknown")
	}
	if len(id2label) == 2 {
		return order, fmt.Errorf("the model has two classes (%s); three are needed: entailment, neutral, contradiction", describe(id2label))
	}
	if len(id2label) != 3 {
		return order, fmt.Errorf("the model has %d classes (%s); three are needed: entailment, neutral, contradiction", len(id2label), describe(id2label))
	}
	for id, name := range id2label {
		var slot *int
		switch class(name) {
		case "entailment":
			slot = &order.Entailment
		case "neutral":
			slot = &order.Neutral
		case "contradiction":
			slot = &order.Contradiction
		default:
			return order, fmt.Errorf("id2label names class %d %q, which says nothing about its meaning; write entailment, neutral and contradiction into config.json (now %s)", id, name, describe(id2label))
		}
		if id < 0 || id > 2 {
			return order, fmt.Errorf("id2label has class id %d; ids 0 to 2 are expected", id)
		}
		if *slot >= 0 {
			return order, fmt.Errorf("id2label names the same class twice (%s)", describe(id2label))
		}
		*slot = id
	}
	return order, nil
}

// Logits picks one row of the model's output apart.
func (o LabelOrder) Logits(row []float32) Logits {
	return Logits{Entailment: row[o.Entailment], Neutral: row[o.Neutral], Contradiction: row[o.Contradiction]}
}

func class(name string) string {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "entailment", "entail", "entails", "entailed", "supports":
		return "entailment"
	case "neutral", "not enough info", "nei":
		return "neutral"
	case "contradiction", "contradict", "contradicts", "contradictory", "refutes":
		return "contradiction"
	}
	return ""
}

func describe(id2label map[int]string) string {
	ids := make([]int, 0, len(id2label))
	for id := range id2label {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = fmt.Sprintf("%d: %q", id, id2label[id])
	}
	return strings.Join(parts, ", ")
}
