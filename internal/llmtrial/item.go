// Package llmtrial tries a language model as the judge of stages A, B and C:
// hand-written steps go through a running `stepgap serve`, and what the stage in
// question did, by each label's trail, is held against what is right.
//
// Everything named in the items is invented, so that no model can know an
// answer by heart. The package knows nothing of prompts or endpoints: those are
// the served pipeline's.
package llmtrial

import (
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Item is one hand-written step and what its stage should make of it.
type Item struct {
	Name  string
	Stage schema.Stage
	Step  schema.Step
	// Want is the outcome in the stage's trail entry that is right.
	Want string
	// Telling are words that a quote must hold for "quoted" to be right.
	Telling string
}

// ItemsOf returns the items of one stage.
func ItemsOf(stage schema.Stage) []Item {
	switch stage {
	case schema.StageEntity:
		return entityItems()
	case schema.StageAbstain:
		return abstainItems()
	case schema.StageQuote:
		return quoteItems()
	}
	return nil
}

// Answer is what a stage made of an item, by the item's label.
type Answer struct {
	// Reached: the step came to the stage at all.
	Reached bool
	// Got is the outcome; where it is "quoted" and no quote holds the telling
	// words, the first quote stands in brackets behind it.
	Got   string
	Right bool
	// Relevant: C found the passages to be about the entity needed.
	Relevant bool
	// Missed says, of a step that did not reach the stage, where it ended.
	Missed string
	// Err is why there is no verdict; empty where there is one.
	Err string
	// Entry is the stage's trail entry.
	Entry schema.TrailEntry
	// Quotes counts the label's quotes, Outside those of them that do not stand
	// in the passage that they name.
	Quotes, Outside int
}

// Read reads the answer to an item off its label.
func Read(item Item, label *schema.Label) Answer {
	a := Answer{Quotes: len(label.Quotes), Outside: outside(item.Step.Passages, label.Quotes)}
	for _, e := range label.Trail {
		if e.Stage == item.Stage {
			a.Reached, a.Entry = true, e
		}
	}
	switch {
	case label.Label == schema.GapUngraded:
		a.Err = string(label.Reason) + ": " + label.Detail
		return a
	case !a.Reached:
		a.Missed = string(label.Stage) + ": " + string(label.Label)
		return a
	}
	a.Got = a.Entry.Outcome
	a.Relevant = a.Got != quoteextract.OutcomeIrrelevant
	a.Right = a.Got == item.Want
	if a.Right && item.Telling != "" && !holds(label.Quotes, item.Telling) {
		a.Right = false
		said := "no quote"
		if len(label.Quotes) > 0 {
			said = label.Quotes[0].Text
		}
		a.Got += " (" + said + ")"
	}
	return a
}

func holds(quotes []schema.Quote, words string) bool {
	for _, q := range quotes {
		if strings.Contains(q.Text, words) {
			return true
		}
	}
	return false
}

// outside counts the quotes that are not their passage's own text at the
// offsets that they give.
func outside(passages []schema.Passage, quotes []schema.Quote) int {
	texts := make(map[string][]rune, len(passages))
	for _, p := range passages {
		texts[schema.PassageDigest(p.Title, p.Text)] = []rune(p.Text)
	}
	n := 0
	for _, q := range quotes {
		text, ok := texts[q.Passage]
		if !ok || q.Start < 0 || q.End <= q.Start || q.End > len(text) || string(text[q.Start:q.End]) != q.Text {
			n++
		}
	}
	return n
}

// Constant is how many of the items the best constant answer gets right: what
// a judge must beat to have judged at all.
func Constant(items []Item) int {
	count, best := map[string]int{}, 0
	for _, item := range items {
		key := item.Want + "\x00" + item.Telling
		if item.Want == quoteextract.OutcomeNoClaim {
			// "relevant, and no sentence decides" is one answer of the judge's.
			key = quoteextract.OutcomeNoQuote + "\x00"
		}
		count[key]++
		best = max(best, count[key])
	}
	return best
}

// outcomes that items want.
const (
	aligned     = entitycheck.OutcomeAligned
	misaligned  = entitycheck.OutcomeMisaligned
	justified   = abstaincheck.OutcomeJustified
	unjustified = abstaincheck.OutcomeUnjustified
	quoted      = quoteextract.OutcomeQuoted
	noQuote     = quoteextract.OutcomeNoQuote
	noClaim     = quoteextract.OutcomeNoClaim
	irrelevant  = quoteextract.OutcomeIrrelevant
)

func passage(title, text string) schema.Passage {
	return schema.Passage{Title: title, Text: text, ByStep: 1}
}
