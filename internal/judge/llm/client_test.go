package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/pkg/schema"
)

const testKey = "sk-test-0123456789abcdef"

// verdict is an answer as a stage would ask for it.
type verdict struct {
	Reason string `json:"reason,omitempty"`
	Stated string `json:"stated"`
}

func (v *verdict) Validate() error {
	if v.Stated != "yes" && v.Stated != "no" {
		return errors.New("stated: want yes or no")
	}
	return nil
}

func testRequest() Request {
	return Request{
		Prompt:     "test@00000000",
		Messages:   []Message{{RoleSystem, "Judge."}, {RoleUser, "Is it stated?"}},
		SchemaName: "test", Schema: json.RawMessage(`{"type":"object"}`),
		MaxTokens: 50, Verdict: "stated", Legal: []string{"yes", "no"},
	}
}

func testConfig(url string) Config {
	cfg := DefaultConfig()
	cfg.BaseURL, cfg.Model, cfg.Key = url, "tester", NewSecret(testKey)
	return cfg
}

// sleeps records waits instead of waiting.
type sleeps struct {
	mu   sync.Mutex
	list []time.Duration
}

func (s *sleeps) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, d)
	return ctx.Err()
}

func newTestClient(t *testing.T, cfg Config, opts ...Option) (*Client, *sleeps) {
	t.Helper()
	s := &sleeps{}
	c, err := New(cfg, append([]Option{WithSleep(s.sleep), WithRand(func() float64 { return 0.5 })}, opts...)...)
	require.NoError(t, err)
	return c, s
}

