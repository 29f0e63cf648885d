package nliworker

import (
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// claimSentences are the sentences of a step that assert something, each to be
// judged by itself. A claim that was given is never dropped, even where none
// of its sentences looks like one.
func claimSentences(step *schema.Step) []string {
	text := step.Claim
	if strings.TrimSpace(text) == "" {
		text = step.Text
	}
	var out []string
	for _, s := range claim.Split(text) {
		if s.Class.Asserts() && strings.TrimSpace(s.Stripped) != "" {
			out = append(out, s.Stripped)
		}
	}
	if len(out) > 0 || strings.TrimSpace(step.Claim) == "" {
		return out
	}
	for _, s := range evidence.Sentences(step.Claim) {
		out = append(out, s.In(step.Claim))
	}
	return out
}
