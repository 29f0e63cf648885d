package judgebench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/examples"
	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/spend"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// settings are those of a pipeline that asks url, its D and E free of cost.
func settings(t *testing.T, url string) app.Config {
	t.Helper()
	cfg, err := app.LoadConfig(nil, func() []string { return nil })
	require.NoError(t, err)
	cfg.Judge, cfg.JudgeNLI, cfg.LLMURL, cfg.LLMModel, cfg.LLMConcurrency = "llm", "free", url, "rules", 64
	return cfg
}

// labelled sends the examples through a pipeline and returns what stands.
func labelled(t *testing.T, cfg app.Config, o check.Options) []*schema.Label {
	t.Helper()
	pipe, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, pipe.Stop()) }()
	send(t, pipe, o)
	return standing(t, pipe)
}

func send(t *testing.T, pipe *pipeline.Pipeline, o check.Options) {
	t.Helper()
	text, err := examples.Open("rollouts.jsonl")
	require.NoError(t, err)
	o.Run = "r"
	_, err = check.Run(t.Context(), pipe.Client, transcript.Decode(strings.NewReader(text), "examples", transcript.Options{}), o, func(*check.Result) error { return nil })
	require.NoError(t, err)
}

func standing(t *testing.T, pipe *pipeline.Pipeline) []*schema.Label {
	t.Helper()
	var labels []*schema.Label
	require.NoError(t, bus.EachLabel(t.Context(), pipe.Conn.JS, "r", func(l *schema.Label) error {
		labels = append(labels, l)
		return nil
	}))
	require.NotEmpty(t, labels)
	return labels
}

// said is what a label says, byte for byte, without when and for how much.
func said(t *testing.T, labels []*schema.Label) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, l := range labels {
		l := *l
		l.AcceptedNS = 0
		l.Trail = append([]schema.TrailEntry(nil), l.Trail...)
		for i := range l.Trail {
			e := &l.Trail[i]
			e.LatencyUS, e.Calls, e.TokensIn, e.TokensOut, e.TokensCached, e.CacheHit = 0, 0, 0, 0, 0, false
		}
		b, err := schema.Encode(&l)
		require.NoError(t, err)
		out[schema.StepID{Run: l.Run, Rollout: l.Rollout, Index: l.Index}.String()] = b
	}
	return out
}