func TestClient_SendsWhatWasAsked(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"stated":"yes"}`))
	c, _ := newTestClient(t, testConfig(srv.URL))
	got, meta, err := Ask[verdict](t.Context(), c, testRequest())
	require.NoError(t, err)
	require.Equal(t, verdict{Stated: "yes"}, got)
	require.Equal(t, judge.Meta{
		Judge: judge.KindLLM, Model: "tester", Prompt: "test@00000000",
		Calls: 1, TokensIn: 120, TokensOut: 9, TokensCached: 64,
	}, meta)

	calls := srv.Calls()
	require.Len(t, calls, 1)
	f := calls[0].Fields
	require.Equal(t, "0", string(f["temperature"]), "go-openai omits a zero temperature; the server's default would apply")
	require.Equal(t, "50", string(f["max_tokens"]))
	require.Equal(t, `"tester"`, string(f["model"]))
	require.JSONEq(t, `{"type":"json_schema","json_schema":{"name":"test","strict":true,"schema":{"type":"object"}}}`, string(f["response_format"]))
	require.Equal(t, "true", string(f["logprobs"]))
	require.Equal(t, "Bearer "+testKey, calls[0].Header.Get("Authorization"))
	require.Equal(t, []string{"Judge.", "Is it stated?"}, calls[0].Messages(t))
}

func TestClient_BodyVariants(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Config)
		want   map[string]string // "" means absent
	}{
		"reasoning model": {
			func(c *Config) { c.Model, c.ReasoningTokens = "o3-mini", 1000 },
			map[string]string{"temperature": "", "max_tokens": "", "logprobs": "", "max_completion_tokens": "1050"},
		},
		"extra adds, replaces and removes": {
			func(c *Config) {
				c.Extra = map[string]json.RawMessage{"seed": json.RawMessage("7"), "temperature": json.RawMessage("0.5"), "max_tokens": json.RawMessage("null")}
			},
			map[string]string{"seed": "7", "temperature": "0.5", "max_tokens": ""},
		},
		"object":       {func(c *Config) { c.Format = FormatObject }, map[string]string{"response_format": `{"type":"json_object"}`}},
		"no format":    {func(c *Config) { c.Format = FormatNone }, map[string]string{"response_format": ""}},
		"no log probs": {func(c *Config) { c.TopLogProbs = 0 }, map[string]string{"logprobs": "", "top_logprobs": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, llmtest.Text(`{"stated":"no"}`))
			cfg := testConfig(srv.URL)
			tc.change(&cfg)
			c, _ := newTestClient(t, cfg)
			_, _, err := Ask[verdict](t.Context(), c, testRequest())
			require.NoError(t, err)
			for key, want := range tc.want {
				require.Equal(t, want, string(srv.Calls()[0].Fields[key]), key)
			}
		})
	}
}

func TestClient_Faults(t *testing.T) {
	t.Parallel()
	ok := llmtest.Text(`{"stated":"yes"}`)
	type want struct {
		calls      int
		reason     schema.Reason // "" means success
		temporary  bool
		retryAfter time.Duration
		fault      Fault
	}
	good := func(calls int) want { return want{calls: calls} }
	for name, tc := range map[string]struct {
		script []llmtest.Reply
		want   want
	}{
		"429 then good":             {[]llmtest.Reply{llmtest.Status(429, "slow down"), ok}, good(2)},
		"408, 409, 503 then good":   {[]llmtest.Reply{llmtest.Status(408, ""), llmtest.Status(409, ""), llmtest.Status(503, ""), ok}, good(4)},
		"429 for ever":              {[]llmtest.Reply{llmtest.Status(429, "slow down", "Retry-After", "2")}, want{4, schema.ReasonJudgeError, true, 2 * time.Second, ""}},
		"429 with a long wait":      {[]llmtest.Reply{llmtest.Status(429, "quota", "Retry-After", "600")}, want{1, schema.ReasonJudgeError, true, 10 * time.Minute, ""}},
		"500 for ever":              {[]llmtest.Reply{llmtest.Status(500, "oops")}, want{4, schema.ReasonJudgeError, true, 0, ""}},
		"529 overloaded then good":  {[]llmtest.Reply{llmtest.Status(529, ""), ok}, good(2)},
		"400":                       {[]llmtest.Reply{llmtest.Status(400, "bad schema")}, want{1, schema.ReasonJudgeError, false, 0, ""}},
		"401":                       {[]llmtest.Reply{llmtest.Status(401, "Incorrect API key provided: "+testKey)}, want{1, schema.ReasonJudgeError, false, 0, ""}},
		"404":                       {[]llmtest.Reply{llmtest.Status(404, "no such model")}, want{1, schema.ReasonJudgeError, false, 0, ""}},
		"413":                       {[]llmtest.Reply{llmtest.Status(413, "too long")}, want{1, schema.ReasonJudgeError, false, 0, ""}},
		"redirect":                  {[]llmtest.Reply{redirect}, want{1, schema.ReasonJudgeError, false, 0, ""}},
		"dropped then good":         {[]llmtest.Reply{llmtest.Drop(), ok}, good(2)},
		"half body then good":       {[]llmtest.Reply{llmtest.HalfBody(`{"choices":[{"mess`), ok}, good(2)},
		"half body for ever":        {[]llmtest.Reply{llmtest.HalfBody(`{"choices":[{"mess`)}, want{4, schema.ReasonJudgeError, true, 0, ""}},
		"html from a proxy":         {[]llmtest.Reply{llmtest.Raw("<html>Sign in</html>")}, want{4, schema.ReasonJudgeMalformed, false, 0, ""}},
		"cut JSON, well framed":     {[]llmtest.Reply{llmtest.Raw(`{"choices":[{"message":{"con`), ok}, good(2)},
		"JSON of another shape":     {[]llmtest.Reply{llmtest.Raw(`{"choices":"none"}`)}, want{1, schema.ReasonJudgeMalformed, false, 0, ""}},
		"a JSON array":              {[]llmtest.Reply{llmtest.Raw(`[]`)}, want{1, schema.ReasonJudgeMalformed, false, 0, ""}},
		"over the size limit":       {[]llmtest.Reply{llmtest.Raw(`{"pad":"` + strings.Repeat("x", 2<<20) + `"}`)}, want{1, schema.ReasonJudgeMalformed, false, 0, ""}},
		"empty choices for ever":    {[]llmtest.Reply{llmtest.Raw(`{"choices":[]}`)}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultNoChoice}},
		"empty choices then good":   {[]llmtest.Reply{llmtest.Raw(`{"choices":[]}`), ok}, good(2)},
		"empty object":              {[]llmtest.Reply{llmtest.Raw(`{}`)}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultNoChoice}},
		"empty content":             {[]llmtest.Reply{llmtest.Text("")}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultEmpty}},
		"null content":              {[]llmtest.Reply{llmtest.Raw(`{"choices":[{"message":{"role":"assistant","content":null}}]}`)}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultEmpty}},
		"refusal field":             {[]llmtest.Reply{llmtest.Raw(`{"choices":[{"message":{"role":"assistant","refusal":"I can't help with that."}}]}`)}, want{1, schema.ReasonJudgeError, false, 0, FaultRefusal}},
		"content filter":            {[]llmtest.Reply{llmtest.Finish("", "content_filter")}, want{1, schema.ReasonJudgeError, false, 0, FaultFiltered}},
		"refusal in prose":          {[]llmtest.Reply{llmtest.Text("I'm sorry, but I can't judge that.")}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultNotJSON}},
		"cut by length":             {[]llmtest.Reply{llmtest.Finish(`{"stated":"yes"}`, "length")}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultLength}},
		"cut by length, then good":  {[]llmtest.Reply{llmtest.Finish(`{`, "length"), ok}, good(2)},
		"fenced":                    {[]llmtest.Reply{llmtest.Text("```json\n{\"stated\": \"yes\"}\n```")}, good(1)},
		"wrong value, then good":    {[]llmtest.Reply{llmtest.Text(`{"stated":"maybe"}`), ok}, good(2)},
		"wrong value for ever":      {[]llmtest.Reply{llmtest.Text(`{"stated":"maybe"}`)}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultValue}},
		"wrong type":                {[]llmtest.Reply{llmtest.Text(`{"stated":true}`)}, want{2, schema.ReasonJudgeMalformed, false, 0, FaultType}},
		"repair meets a 401":        {[]llmtest.Reply{llmtest.Text(`no`), llmtest.Status(401, "expired")}, want{2, schema.ReasonJudgeError, false, 0, FaultNotJSON}},
		"content as parts":          {[]llmtest.Reply{llmtest.Raw(`{"choices":[{"message":{"role":"assistant","content":[{"type":"text","text":"{\"stated\":\"yes\"}"}]}}]}`)}, good(1)},
		"429 whose body is no JSON": {[]llmtest.Reply{rawStatus(429, "<html>"), ok}, good(2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, tc.script...)
			c, _ := newTestClient(t, testConfig(srv.URL))
			got, meta, err := Ask[verdict](t.Context(), c, testRequest())
			require.Len(t, srv.Calls(), tc.want.calls, "calls on the wire")
			require.Equal(t, tc.want.calls, meta.Calls, "calls counted")
			if tc.want.reason == "" {
				require.NoError(t, err)
				require.Equal(t, "yes", got.Stated)
				return
			}
			je := judge.AsError(err)
			require.NotNil(t, je, "%v", err)
			require.Equal(t, tc.want.reason, je.Reason, "%v", err)
			require.Equal(t, tc.want.temporary, je.Temporary, "%v", err)
			require.Equal(t, tc.want.retryAfter, je.RetryAfter)
			require.Equal(t, meta, je.Meta)
			require.Empty(t, got, "a failure is never a verdict")
			var answer *AnswerError
			if tc.want.fault != "" {
				require.ErrorAs(t, err, &answer)
				require.Equal(t, tc.want.fault, answer.Fault, "%v", err)
			} else {
				require.False(t, errors.As(err, &answer), "%v", err)
			}
			require.NotContains(t, err.Error(), testKey)
			require.Less(t, len(err.Error()), 2000)
		})
	}
}

