package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Role of a message.
type Role string

// Roles, by their names on the wire.
const (
	RoleSystem    Role = openai.ChatMessageRoleSystem
	RoleUser      Role = openai.ChatMessageRoleUser
	RoleAssistant Role = openai.ChatMessageRoleAssistant
)

// Message is one turn of a request.
type Message struct {
	Role Role
	Text string
}

// Request is one question to a model.
type Request struct {
	// Prompt is the version of the prompt, for the trail.
	Prompt string
	// Input is a hash of that version and of what the prompt was filled with;
	// empty where the request was not made from a template.
	Input    string
	Messages []Message
	// SchemaName and Schema are the answer's strict JSON schema.
	SchemaName string
	Schema     json.RawMessage
	// MaxTokens bounds the answer; 0 takes the configured bound.
	MaxTokens int
	// Verdict names the string field of the answer that decides, and Legal its
	// values: from their tokens the confidence is computed. Empty: none.
	Verdict string
	Legal   []string
}

// Token is one token of an answer and what else the model considered there.
type Token struct {
	Text string
	// Top maps alternatives, the token itself included, to log probabilities.
	Top map[string]float64
}

// Completion is a model's answer as it came, not yet read.
type Completion struct {
	// Choices is how many the endpoint sent; with 0 the rest is empty.
	Choices int
	Content string
	// Refusal is the model's own statement that it won't answer.
	Refusal string
	// Finish is the endpoint's finish_reason, such as "stop" or "length".
	Finish string
	Tokens []Token
	// Meta counts what it cost.
	Meta judge.Meta
}

// Completer answers requests. Client is the one that reaches an endpoint;
// caches, limits and recorded runs wrap one. Errors are *judge.Error.
type Completer interface {
	Complete(ctx context.Context, req Request) (Completion, error)
}

// Client is a Completer over one or more OpenAI-compatible endpoints of one
// model. It is safe for concurrent use.
type Client struct {
	cfg Config
	api *openai.Client
	t   *transport
}

// Option changes how a Client is built.
type Option func(*transport)

// WithRoundTripper replaces the HTTP round tripper, as for a private CA.
func WithRoundTripper(rt http.RoundTripper) Option {
	return func(t *transport) { t.http = newHTTPClient(rt) }
}

// WithSleep replaces the wait between attempts.
func WithSleep(sleep func(ctx context.Context, d time.Duration) error) Option {
	return func(t *transport) { t.sleep = sleep }
}

// WithRand replaces the source of jitter, which gives numbers in [0, 1).
func WithRand(rand func() float64) Option {
	return func(t *transport) { t.rand = rand }
}

// WithLimiter bounds the attempts at each endpoint; of is called once for each
// base URL.
func WithLimiter(of func(base string) Limiter) Option {
	return func(t *transport) { t.limit = of }
}

// WithObserver is told of every attempt that was sent; it must be quick.
func WithObserver(watch func(Attempt)) Option {
	return func(t *transport) { t.watch = watch }
}

// WithLog says where endpoints that go down and come up are told of.
func WithLog(log *slog.Logger) Option {
	return func(t *transport) { t.log = log }
}

// New returns a client for cfg's endpoint. It does not reach out yet.
func New(cfg Config, opts ...Option) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	t := &transport{cfg: cfg, sleep: sleepContext, rand: rand.Float64, now: time.Now, log: slog.New(slog.DiscardHandler), watch: func(Attempt) {}}
	for _, opt := range opts {
		opt(t)
	}
	if t.http == nil {
		t.http = newHTTPClient(nil)
	}
	t.pool = newPool(cfg, t.rand, t.now)
	for _, e := range t.pool.endpoints {
		if t.limit != nil {
			e.limiter = t.limit(e.base)
		}
	}
	oc := openai.DefaultConfig(cfg.Key.Reveal())
	oc.BaseURL = cfg.BaseURL
	oc.HTTPClient = t
	c := &Client{cfg: cfg, api: openai.NewClientWithConfig(oc), t: t}
	// go-openai refuses some requests by the model's name; better now than at
	// every step.
	if err := openai.NewReasoningValidator().Validate(c.request(Request{Verdict: "any"})); err != nil {
		return nil, fmt.Errorf("llm configuration: model %q reasons; set its reasoning tokens: %w", cfg.Model, err)
	}
	return c, nil
}

// Model is the name that requests are sent with.
func (c *Client) Model() string { return c.cfg.Model }

