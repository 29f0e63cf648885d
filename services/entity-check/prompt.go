package entitycheck

import (
	_ "embed"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

//go:embed prompts/entity-check.txt
var promptText string

//go:embed prompts/entity-check.schema.json
var promptSchema string

// PromptSpec is the stage's built-in prompt, for the llm judge.
func PromptSpec() llm.Spec {
	return llm.Spec{
		Name: "entity-check", Text: promptText, Schema: promptSchema,
		Fields: []string{"question", "earlier", "step"},
	}
}
