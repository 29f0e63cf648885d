package llm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/pkg/schema"
)

const goodBody = `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"stated\":\"yes\"}"}}]}`

func TestClient_SlowStreams(t *testing.T) {
	t.Parallel()
	t.Run("in pieces", func(t *testing.T) {
		t.Parallel()
		srv := llmtest.New(t, llmtest.Drip(goodBody, 40))
		c, _ := newTestClient(t, testConfig(srv.URL))
		got, meta, err := Ask[verdict](t.Context(), c, testRequest())
		require.NoError(t, err)
		require.Equal(t, "yes", got.Stated)
		require.Equal(t, 1, meta.Calls)
	})
	t.Run("stalled, then good", func(t *testing.T) {
		t.Parallel()
		srv := llmtest.New(t)
		srv.Then(srv.Stall(goodBody[:len(goodBody)/2]), llmtest.Text(`{"stated":"no"}`))
		cfg := testConfig(srv.URL)
		cfg.CallTimeout = 50 * time.Millisecond
		c, _ := newTestClient(t, cfg)
		got, meta, err := Ask[verdict](t.Context(), c, testRequest())
		require.NoError(t, err)
		require.Equal(t, "no", got.Stated, "half an answer is none")
		require.Equal(t, 2, meta.Calls)
	})
	t.Run("whole, but never closed", func(t *testing.T) {
		t.Parallel()
		srv := llmtest.New(t)
		srv.Then(srv.Stall(goodBody))
		cfg := testConfig(srv.URL)
		cfg.CallTimeout = 50 * time.Millisecond
		c, _ := newTestClient(t, cfg)
		got, meta, err := Ask[verdict](t.Context(), c, testRequest())
		je := judge.AsError(err)
		require.NotNil(t, je, "%+v", got)
		require.Equal(t, schema.ReasonJudgeTimeout, je.Reason)
		require.True(t, je.Temporary)
		require.Equal(t, 4, meta.Calls)
	})
}

func TestClient_RefusalIsNotArguedWith(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Refusal("I can't help with that."))
	c, _ := newTestClient(t, testConfig(srv.URL))
	_, meta, err := Ask[verdict](t.Context(), c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeError, je.Reason)
	require.False(t, je.Temporary)
	require.Equal(t, 1, meta.Calls)
	require.Equal(t, 120, meta.TokensIn, "a refusal is on the bill")
}

func TestClient_ResponseTwiceIsNoAnswer(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Twice(goodBody))
	c, _ := newTestClient(t, testConfig(srv.URL))
	_, meta, err := Ask[verdict](t.Context(), c, testRequest())
	je := judge.AsError(err)
	require.NotNil(t, je)
	require.Equal(t, schema.ReasonJudgeMalformed, je.Reason)
	require.Equal(t, 4, meta.Calls)
}

func TestClient_TLSFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start     func(testing.TB) *llmtest.Server
		calls     int
		temporary bool
	}{
		"a certificate that nobody vouches for": {func(t testing.TB) *llmtest.Server { return llmtest.NewTLS(t, llmtest.Raw(goodBody)) }, 1, false},
		"no TLS at all":                         {func(t testing.TB) *llmtest.Server { return llmtest.NewNoTLS(t, llmtest.Raw(goodBody)) }, 1, false},
		"a handshake that breaks off":           {func(t testing.TB) *llmtest.Server { return llmtest.NewCutTLS(t) }, 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := tc.start(t)
			c, _ := newTestClient(t, testConfig(srv.URL))
			_, meta, err := Ask[verdict](t.Context(), c, testRequest())
			je := judge.AsError(err)
			require.NotNil(t, je)
			require.Equal(t, schema.ReasonJudgeError, je.Reason)
			require.Equal(t, tc.temporary, je.Temporary, "%v", err)
			require.Equal(t, tc.calls, meta.Calls, "%v", err)
			require.Empty(t, srv.Calls(), "nothing may be sent to a stranger")
			require.NotContains(t, err.Error(), testKey)
		})
	}
}
