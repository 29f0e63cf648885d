package nlieval

import (
	"bytes"
	_ "embed"
	"fmt"
)

//go:embed hand.jsonl
var handJSONL []byte

// Hand returns the pairs written by hand: quotes, each with claims that change
// a number, date, name, unit, quantity, entity, role or negation, that say the
// same in other words, or that say what the quote leaves open.
func Hand() (Set, error) {
	type row struct{ ID, Kind, Label, Premise, Hypothesis string }
	rows, err := decodeLines[row](bytes.NewReader(handJSONL), "hand.jsonl")
	if err != nil {
		return Set{}, err
	}
	set := Set{Name: "hand", Part: "written for this measure"}
	for _, r := range rows {
		label, ok := parseLabel(r.Label)
		if !ok {
			return Set{}, fmt.Errorf("hand.jsonl %s: unknown label %q", r.ID, r.Label)
		}
		set.Pairs = append(set.Pairs, Pair{Kind: r.Kind, Premise: r.Premise, Hypothesis: r.Hypothesis, Label: label})
	}
	return set, checkSplit(set)
}
