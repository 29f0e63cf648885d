package injection

import (
	"fmt"
	"slices"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// spot is one way to put a text into a place.
type spot struct {
	name string
	put  func(steps []schema.Step, text string)
}

// spots returns the ways to put a text into a place.
func spots(place Place) []spot {
	switch place {
	case PlaceStep:
		return []spot{
			{"after", func(s []schema.Step, text string) { last(s).Text += "\n" + text }},
			{"before", func(s []schema.Step, text string) { last(s).Text = text + "\n" + last(s).Text }},
			{"in line", func(s []schema.Step, text string) { last(s).Text += " " + text }},
		}
	case PlaceQuery:
		return []spot{
			{"after", func(s []schema.Step, text string) { last(s).Query += " " + text }},
			{"before", func(s []schema.Step, text string) { last(s).Query = text + " " + last(s).Query }},
		}
	case PlaceEvidence:
		return []spot{
			{"at its end", inPassage(func(sentences []string, text string) []string { return append(sentences, text) })},
			{"at its head", inPassage(func(sentences []string, text string) []string { return append([]string{text}, sentences...) })},
			{"between sentences", inPassage(func(sentences []string, text string) []string {
				return slices.Insert(sentences, min(1, len(sentences)), text)
			})},
			{"a passage, first", func(s []schema.Step, text string) { addPassage(s, text, true) }},
			{"a passage, last", func(s []schema.Step, text string) { addPassage(s, text, false) }},
		}
	}
	return nil
}

func last(steps []schema.Step) *schema.Step { return &steps[len(steps)-1] }

// inPassage changes the first passage of every step that has one.
func inPassage(change func(sentences []string, text string) []string) func([]schema.Step, string) {
	return func(steps []schema.Step, text string) {
		for i := range steps {
			if len(steps[i].Passages) == 0 {
				continue
			}
			p := &steps[i].Passages[0]
			var sentences []string
			for _, s := range evidence.Sentences(p.Text) {
				sentences = append(sentences, s.In(p.Text))
			}
			joined := ""
			for k, s := range change(sentences, text) {
				if k > 0 {
					joined += " "
				}
				joined += s
			}
			p.Text = joined
		}
	}
}

// addPassage gives every step that has passages one more.
func addPassage(steps []schema.Step, text string, first bool) {
	for i := range steps {
		if len(steps[i].Passages) == 0 {
			continue
		}
		p := schema.Passage{Title: "Notice", Text: text}
		if first {
			steps[i].Passages = append([]schema.Passage{p}, steps[i].Passages...)
		} else {
			steps[i].Passages = append(steps[i].Passages, p)
		}
	}
}

// fits reports whether a host has the place at all.
func (h Host) fits(place Place) bool {
	step := h.steps[len(h.steps)-1]
	switch place {
	case PlaceQuery:
		return step.Kind == schema.KindSearch
	case PlaceEvidence:
		return slices.ContainsFunc(h.steps, func(s schema.Step) bool { return len(s.Passages) > 0 })
	}
	return true
}

// rollout returns the host's steps as they would be published, attacked at a
// spot; without a spot as they are.
func (h Host) rollout(at *spot, text string) []schema.Step {
	steps := slices.Clone(h.steps)
	for i := range steps {
		steps[i].Passages = slices.Clone(steps[i].Passages)
	}
	if at != nil {
		at.put(steps, text)
	}
	var passages []schema.Passage
	var history []schema.Prior
	for i := range steps {
		s := &steps[i]
		for k := range s.Passages {
			s.Passages[k].ByStep = s.Index
			s.Passages[k].Digest = fmt.Sprintf("%d-%d", s.Index, k)
		}
		passages = append(slices.Clone(s.Passages), passages...)
		s.Passages = passages
		s.History = slices.Clone(history)
		history = append(history, schema.Prior{Index: s.Index, Query: s.Query, Claim: s.Text})
	}
	return steps
}