func redirect(w http.ResponseWriter, r *http.Request, _ llmtest.Call) {
	http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
}

func rawStatus(code int, body string) llmtest.Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ llmtest.Call) { http.Error(w, body, code) }
}

func TestClient_HangEndsWithTheBudget(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t)
	srv.Then(srv.Hang())
	cfg := testConfig(srv.URL)
	cfg.CallTimeout = 0
	c, _ := newTestClient(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, meta, err := Ask[verdict](ctx, c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeTimeout, je.Reason)
	require.False(t, je.Temporary, "the stage's budget is spent")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, 1, meta.Calls)
}

func TestClient_HungAttemptLeavesTimeForAnother(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t)
	srv.Then(srv.Hang(), llmtest.Text(`{"stated":"yes"}`))
	cfg := testConfig(srv.URL)
	cfg.CallTimeout = 50 * time.Millisecond
	c, _ := newTestClient(t, cfg)
	got, meta, err := Ask[verdict](t.Context(), c, testRequest())
	require.NoError(t, err)
	require.Equal(t, "yes", got.Stated)
	require.Equal(t, 2, meta.Calls)

	srv.Then(srv.Hang())
	_, _, err = Ask[verdict](t.Context(), c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeTimeout, je.Reason)
	require.True(t, je.Temporary)
}

