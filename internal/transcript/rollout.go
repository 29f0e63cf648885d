package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Rollout is one rollout, cut into steps.
type Rollout struct {
	// ID is the rollout's name as the source has it, or made of the source's
	// name and a running number. See SafeID for the wire.
	ID string
	// Line is where in the source it begins (1-based); in a JSON array it is
	// the number of the element.
	Line     int
	Format   Format
	Question string
	// Text is what spans are offsets into; see the package comment.
	Text string
	// Steps have indices from 1, without gaps; Run and Rollout are unset.
	Steps  []schema.Step
	Answer string
	Gold   []string
	// Correct is the source's own verdict on the answer, where it has one.
	Correct  *bool
	Group    string
	Warnings []Warning
}

// Warning says what was odd about a rollout and what was made of it.
type Warning struct {
	Code WarningCode
	// Step is the index of the step concerned, 0 for the whole rollout.
	Step   int
	Detail string
}

func (w Warning) String() string {
	if w.Step == 0 {
		return fmt.Sprintf("%s: %s", w.Code, w.Detail)
	}
	return fmt.Sprintf("%s (step %d): %s", w.Code, w.Step, w.Detail)
}

// WarningCode names a kind of oddity.
type WarningCode string

// The kinds of oddities.
const (
	WarnCutEvidence      WarningCode = "cut_evidence"         // an evidence block without its end; its last document may be the policy's own and is dropped
	WarnUnasked          WarningCode = "unasked_evidence"     // an evidence block that no search precedes: the policy wrote it
	WarnUnclosedQuery    WarningCode = "unclosed_query"       // a query without its end
	WarnUnclosedAnswer   WarningCode = "unclosed_answer"      // an answer without its end
	WarnStrayTag         WarningCode = "stray_tag"            // a closing tag that closes nothing
	WarnEmptyQuery       WarningCode = "empty_query"          // a search for nothing
	WarnNoEvidence       WarningCode = "no_evidence"          // a search that brought nothing: a miss, an error, or no answer at all
	WarnVerdict          WarningCode = "verdict_dropped"      // a grader's words, kept out of the evidence
	WarnInvalidAction    WarningCode = "invalid_action"       // an action that the environment could not read
	WarnEnvironment      WarningCode = "environment_dropped"  // an environment's words, kept out of the policy's text
	WarnOtherTool        WarningCode = "other_tool"           // a tool that retrieves nothing; its output is no evidence
	WarnSeveralAnswers   WarningCode = "several_answers"      // the last one counts
	WarnNoAnswer         WarningCode = "no_answer"            // the rollout ends without an answer
	WarnNoQuestion       WarningCode = "no_question"          // no question was found; steps need one
	WarnDuplicateQuery   WarningCode = "duplicate_query"      // the same query as an earlier step
	WarnClipped          WarningCode = "clipped"              // a field was over the wire's limit and was cut
	WarnDroppedPassages  WarningCode = "dropped_passages"     // earlier passages over the wire's limit were left out
	WarnTooManySteps     WarningCode = "too_many_steps"       // steps over the wire's limit were left out
	WarnBadSpan          WarningCode = "bad_span"             // a span outside the text was dropped
	WarnBadUTF8          WarningCode = "bad_utf8"             // bytes that are no UTF-8 became U+FFFD
	WarnUnreadableCall   WarningCode = "unreadable_tool_call" // a tool call that is no JSON
	WarnUnexpectedSource WarningCode = "unexpected"           // anything else; the detail says what
)

// Format names a way of writing rollouts down.
type Format string

// The formats. FormatAuto detects.
const (
	FormatAuto       Format = "auto"
	FormatStepGap    Format = "stepgap"
	FormatNormalized Format = "normalized"
	FormatSearchR1   Format = "search-r1"
	FormatR1Searcher Format = "r1-searcher"
	FormatReSearch   Format = "research"
	FormatAutoRefine Format = "autorefine"
	FormatSearchO1   Format = "search-o1"
	FormatReAct      Format = "react"
	FormatChat       Format = "chat"
)

// Formats lists every format that can be named.
func Formats() []Format {
	return []Format{FormatAuto, FormatStepGap, FormatNormalized, FormatSearchR1, FormatR1Searcher,
		FormatReSearch, FormatAutoRefine, FormatSearchO1, FormatReAct, FormatChat}
}

// SafeID makes an id that the wire takes of any name: characters that it
// doesn't allow become "-", and a name that had to be changed or cut keeps a
// short hash of the original, so that different names stay different.
func SafeID(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	if safe == name && name != "" && len(name) <= schema.MaxID {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	if limit := schema.MaxID - 9; len(safe) > limit {
		safe = safe[:limit]
	}
	return safe + "-" + hex.EncodeToString(sum[:4])
}
