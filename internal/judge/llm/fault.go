package llm

import "fmt"

// Fault is what was wrong with an answer that could not be used.
type Fault string

// The faults of an answer.
const (
	FaultNoChoice  Fault = "no_choice"   // the response held no choice
	FaultEmpty     Fault = "empty"       // the choice held no text
	FaultLength    Fault = "length"      // cut by max_tokens
	FaultFiltered  Fault = "filtered"    // withheld by the endpoint's content filter
	FaultRefusal   Fault = "refusal"     // the model declined
	FaultTooLarge  Fault = "too_large"   // over the reader's limit
	FaultNotJSON   Fault = "not_json"    // no JSON object anywhere in it
	FaultAmbiguous Fault = "ambiguous"   // several objects that differ, or a key twice
	FaultType      Fault = "wrong_type"  // a field of another JSON type
	FaultField     Fault = "wrong_field" // a field missing, or one that the schema lacks
	FaultValue     Fault = "wrong_value" // a value that the schema forbids
)

// AnswerError says why an answer could not be used. It is the cause inside a
// *judge.Error.
type AnswerError struct {
	Fault Fault
	// Detail is for people; it never repeats more than a short piece of the
	// answer.
	Detail string
}

func (e *AnswerError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("unusable answer (%s)", e.Fault)
	}
	return fmt.Sprintf("unusable answer (%s): %s", e.Fault, e.Detail)
}

func faultf(fault Fault, format string, args ...any) *AnswerError {
	return &AnswerError{Fault: fault, Detail: clip(fmt.Sprintf(format, args...), maxMessage)}
}
