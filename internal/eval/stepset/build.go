package stepset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// builder makes a set from a folder of public data.
type builder struct {
	name string
	// about is a line for people: what the set is.
	about string
	build func(data string) (Set, error)
}

func builders() []builder {
	return []builder{
		{"musique", "steps made from MuSiQue, with a perturbation for each label", buildMuSiQue},
		{"hotpotqa", "steps made from HotpotQA, with a perturbation for each label", buildHotpotQA},
		{"wice", "claims of Wikipedia with the pages that they cite (WiCE)", buildWiCE},
		{"fm2", "claims of a game, with evidence (Fool Me Twice)", buildFM2},
		{"halueval", "right and invented answers with their knowledge (HaluEval)", buildHaluEval},
		{"steps_dev", "real steps of search agents, annotated by a language model by the rubric", buildStepsDev},
	}
}

// Names lists the sets that Build can make.
func Names() []string {
	var names []string
	for _, b := range builders() {
		names = append(names, b.name)
	}
	return names
}

// About is a line on what a set is; empty for a name that is none.
func About(name string) string {
	for _, b := range builders() {
		if b.name == name {
			return b.about
		}
	}
	return ""
}

// Build makes the set of this name from the folder that holds the public data
// (multihop/, labelled/). The same data give the same set. Nothing of the data
// is kept anywhere but in the set.
func Build(data, name string) (Set, error) {
	if data == "" {
		return Set{}, fmt.Errorf("building the step set %q: no folder of data was given; pass one or set STEPGAP_DATA", name)
	}
	if _, err := os.Stat(data); err != nil {
		return Set{}, fmt.Errorf("building the step set %q: %w", name, err)
	}
	for _, b := range builders() {
		if b.name != name {
			continue
		}
		set, err := b.build(data)
		if err != nil {
			return Set{}, fmt.Errorf("building the step set %q: %w", name, err)
		}
		set.Name = name
		if err := set.Check(); err != nil {
			return Set{}, fmt.Errorf("building the step set %q: %w", name, err)
		}
		return set, nil
	}
	return Set{}, fmt.Errorf("no step set is called %q; there are %s", name, strings.Join(Names(), ", "))
}

// questionID names a question by its words, so that rollouts of the same
// question from several agents fall together.
func questionID(question string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join(strings.Fields(question), " "))))
	return "q-" + hex.EncodeToString(sum[:6])
}