// Complete sends req, retrying what can pass, and returns the answer unread.
// Its errors are *judge.Error: judge_timeout where ctx ended before any
// response, judge_malformed where the response was no completion,
// judge_error otherwise; Temporary where the same call may succeed later.
func (c *Client) Complete(ctx context.Context, req Request) (Completion, error) {
	ctx, ex := withExchange(ctx)
	res, err := c.api.CreateChatCompletion(ctx, c.request(req))
	meta := judge.Meta{Judge: judge.KindLLM, Model: c.cfg.Model, Prompt: req.Prompt, Calls: ex.attempts}
	if err != nil {
		return Completion{Meta: meta}, c.fail(ctx, ex, meta, err)
	}
	meta.TokensIn, meta.TokensOut = max(0, res.Usage.PromptTokens), max(0, res.Usage.CompletionTokens)
	if d := res.Usage.PromptTokensDetails; d != nil {
		meta.TokensCached = max(0, d.CachedTokens)
	}
	out := Completion{Choices: len(res.Choices), Meta: meta}
	if len(res.Choices) > 0 {
		first := res.Choices[0]
		out.Content, out.Refusal = messageText(first.Message), first.Message.Refusal
		out.Finish = string(first.FinishReason)
		out.Tokens = tokens(first.LogProbs)
	}
	return out, nil
}

func (c *Client) request(req Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: c.cfg.Model}
	limit := req.MaxTokens
	if limit <= 0 {
		limit = c.cfg.MaxTokens
	}
	reasons := c.cfg.ReasoningTokens > 0
	if reasons {
		out.MaxCompletionTokens = limit + c.cfg.ReasoningTokens
	} else {
		// The newer name is unknown to many compatible servers.
		out.MaxTokens = limit //lint:ignore SA1019 llama.cpp, older vLLM and others read max_tokens alone
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text})
	}
	switch {
	case c.cfg.Format == FormatNone:
	case c.cfg.Format == FormatObject || len(req.Schema) == 0:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	default:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: req.SchemaName, Schema: req.Schema, Strict: true,
			},
		}
	}
	if c.cfg.TopLogProbs > 0 && !reasons && req.Verdict != "" {
		out.LogProbs, out.TopLogProbs = true, c.cfg.TopLogProbs
	}
	return out
}

// messageText joins the parts that some endpoints send instead of a string.
func messageText(m openai.ChatCompletionMessage) string {
	text := m.Content
	for _, part := range m.MultiContent {
		text += part.Text
	}
	return text
}

func tokens(lp *openai.LogProbs) []Token {
	if lp == nil {
		return nil
	}
	out := make([]Token, len(lp.Content))
	for i, t := range lp.Content {
		out[i] = Token{Text: t.Token, Top: map[string]float64{t.Token: t.LogProb}}
		for _, alt := range t.TopLogProbs {
			out[i].Top[alt.Token] = alt.LogProb
		}
	}
	return out
}

// fail types err. The budget running out before any response is the judge's
// time-out and final; everything that a later call may not meet is temporary.
func (c *Client) fail(ctx context.Context, ex *exchange, meta judge.Meta, err error) error {
	out := &judge.Error{Reason: schema.ReasonJudgeError, Meta: meta, Down: c.t.pool.fruitless()}
	var status *statusError
	hasStatus := errors.As(err, &status)
	if hasStatus {
		out.RetryAfter = status.wait
	}
	var down *downError
	switch {
	case errors.Is(err, errQueued):
		out.Temporary, out.Queued = true, true
	case errors.As(err, &down):
		out.Temporary, out.RetryAfter = true, down.next
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && !ex.answered:
		out.Reason = schema.ReasonJudgeTimeout
	case ctx.Err() != nil: // cancelled, or out of time after answers that could be retried
		out.Temporary = true
	case errors.Is(err, errCallTimeout):
		out.Reason, out.Temporary = schema.ReasonJudgeTimeout, true
	case hasStatus:
		out.Temporary = retryable(err)
	case errors.Is(err, errNotJSON), errors.Is(err, errTooLarge):
		out.Reason = schema.ReasonJudgeMalformed
	case isDecode(err):
		out.Reason = schema.ReasonJudgeMalformed
	case ex.attempts == 0: // refused before anything was sent
	default:
		out.Temporary = retryable(err)
	}
	out.Err = fmt.Errorf("asking model %q: %s", c.cfg.Model, scrub(err.Error(), c.cfg.Key))
	if cause := ctx.Err(); cause != nil {
		out.Err = fmt.Errorf("asking model %q: %s: %w", c.cfg.Model, scrub(err.Error(), c.cfg.Key), cause)
	}
	return out
}

// isDecode reports whether the response was JSON of another shape.
func isDecode(err error) bool {
	var typeErr *json.UnmarshalTypeError
	var syntaxErr *json.SyntaxError
	return errors.As(err, &typeErr) || errors.As(err, &syntaxErr)
}
