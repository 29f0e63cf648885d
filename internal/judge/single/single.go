// Package single is the baseline single-llm: one question to a language model a
// step, in place of the whole tree. It stands where A stands and ends every
// step with a label. The model sees what the tree sees: question, earlier
// claims, query, claim and passages. Its quote counts, as everywhere, only if
// code finds it in a passage.
//
// The package knows nothing of NATS.
package single

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/llm/excerpt"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

//go:embed prompts/single-llm.txt
var promptText string

//go:embed prompts/single-llm.schema.json
var promptSchema string

// PromptSpec is the built-in prompt.
func PromptSpec() llm.Spec {
	return llm.Spec{
		Name: "single-llm", Text: promptText, Schema: promptSchema,
		Fields: []string{"question", "earlier", "step", "claim", "passages"},
	}
}

// maxAnswerTokens is room for the answer at its longest.
const maxAnswerTokens = 220

// none stands for an empty part of the prompt.
const none = "(none)"

// answer is what the model is asked for; see prompts/single-llm.schema.json.
type answer struct {
	// Quote comes first: a model that has to find the sentence before it
	// judges is wrong less often.
	Quote string     `json:"quote"`
	Label schema.Gap `json:"label"`
}

// Validate implements llm.Validator.
func (a *answer) Validate() error {
	if !a.Label.Graded() {
		return fmt.Errorf("label %q: want %s", a.Label, strings.Join(labels(), ", "))
	}
	return nil
}

// labels are those that the model may give.
func labels() []string {
	var out []string
	for _, g := range schema.Gaps() {
		if g.Graded() {
			out = append(out, string(g))
		}
	}
	return out
}

// LLM is the judge.
type LLM struct {
	setup    llm.Setup
	template *llm.Template
}

var (
	_ tree.Decider  = (*LLM)(nil)
	_ llm.Validator = (*answer)(nil)
)

// New returns the judge. It fails where the prompt, or its replacement, is not
// usable.
func New(setup llm.Setup) (*LLM, error) {
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

// Decide implements tree.Decider: it ends every step. Where the model's answer
// can't be had or read the error is typed, and no label is made of it.
func (j *LLM) Decide(ctx context.Context, item *tree.Item) (tree.Decision, error) {
	step := item.Step
	passages := tree.Readable(append(step.Own(), step.Earlier()...))
	got, meta, err := j.ask(ctx, step, passages)
	if err != nil {
		return tree.Decision{}, fmt.Errorf("one question on run %s rollout %s step %d: %w", step.Run, step.Rollout, step.Index, err)
	}
	detail := "The model's one answer on the whole step."
	decision := tree.Verdict(item, got.Label, "", detail, meta.Entry(schema.StageEntity, string(got.Label)))
	switch quote, found := evidence.Locate(passages, got.Quote); {
	case found:
		decision.Quotes = []schema.Quote{quote}
	case strings.TrimSpace(got.Quote) != "":
		decision.Entry.Detail = "The model's quote stands in no passage and was dropped."
	}
	return decision, nil
}

func (j *LLM) ask(ctx context.Context, step *schema.Step, passages []schema.Passage) (answer, judge.Meta, error) {
	req, err := j.render(step, passages)
	if err != nil {
		return answer{}, judge.Meta{}, err
	}
	req.MaxTokens = maxAnswerTokens
	req.Verdict, req.Legal = "label", labels()
	return llm.Ask[answer](ctx, j.setup.Completer, req)
}

// Messages are what the model is shown of a step: what a student is trained on.
func (j *LLM) Messages(step *schema.Step) ([]llm.Message, error) {
	req, err := j.render(step, tree.Readable(append(step.Own(), step.Earlier()...)))
	return req.Messages, err
}

// maxQuote is the schema's bound, in code points.
const maxQuote = 400

// Answer is what a model should answer. A quote that is too long for the schema
// is left out.
func Answer(label schema.Gap, quote string) (string, error) {
	quote = strings.TrimSpace(quote)
	if utf8.RuneCountInString(quote) > maxQuote {
		quote = ""
	}
	a := answer{Quote: quote, Label: label}
	if err := a.Validate(); err != nil {
		return "", err
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil {
		return "", fmt.Errorf("writing an answer: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}

func (j *LLM) render(step *schema.Step, passages []schema.Passage) (llm.Request, error) {
	said := Said(step)
	return j.template.Render(j.setup.Fencer, map[string]string{
		"question": step.Question,
		"earlier":  earlier(step.History),
		"step":     aim(step),
		"claim":    orNone(said),
		"passages": orNone(excerpt.Text(passages, said+" "+step.Query+" "+step.Question, j.setup.EvidenceRunes)),
	})
}

// Said is all that a step asserts, and where it abstains: claims and abstentions
// in one line.
func Said(step *schema.Step) string {
	reading := claim.Read(step)
	return oneLine(strings.Join(append(append([]string{}, reading.Claims...), reading.Abstentions...), " "))
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
func aim(step *schema.Step) string {
	switch query := oneLine(step.Query); {
	case query != "":
		return "looked for: " + query
	case step.Kind == schema.KindConclusion:
		return "concludes from what was found"
	default:
		return "claims something before any search"
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func orNone(text string) string {
	if strings.TrimSpace(text) == "" {
		return none
	}
	return text
}
