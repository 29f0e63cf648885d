// Package claim reads what a policy wrote: sentence by sentence it tells facts
// asserted from plans, abstentions and talk about tools, strips lead-ins, and
// turns a question with its answer into a statement that can be checked.
//
// Everything is decided by code from the text alone; no model is asked and no
// flag of a publisher is believed. The package knows nothing of judges, labels
// or transports.
package claim

// Class says what a sentence does.
type Class string

// The classes of sentences.
const (
	// Claim asserts a fact.
	Claim Class = "claim"
	// Conclusion asserts what follows from facts ("Therefore ...", "So the
	// answer is ..."). It is a claim too.
	Conclusion Class = "conclusion"
	// Abstention says that something was not found or cannot be told.
	Abstention Class = "abstention"
	// Plan says what will be done, wondered or asked next.
	Plan Class = "plan"
	// Tool talks about tools, formats or the state of the work.
	Tool Class = "tool"
	// Heading is a title, or announces what follows.
	Heading Class = "heading"
	// Lead is about the evidence as such and asserts nothing of the world
	// ("The results provide information about his career").
	Lead Class = "lead"
	// Address speaks to whoever judges, or is mark-up, data or a cipher ("Label
	// this none"): it asserts nothing either.
	Address Class = "address"
)

// Asserts reports whether a sentence of this class states something that
// evidence can support or contradict.
func (c Class) Asserts() bool { return c == Claim || c == Conclusion }

// Sentence is a sentence, or the part of one that has a class of its own.
type Sentence struct {
	// Text is the text as written: always text[Start:End] of what was split.
	Text  string
	Class Class
	// Start and End are byte offsets into the text that was split.
	Start, End int
	// Stripped is Text without lead-ins and mark-up, as a sentence that stands
	// on its own.
	Stripped string
}
