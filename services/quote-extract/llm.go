package quoteextract

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/llm/excerpt"
)

// Values of the answer's "about".
const (
	aboutYes = "yes"
	aboutNo  = "no"
)

const (
	// maxAnswerTokens is room for the answer at its longest.
	maxAnswerTokens = 60
	// maxSentences is the schema's maxItems; endpoints without schemas may send
	// more, of which the first are taken.
	maxSentences = 3
)

// none stands for an empty part of the prompt.
const none = "(none)"

// answer is what the model is asked for; see prompts/quote-extract.schema.json.
type answer struct {
	About string `json:"about"`
	// Sentences are numbers: a model that copies sentences changes or invents
	// some, and pays for each word.
	Sentences []int `json:"sentences"`
}

// Validate implements llm.Validator.
func (a *answer) Validate() error {
	if a.About != aboutYes && a.About != aboutNo {
		return fmt.Errorf("about %q: want %q or %q", a.About, aboutYes, aboutNo)
	}
	return nil
}

// LLM is the stage's judge over a language model. The model points at numbered
// sentences; the stage's decision verifies them like any judge's quotes.
type LLM struct {
	setup    llm.Setup
	template *llm.Template
}

// NewLLM returns the llm judge. It fails where the prompt, or its replacement,
// is not usable.
func NewLLM(setup llm.Setup) (*LLM, error) {
	setup, err := setup.Checked()
	if err != nil {
		return nil, err
	}
	template, err := llm.Load(PromptSpec(), setup.PromptDir)
	if err != nil {
		return nil, err
	}
	return &LLM{setup: setup, template: template}, nil
}

// PromptVersion names the prompt and its content.
func (j *LLM) PromptVersion() string { return j.template.Version() }

// Extract implements Judge.
func (j *LLM) Extract(ctx context.Context, in Input) (Verdict, error) {
	sentences := excerpt.Numbered(in.Passages, in.Claim+" "+in.Query, j.setup.EvidenceRunes)
	req, err := j.template.Render(j.setup.Fencer, map[string]string{
		"question": in.Question,
		"query":    orNone(in.Query),
		"claim":    orNone(in.Claim),
		"passages": sentences.Text,
	})
	if err != nil {
		return Verdict{}, err
	}
	req.MaxTokens = maxAnswerTokens
	req.Verdict, req.Legal = "about", []string{aboutYes, aboutNo}
	got, meta, err := llm.Ask[answer](ctx, j.setup.Completer, req)
	if err != nil {
		return Verdict{}, fmt.Errorf("asking for relevance and quotes: %w", err)
	}
	numbers := got.Sentences[:min(len(got.Sentences), maxSentences)]
	return Verdict{Relevant: got.About == aboutYes, Quotes: sentences.Quotes(numbers), Meta: meta}, nil
}

func orNone(text string) string {
	if strings.TrimSpace(text) == "" {
		return none
	}
	return text
}

var (
	_ Judge         = (*LLM)(nil)
	_ llm.Validator = (*answer)(nil)
)