func start(t *testing.T) *Endpoint {
	t.Helper()
	e, err := StartEndpoint(0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func TestARecordedRunIsRepeatedByteForByteWithoutAnEndpoint(t *testing.T) {
	t.Parallel()
	endpoint := start(t)
	cfg := settings(t, endpoint.URL)
	cfg.Record = filepath.Join(t.TempDir(), "verdicts.jsonl")
	want := said(t, labelled(t, cfg, check.Options{}))
	calls := endpoint.Calls()
	require.NotZero(t, calls)

	replay := settings(t, "")
	replay.LLMModel, replay.Judge, replay.Replay = "", "auto", cfg.Record
	labels := labelled(t, replay, check.Options{})
	require.Equal(t, want, said(t, labels))
	require.Equal(t, calls, endpoint.Calls(), "a replay asks nobody")
	var ledger cost.Ledger
	for _, l := range labels {
		ledger.Add(l)
	}
	bill := ledger.Bill("r", cost.Prices{})
	require.Zero(t, bill.Total.Calls)
	require.Zero(t, bill.Total.TokensIn)
	require.Equal(t, bill.Total.Verdicts, bill.Total.CacheHits)

	// Without its last verdict a step is ungraded, and says why; no other is.
	b, err := os.ReadFile(cfg.Record)
	require.NoError(t, err)
	b = bytes.TrimSuffix(b, []byte("\n"))
	short := filepath.Join(t.TempDir(), "short.jsonl")
	require.NoError(t, os.WriteFile(short, b[:bytes.LastIndexByte(b, '\n')+1], 0o600))
	replay.Replay = short
	got := labelled(t, replay, check.Options{})
	missing := 0
	for _, l := range got {
		if l.Reason == schema.ReasonJudgeError {
			missing++
			require.Contains(t, l.Detail, "the recording has no verdict on this")
			require.Contains(t, l.Detail, "stage ")
		}
	}
	require.NotZero(t, missing)
	require.Equal(t, calls, endpoint.Calls())
}

// faulty passes requests on to an endpoint, with faults that depend on what is
// asked, and counts what it serves.
type faulty struct {
	endpoint *Endpoint

	mu                 sync.Mutex
	seen               map[[sha256.Size]byte]int
	calls, in, out, ch int
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	key := sha256.Sum256(body.Bytes())
	f.mu.Lock()
	f.calls++
	times := f.seen[key]
	f.seen[key]++
	f.mu.Unlock()
	quote := bytes.Contains(body.Bytes(), []byte(`"quote_extract"`))
	switch {
	case key[0]%5 == 0 && times < 3: // a temporary failure of the call, then none
		http.Error(w, "busy", http.StatusInternalServerError)
		return
	case key[0]%5 == 1:
		http.Error(w, "no", http.StatusBadRequest)
		return
	case key[0]%5 == 2 && quote: // until the step's deadline
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	rec := httptest.NewRecorder()
	inner := r.Clone(r.Context())
	inner.Body = readCloser{&body}
	f.endpoint.complete(rec, inner)
	var answer map[string]json.RawMessage
	var usage struct {
		In      int `json:"prompt_tokens"`
		Out     int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	_ = json.Unmarshal(rec.Body.Bytes(), &answer)
	_ = json.Unmarshal(answer["usage"], &usage)
	if key[0]%5 == 3 { // paid for, and unusable
		answer["choices"] = json.RawMessage(`[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"I think so."}}]`)
	}
	f.mu.Lock()
	f.in, f.out, f.ch = f.in+usage.In, f.out+usage.Out, f.ch+usage.Details.Cached
	f.mu.Unlock()
	_ = json.NewEncoder(w).Encode(answer)
}

type readCloser struct{ *bytes.Buffer }

func (readCloser) Close() error { return nil }

func TestTheLedgerIsWhatWasSpentAlsoWhereStepsEndUngraded(t *testing.T) {
	t.Parallel()
	f := &faulty{endpoint: start(t), seen: map[[sha256.Size]byte]int{}}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	cfg := settings(t, srv.URL+"/v1")
	cfg.Secret = "bench" // so that the faults are the same each time
	cfg.LLMAttempts, cfg.LLMBreaker = 2, 0
	cfg.PriceIn, cfg.PriceOut, cfg.PriceCached = 2, 8, 0.5
	pipe, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pipe.Stop()) })
	send(t, pipe, check.Options{Deadline: 5 * time.Second})

	var ledger cost.Ledger
	reasons := map[schema.Reason]int{}
	retried, late := 0, 0
	for _, l := range standing(t, pipe) {
		ledger.Add(l)
		reasons[l.Reason]++
		for _, e := range l.Trail {
			if e.Outcome == "retried" {
				retried++
				if l.Label == schema.GapUngraded {
					late++
				}
			}
		}
	}
	prices, err := app.PricesOf(cfg)
	require.NoError(t, err)
	bill := ledger.Bill("r", prices)
	t.Logf("reasons %v, retried %d, of these ungraded %d, %+v", reasons, retried, late, bill.Total)
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Equal(t, []int{f.in, f.out, f.ch}, []int{bill.Total.TokensIn, bill.Total.TokensOut, bill.Total.TokensCached})
	// A deadline can cut a call short that was sent and did not arrive.
	require.GreaterOrEqual(t, bill.Total.Calls, f.calls)
	require.LessOrEqual(t, bill.Total.Calls, f.calls+reasons[schema.ReasonDeadline]+reasons[schema.ReasonJudgeTimeout])
	require.NotZero(t, reasons[schema.ReasonJudgeError])
	require.NotZero(t, reasons[schema.ReasonJudgeMalformed])
	require.NotZero(t, reasons[schema.ReasonDeadline]+reasons[schema.ReasonJudgeTimeout])
	require.NotZero(t, retried)
	bucket, err := pipe.Conn.JS.KeyValue(t.Context(), bus.BucketSpend)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		s, err := spend.Read(t.Context(), bucket, "default")
		return err == nil && s.Spent > *bill.Total.Cost-1e-6 && s.Spent < *bill.Total.Cost+1e-6
	}, time.Minute, 10*time.Millisecond, "the account says the same")
}

func TestACapStopsPullingAndARaisedOneGoesOn(t *testing.T) {
	t.Parallel()
	endpoint := start(t)
	cfg := settings(t, endpoint.URL)
	cfg.PriceIn, cfg.PriceOut, cfg.Workers = 1000, 1000, 2
	cfg.SpendCap = 0.001 // reached by the first call
	pipe, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pipe.Stop()) })
	bucket, err := pipe.Conn.JS.KeyValue(t.Context(), bus.BucketSpend)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		send(t, pipe, check.Options{})
	}()
	require.Eventually(t, func() bool {
		s, err := spend.Read(t.Context(), bucket, "default")
		return err == nil && s.Stopped
	}, time.Minute, 5*time.Millisecond)
	// Every stage's two workers may each have had one message in hand.
	waiting := func() uint64 {
		var n uint64
		for _, name := range []string{bus.StreamSteps, bus.StreamQuote, bus.StreamAbstain} {
			stream, err := pipe.Conn.JS.Stream(context.Background(), name)
			require.NoError(t, err)
			n += stream.CachedInfo().State.Msgs
		}
		return n
	}
	require.Eventually(t, func() bool { return waiting() > 0 }, time.Minute, 5*time.Millisecond)
	select {
	case <-done:
		require.Fail(t, "the run went on")
	default:
	}
	require.LessOrEqual(t, endpoint.Calls(), 12)
	require.NoError(t, spend.SetCap(t.Context(), bucket, "default", 1e6))
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		require.Fail(t, "still held back")
	}
	for _, l := range standing(t, pipe) {
		require.True(t, l.Label.Graded(), "%s: %s", l.Reason, l.Detail)
	}
}
