package nliworker

import (
	_ "embed"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

//go:embed prompts/nli-worker.txt
var promptText string

//go:embed prompts/nli-worker.schema.json
var promptSchema string

// PromptSpec is the built-in prompt of D and E, for the llm judge.
func PromptSpec() llm.Spec {
	return llm.Spec{
		Name: "nli-worker", Text: promptText, Schema: promptSchema,
		Fields: []string{"premise", "hypothesis"},
	}
}