func TestClient_Cancelled(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t)
	srv.Then(srv.Hang())
	c, _ := newTestClient(t, testConfig(srv.URL))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Ask[verdict](ctx, c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.True(t, je.Temporary, "a shutdown is no verdict on the step")
	require.ErrorIs(t, err, context.Canceled)
}

func TestClient_UntrustedCertificate(t *testing.T) {
	t.Parallel()
	srv := llmtest.NewTLS(t, llmtest.Text(`{"stated":"yes"}`))
	c, _ := newTestClient(t, testConfig(srv.URL))
	_, meta, err := Ask[verdict](t.Context(), c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeError, je.Reason)
	require.False(t, je.Temporary)
	require.Equal(t, 1, meta.Calls)
	require.Empty(t, srv.Calls(), "nothing may be sent to a stranger")
}

func TestClient_Unreachable(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{}`))
	srv.HTTP.Listener.Close()
	c, s := newTestClient(t, testConfig(srv.URL))
	_, meta, err := Ask[verdict](t.Context(), c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeError, je.Reason)
	require.True(t, je.Temporary)
	require.Equal(t, 4, meta.Calls)
	// Full jitter at its middle: half of 0.5 s, 1 s, 2 s.
	require.Equal(t, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}, s.list)
}

func TestClient_RetryAfterIsWaitedOutWithJitterOnTop(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t,
		llmtest.Status(429, "", "Retry-After", "3"),
		llmtest.Status(503, "", "Retry-After-Ms", "1500", "Retry-After", "60"),
		llmtest.Text(`{"stated":"yes"}`))
	c, s := newTestClient(t, testConfig(srv.URL))
	_, _, err := Ask[verdict](t.Context(), c, testRequest())
	require.NoError(t, err)
	require.Equal(t, []time.Duration{3250 * time.Millisecond, 2 * time.Second}, s.list)
}

func TestClient_NoWaitPastTheDeadline(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Status(429, "", "Retry-After", "5"))
	c, s := newTestClient(t, testConfig(srv.URL))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	_, _, err := Ask[verdict](ctx, c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.True(t, je.Temporary)
	require.Equal(t, 5*time.Second, je.RetryAfter, "handed on, so that the slot is free meanwhile")
	require.Empty(t, s.list)
	require.Len(t, srv.Calls(), 1)
}

func TestAsk_RepairTellsWhatWasWrong(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"stated":"perhaps"}`), llmtest.Text(`{"stated":"no"}`))
	c, _ := newTestClient(t, testConfig(srv.URL))
	got, meta, err := Ask[verdict](t.Context(), c, testRequest())
	require.NoError(t, err)
	require.Equal(t, "no", got.Stated)
	require.Equal(t, 240, meta.TokensIn, "both calls are on the bill")
	messages := srv.Calls()[1].Messages(t)
	require.Equal(t, []string{"Judge.", "Is it stated?", `{"stated":"perhaps"}`}, messages[:3])
	require.Contains(t, messages[3], "want yes or no")
}

func TestAsk_LengthRepairGivesRoom(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Finish(`{"stat`, "length"), llmtest.Text(`{"stated":"no"}`))
	c, _ := newTestClient(t, testConfig(srv.URL))
	_, _, err := Ask[verdict](t.Context(), c, testRequest())
	require.NoError(t, err)
	require.Equal(t, "100", string(srv.Calls()[1].Fields["max_tokens"]))
	require.Len(t, srv.Calls()[1].Messages(t), 2)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		" 0.25 ":                        250 * time.Millisecond,
		"-3":                            0,
		"NaN":                           0,
		"+Inf":                          time.Hour,
		"1e300":                         time.Hour,
		"soon":                          0,
		"Mon, 30 Nov 2026 12:00:09 GMT": 9 * time.Second,
		"Mon, 30 Nov 2026 11:00:00 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {value}}, now), "%q", value)
	}
}
