package abstaincheck

import (
	_ "embed"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

//go:embed prompts/abstain-check.txt
var promptText string

//go:embed prompts/abstain-check.schema.json
var promptSchema string

// PromptSpec is the stage's built-in prompt, for the llm judge.
func PromptSpec() llm.Spec {
	return llm.Spec{
		Name: "abstain-check", Text: promptText, Schema: promptSchema,
		Fields: []string{"question", "sought", "passages"},
	}
}
