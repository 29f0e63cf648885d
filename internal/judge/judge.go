// Package judge holds what every judge has in common: what a call cost, and
// how a judge says that it could not judge. The judges themselves live beside
// it (llm, local); the questions that a stage asks live with the stage, under
// services/. It knows nothing of NATS.
package judge

import (
	"errors"
	"fmt"
	"time"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Kind names a judge in configuration and in every label's trail.
type Kind string

// The judges a stage can be configured with.
const (
	KindLLM     Kind = "llm"
	KindLocal   Kind = "local"
	KindNLI     Kind = "nli"
	KindFlagAll Kind = "flag-all"
	KindNone    Kind = "flag-none"
	KindFree    Kind = "free" // costs nothing and always passes on: for bench
	// KindOff removes a stage and keeps its routing: what it would have found
	// wrong passes. It is what ablations are made of.
	KindOff Kind = "off"
	// KindSingle is one question to a language model for the whole tree.
	KindSingle Kind = "single-llm"
	// KindStudent is one small classifier for the whole tree.
	KindStudent Kind = "student"
)

// Asks reports whether a judge of this kind asks a language model, whose calls
// are limited, remembered and paid for.
func (k Kind) Asks() bool { return k == KindLLM || k == KindSingle }

// Meta is what a judge reports beside its verdict; it goes into the trail.
type Meta struct {
	Judge  Kind
	Model  string // name, and for local models their hash
	Prompt string // version of the prompt, LLM judges only
	// Confidence in [0, 1]; nil where unknown.
	Confidence   *float64
	Calls        int
	TokensIn     int
	TokensOut    int
	TokensCached int
	CacheHit     bool
	// Detail is one sentence for people: why the judge says so.
	Detail string
}

// Entry turns the report into a trail entry for stage and outcome.
func (m Meta) Entry(stage schema.Stage, outcome string) schema.TrailEntry {
	return schema.TrailEntry{
		Stage: stage, Outcome: outcome,
		Judge: string(m.Judge), Model: m.Model, Prompt: m.Prompt,
		Confidence: m.Confidence, Detail: m.Detail,
		Calls: m.Calls, TokensIn: m.TokensIn, TokensOut: m.TokensOut,
		TokensCached: m.TokensCached, CacheHit: m.CacheHit,
	}
}

// Error says that a judge could not judge. It is never turned into a label
// other than ungraded.
type Error struct {
	// Reason is the typed code that an ungraded label will carry.
	Reason schema.Reason
	// Temporary errors are tried again until the step's deadline; others end
	// the step as ungraded at once.
	Temporary bool
	// RetryAfter is how long the endpoint asked us to stay away; 0 if it
	// didn't say.
	RetryAfter time.Duration
	// Queued: nothing was asked, since the turn under a limit of our own did
	// not come in time. It says nothing about the endpoint.
	Queued bool
	// Down is for how long no endpoint has given anything but failures and
	// 429s; 0 where one has.
	Down time.Duration
	// Meta counts what the failed attempts cost.
	Meta Meta
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("judge (%s): %v", e.Reason, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns err's judge error, or nil.
func AsError(err error) *Error {
	var je *Error
	if errors.As(err, &je) {
		return je
	}
	return nil
}
