// Package tree is the vocabulary of the decision tree: what a stage is given,
// and what it may decide. Stages (under services/) are pure deciders over it;
// the loop that moves steps between them (internal/stage) knows NATS, and this
// package does not.
package tree

import (
	"context"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Hop is where a step goes next.
type Hop string

// The hops. HopDone ends the step with a label.
const (
	HopDone    Hop = ""
	HopAbstain Hop = "abstain" // to B
	HopQuote   Hop = "quote"   // to C
	HopLocal   Hop = "local"   // to D
	HopCross   Hop = "cross"   // to E
)

// Item is a step under judgement.
type Item struct {
	Step *schema.Step
	// Abstaining marks a step whose abstention B found justified.
	Abstaining bool
	// Quotes are those that C found; the first decides.
	Quotes []schema.Quote
	// Trail is what earlier stages did.
	Trail []schema.TrailEntry

	// Earlier holds, for E, the labels of earlier steps that stand by now, and
	// Final says that no more of them will be waited for.
	Earlier map[int]*schema.Label
	Final   bool
}

// Decision is what a stage makes of an item: a hop to another stage, or a
// label.
type Decision struct {
	Next Hop
	// Gap, Reason and Detail are the label, where Next is HopDone and Wait is
	// false.
	Gap    schema.Gap
	Reason schema.Reason
	Detail string

	// Abstaining and Quotes replace the item's on the next hop, and Quotes go
	// into the label.
	Abstaining bool
	Quotes     []schema.Quote
	// Entry is added to the trail. The loop fills in its latency.
	Entry schema.TrailEntry

	// Wait says, for E alone, that the verdict hangs on labels that do not
	// stand yet.
	Wait bool
}

// Decider is one stage's decision. It must be safe for concurrent use, honour
// ctx's deadline, and return an error (a *judge.Error where it can) rather
// than invent a verdict.
type Decider interface {
	Decide(ctx context.Context, item *Item) (Decision, error)
}

// DeciderFunc adapts a function to Decider.
type DeciderFunc func(ctx context.Context, item *Item) (Decision, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, item *Item) (Decision, error) { return f(ctx, item) }

// Forward passes item on to next, keeping what is known.
func Forward(item *Item, next Hop, entry schema.TrailEntry) Decision {
	return Decision{Next: next, Abstaining: item.Abstaining, Quotes: item.Quotes, Entry: entry}
}

// Verdict ends item with a label.
func Verdict(item *Item, gap schema.Gap, reason schema.Reason, detail string, entry schema.TrailEntry) Decision {
	return Decision{Gap: gap, Reason: reason, Detail: detail, Abstaining: item.Abstaining, Quotes: item.Quotes, Entry: entry}
}

// Readable returns those passages that have a text. A judge that is asked about
// nothing but blanks can say nothing that changes a label.
func Readable(passages []schema.Passage) []schema.Passage {
	var out []schema.Passage
	for _, p := range passages {
		if strings.TrimSpace(p.Text) != "" {
			out = append(out, p)
		}
	}
	return out
}
