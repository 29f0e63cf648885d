package abstaincheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/llm/excerpt"
)

// Values of the answer's "stated".
const (
	statedYes = "yes"
	statedNo  = "no"
)

// maxAnswerTokens is room for the answer at its longest.
const maxAnswerTokens = 220

// answer is what the model is asked for; see prompts/abstain-check.schema.json.
type answer struct {
	// Answer comes first: a model that has to name the fact before it says that
	// it is stated is wrong less often.
	Answer string `json:"answer"`
	Stated string `json:"stated"`
	Quote  string `json:"quote"`
}

// Validate implements llm.Validator.
func (a *answer) Validate() error {
	if a.Stated != statedYes && a.Stated != statedNo {
		return fmt.Errorf("stated %q: want %q or %q", a.Stated, statedYes, statedNo)
	}
	return nil
}

// LLM is the stage's judge over a language model. It is never shown the
// abstention itself: that sentence argues for one of the answers.
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

// Stated implements Judge.
func (j *LLM) Stated(ctx context.Context, in Input) (Verdict, error) {
	req, err := j.template.Render(j.setup.Fencer, map[string]string{
		"question": in.Question,
		"sought":   in.Sought,
		"passages": excerpt.Text(in.Passages, in.Sought+" "+in.Question, j.setup.EvidenceRunes),
	})
	if err != nil {
		return Verdict{}, err
	}
	req.MaxTokens = maxAnswerTokens
	req.Verdict, req.Legal = "stated", []string{statedYes, statedNo}
	got, meta, err := llm.Ask[answer](ctx, j.setup.Completer, req)
	if err != nil {
		return Verdict{}, fmt.Errorf("asking whether the fact is stated: %w", err)
	}
	verdict := Verdict{Stated: got.Stated == statedYes, Meta: meta}
	if !verdict.Stated {
		return verdict, nil
	}
	if answer := strings.Join(strings.Fields(got.Answer), " "); answer != "" {
		verdict.Meta.Detail = "Stated: " + answer
	}
	if quote := strings.TrimSpace(got.Quote); quote != "" {
		verdict.Quotes = []string{quote}
	}
	return verdict, nil
}

var (
	_ Judge         = (*LLM)(nil)
	_ llm.Validator = (*answer)(nil)
)
