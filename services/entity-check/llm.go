package entitycheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Values of the answer's "aim".
const (
	aimAligned    = "aligned"
	aimMisaligned = "misaligned"
)

// maxAnswerTokens is room for the answer at its longest.
const maxAnswerTokens = 120

// none stands for an empty part of the prompt.
const none = "(none)"

// answer is what the model is asked for; see prompts/entity-check.schema.json.
type answer struct {
	// Needed is the model's word on what the question needs. Writing it down
	// first makes small models judge better; it also is the reason shown.
	Needed string `json:"needed"`
	Aim    string `json:"aim"`
}

// Validate implements llm.Validator.
func (a *answer) Validate() error {
	if a.Aim != aimAligned && a.Aim != aimMisaligned {
		return fmt.Errorf("aim %q: want %q or %q", a.Aim, aimAligned, aimMisaligned)
	}
	return nil
}

// LLM is the stage's judge over a language model.
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

// Align implements Judge.
func (j *LLM) Align(ctx context.Context, in Input) (Verdict, error) {
	req, err := j.template.Render(j.setup.Fencer, map[string]string{
		"question": in.Question,
		"earlier":  earlier(in.Earlier),
		"step":     aim(in),
	})
	if err != nil {
		return Verdict{}, err
	}
	req.MaxTokens = maxAnswerTokens
	req.Verdict, req.Legal = "aim", []string{aimAligned, aimMisaligned}
	got, meta, err := llm.Ask[answer](ctx, j.setup.Completer, req)
	if err != nil {
		return Verdict{}, fmt.Errorf("asking whether the step aims right: %w", err)
	}
	if needed := strings.Join(strings.Fields(got.Needed), " "); needed != "" {
		meta.Detail = "Needed: " + needed
	}
	return Verdict{Aligned: got.Aim == aimAligned, Meta: meta}, nil
}

// earlier writes the earlier steps, one a line.
func earlier(priors []schema.Prior) string {
	var b strings.Builder
	for _, p := range priors {
		fmt.Fprintf(&b, "step %d", p.Index)
		if p.Query != "" {
			fmt.Fprintf(&b, " looked for: %s;", oneLine(p.Query))
		}
		fmt.Fprintf(&b, " found: %s\n", oneLine(orNone(p.Claim)))
	}
	return orNone(strings.TrimSpace(b.String()))
}

// aim says what the step does.
func aim(in Input) string {
	if query := oneLine(in.Query); query != "" {
		return "looks for: " + query
	}
	return "concludes: " + oneLine(orNone(in.Claim))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

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
