package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Format says how the endpoint is asked for JSON.
type Format string

// The ways to ask for JSON, from strictest to loosest.
const (
	// FormatSchema sends the strict JSON schema. OpenAI, vLLM, SGLang and
	// llama.cpp constrain the output to it.
	FormatSchema Format = "schema"
	// FormatObject asks for any JSON object; for endpoints without schemas.
	FormatObject Format = "object"
	// FormatNone sends no response_format; the prompt alone asks for JSON.
	FormatNone Format = "none"
)

// Config describes an endpoint and how patiently it is asked. Start from
// DefaultConfig.
type Config struct {
	// BaseURL ends before "/chat/completions", such as
	// "http://127.0.0.1:8080/v1".
	BaseURL string
	// MoreURLs are further endpoints that serve the same model with the same
	// key. Each call goes to one that is up and not busy.
	MoreURLs []string
	Model    string
	// Key is sent as a bearer token; empty sends none.
	Key Secret
	// Format is how JSON is asked for; empty means FormatSchema.
	Format Format
	// TopLogProbs asks for that many alternatives a token (1 to 20), from
	// which the confidence is computed; 0 asks for none.
	TopLogProbs int
	// MaxTokens bounds the answer of a request that sets no bound of its own.
	MaxTokens int
	// ReasoningTokens above 0 marks a model that reasons before it answers and
	// refuses a temperature and log probabilities: neither is sent, and that
	// many tokens are allowed on top of the answer's.
	ReasoningTokens int
	// CallTimeout bounds one HTTP attempt, so that a hung one leaves time for
	// another; the context bounds them all together. 0: the context alone.
	CallTimeout time.Duration
	// MaxAttempts bounds the HTTP attempts of one call, the first included.
	MaxAttempts int
	// BackoffBase and BackoffMax shape the full jitter: before attempt n+1 the
	// wait is uniform in [0, min(BackoffMax, BackoffBase * 2^(n-1))].
	BackoffBase, BackoffMax time.Duration
	// MaxWait is the longest Retry-After that is waited out in place; a longer
	// one is handed to the caller, so that no slot is held for it.
	MaxWait time.Duration
	// Hedge, if set, is how long after an attempt was sent a second is sent
	// beside it; the first answer counts and the other call is ended.
	Hedge time.Duration
	// Breaker is how many attempts in a row must fail for want of an endpoint
	// (no connection, 5xx, no answer in time) until no more are sent and it is
	// probed instead (Client.Probe must run); 0 for never.
	Breaker int
	// MaxBody bounds a response body, in bytes.
	MaxBody int64
	// Extra is merged into the request's JSON body; a null value removes a
	// key. For endpoints with manners of their own, such as
	// {"temperature": null, "max_tokens": null, "max_completion_tokens": 500}.
	Extra map[string]json.RawMessage
}

// DefaultConfig returns the defaults for everything but the endpoint.
func DefaultConfig() Config {
	return Config{
		Format:      FormatSchema,
		TopLogProbs: 5,
		MaxTokens:   400,
		CallTimeout: 30 * time.Second,
		MaxAttempts: 4,
		BackoffBase: 500 * time.Millisecond,
		BackoffMax:  8 * time.Second,
		MaxWait:     15 * time.Second,
		MaxBody:     1 << 20,
	}
}

// Validate reports every fault of the configuration. No message holds the key.
func (c Config) Validate() error {
	var errs []error
	for i, base := range append([]string{c.BaseURL}, c.MoreURLs...) {
		if err := checkURL(base); err != nil {
			errs = append(errs, err)
		}
		if slices.Contains(c.MoreURLs[:max(0, i-1)], base) || i > 0 && base == c.BaseURL {
			errs = append(errs, errors.New("base URL: one is given twice"))
		}
	}
	if c.Model == "" {
		errs = append(errs, errors.New("model: not set"))
	}
	switch c.Format {
	case "", FormatSchema, FormatObject, FormatNone:
	default:
		errs = append(errs, fmt.Errorf("format %q: want schema, object or none", c.Format))
	}
	if c.TopLogProbs < 0 || c.TopLogProbs > 20 {
		errs = append(errs, fmt.Errorf("top logprobs %d: want 0 to 20", c.TopLogProbs))
	}
	for _, f := range []struct {
		name string
		ok   bool
	}{
		{"max tokens", c.MaxTokens > 0},
		{"reasoning tokens", c.ReasoningTokens >= 0},
		{"call timeout", c.CallTimeout >= 0},
		{"max attempts", c.MaxAttempts > 0},
		{"backoff base", c.BackoffBase > 0},
		{"backoff max", c.BackoffMax >= c.BackoffBase},
		{"max wait", c.MaxWait >= 0},
		{"hedge", c.Hedge >= 0},
		{"breaker", c.Breaker >= 0},
		{"max body", c.MaxBody > 0},
	} {
		if !f.ok {
			errs = append(errs, fmt.Errorf("%s: out of range", f.name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("llm configuration: %w", err)
	}
	return nil
}

func checkURL(base string) error {
	switch u, err := url.Parse(base); {
	case err != nil:
		return errors.New("base URL: it cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return errors.New("base URL: want http(s)://host[:port]/path")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		// These would show in errors and logs.
		return errors.New("base URL: no user, query or fragment; give the key by environment or file")
	}
	return nil
}
