package quoteextract

import (
	_ "embed"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

//go:embed prompts/quote-extract.txt
var promptText string

//go:embed prompts/quote-extract.schema.json
var promptSchema string

// PromptSpec is the stage's built-in prompt, for the llm judge.
func PromptSpec() llm.Spec {
	return llm.Spec{
		Name: "quote-extract", Text: promptText, Schema: promptSchema,
		Fields: []string{"question", "query", "claim", "passages"},
	}
}
