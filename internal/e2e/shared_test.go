package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// narrow is an endpoint that serves few calls at once and answers 429 above.
type narrow struct {
	allowed int
	service time.Duration

	mu    sync.Mutex
	busy  int
	most  int
	calls []call
}

type call struct {
	at      time.Time
	refused bool
}

func (n *narrow) enter() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	refused := n.busy >= n.allowed
	n.calls = append(n.calls, call{time.Now(), refused})
	if refused {
		return false
	}
	n.busy++
	n.most = max(n.most, n.busy)
	return true
}

func (n *narrow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !n.enter() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"too many"}}`, http.StatusTooManyRequests)
		return
	}
	defer func() {
		n.mu.Lock()
		n.busy--
		n.mu.Unlock()
	}()
	select {
	case <-time.After(n.service):
	case <-r.Context().Done():
		return
	}
	answer, _ := json.Marshal(map[string]string{"needed": "the year", "aim": "aligned"})
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "model": "narrow",
		"choices": []map[string]any{{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": string(answer)}}},
		"usage":   map[string]int{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	})
}

// since counts calls and refusals from a time on.
func (n *narrow) since(t time.Time) (calls, refused int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.calls {
		if c.at.After(t) {
			calls++
			if c.refused {
				refused++
			}
		}
	}
	return calls, refused
}

// Four processes of one stage share what an endpoint of unknown capacity
// allows: after the first seconds hardly a call meets a 429.
func TestFourJudgeProcessesShareOneEndpointsLimit(t *testing.T) {
	endpoint := &narrow{allowed: 4, service: 100 * time.Millisecond}
	server := httptest.NewServer(endpoint)
	t.Cleanup(server.Close)
	url := natsServer(t)
	for _, r := range []string{"quote-extract", "nli-worker"} {
		role(t, url, r, "--judge", "free", "--judge-nli", "free")
	}
	const processes = 4
	for range processes {
		role(t, url, "entity-check", "--judge-entity", "llm", "--llm-url", server.URL+"/v1", "--llm-model", "narrow", "--cache-ttl", "0")
	}
	conn := dial(t, url)
	c, err := client.New(conn.NC)
	require.NoError(t, err)

	// About 15 seconds of work at 40 calls a second.
	const steps = 600
	start := time.Now()
	for i := range steps {
		_, err := c.PublishStep(t.Context(), &schema.Step{
			Run: "shared", Rollout: fmt.Sprintf("r%d", i), Index: 1, Kind: schema.KindSearch,
			Question: "In what year was the bridge built?", Query: fmt.Sprintf("bridge %d built", i), Claim: "The bridge was built.",
		}, client.Deadline(0))
		require.NoError(t, err)
	}
	s, err := conn.JS.Stream(t.Context(), bus.StreamLabels)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		info, err := s.Info(t.Context())
		return err == nil && info.State.Msgs == steps
	}, 3*time.Minute, 100*time.Millisecond, "every step gets its label")
	took := time.Since(start)

	calls, refused := endpoint.since(start.Add(4 * time.Second))
	all, allRefused := endpoint.since(start)
	t.Logf("%d processes: %d calls in %.1f s, %d met a 429; after 4 s %d calls, %d met a 429; %d at once at most; %.2f of what the endpoint allows",
		processes, all, took.Seconds(), allRefused, calls, refused, endpoint.most,
		float64(all-allRefused)*endpoint.service.Seconds()/float64(endpoint.allowed)/took.Seconds())
	require.Positive(t, calls)
	require.Less(t, float64(refused)/float64(calls), 0.02, "calls that met a 429 after the first seconds")
	require.Zero(t, func() uint64 {
		dead, err := conn.JS.Stream(t.Context(), bus.StreamDead)
		require.NoError(t, err)
		return dead.CachedInfo().State.Msgs
	}(), "no dead letters")
}
