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
	maxAnswerTokens = 400
	// maxQuotes is the schema's maxItems; endpoints without schemas may send
	// more, of which the first are taken.
	maxQuotes = 3
)

// none stands for an empty part of the prompt.
const none = "(none)"

// answer is what the model is asked for; see prompts/quote-extract.schema.json.
type answer struct {
	About  string   `json:"about"`
	Quotes []string `json:"quotes"`
}

// Validate implements llm.Validator.
func (a *answer) Validate() error {
	if a.About != aboutYes && a.About != aboutNo {
		return fmt.Errorf("about %q: want %q or %q", a.About, aboutYes, aboutNo)
	}
	return nil
}

// LLM is the stage's judge over a language model. It proposes quotes; the
// stage's decision verifies them.
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
	req, err := j.template.Render(j.setup.Fencer, map[string]string{
		"question": in.Question,
		"query":    orNone(in.Query),
		"claim":    orNone(in.Claim),
		"passages": excerpt.Text(in.Passages, in.Claim+" "+in.Query, j.setup.EvidenceRunes),
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
	verdict := Verdict{Relevant: got.About == aboutYes, Meta: meta}
	for _, quote := range got.Quotes {
		if quote = strings.TrimSpace(quote); quote != "" && len(verdict.Quotes) < maxQuotes {
			verdict.Quotes = append(verdict.Quotes, quote)
		}
	}
	return verdict, nil
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
