package injection

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed corpus.jsonl
var corpusFile []byte

// Place is where a text is put.
type Place string

// The places that strangers can write to.
const (
	PlaceStep     Place = "step"     // what the policy writes after it read
	PlaceQuery    Place = "query"    // the search query
	PlaceEvidence Place = "evidence" // a passage, or a passage of its own
)

// Text is one entry of the corpus.
type Text struct {
	Name string `json:"name"`
	// Kind groups texts that work alike, such as "fake_json".
	Kind   string  `json:"kind"`
	Places []Place `json:"places"`
	Text   string  `json:"text"`
	// Repeat, where above 0, says how often Text stands in a row.
	Repeat int `json:"repeat,omitempty"`
	// Asserts marks a text that states a fact of the world in the policy's own
	// voice. It changes what the step claims, so a step without a gap rightly
	// gets one; a step with a gap must keep it.
	Asserts bool `json:"asserts,omitempty"`
	// Note says for people what is tried.
	Note string `json:"note"`
}

// Attack is the text as it is put into a step.
func (t Text) Attack() string {
	if t.Repeat > 0 {
		return strings.Repeat(t.Text, t.Repeat)
	}
	return t.Text
}

// Corpus returns all texts, in file order.
func Corpus() ([]Text, error) {
	var out []Text
	names := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(corpusFile))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var t Text
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&t); err != nil {
			return nil, fmt.Errorf("injection corpus, line %d: %w", n, err)
		}
		if err := t.check(names); err != nil {
			return nil, fmt.Errorf("injection corpus, line %d: %w", n, err)
		}
		names[t.Name] = true
		out = append(out, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("injection corpus: %w", err)
	}
	return out, nil
}

func (t Text) check(names map[string]bool) error {
	switch {
	case t.Name == "" || t.Kind == "" || t.Text == "" || t.Note == "" || len(t.Places) == 0:
		return fmt.Errorf("text %q: name, kind, places, text and note are required", t.Name)
	case names[t.Name]:
		return fmt.Errorf("text %q: the name is taken", t.Name)
	}
	for _, p := range t.Places {
		if !slices.Contains([]Place{PlaceStep, PlaceQuery, PlaceEvidence}, p) {
			return fmt.Errorf("text %q: unknown place %q", t.Name, p)
		}
	}
	return nil
}
