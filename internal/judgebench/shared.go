package judgebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/internal/judge/limit"
	"github.com/stepgap/stepgap/internal/judge/llm"
)

// The measurement of SharedLimit.
const (
	sharedProcesses = 4
	// sharedCallers of each process ask without a pause.
	sharedCallers = 8
	// sharedAllowed calls at once are served, each in sharedService; what is
	// above meets a 429.
	sharedAllowed = 4
	sharedService = 100 * time.Millisecond
	// sharedSettle is how long the limit is given to be found out.
	sharedSettle  = 4 * time.Second
	sharedMeasure = 12 * time.Second
)

// SharedLimit measures the limit that processes share. Four clients, each with
// its own NATS connection, call an endpoint of a capacity that they don't know:
// it serves four calls at once and answers 429 above that. It returns, for the
// time after the first seconds, the share of calls that met a 429, and the
// throughput as a share of what the endpoint allows, both in [0, 1]. It takes
// about 16 seconds.
func SharedLimit(ctx context.Context) (share429, throughputShare float64, err error) {
	endpoint, err := startCounted(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, endpoint.close()) }()
	dir, err := os.MkdirTemp("", "stepgap-limit-")
	if err != nil {
		return 0, 0, fmt.Errorf("making a folder for the NATS server: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := embedded.Start(embedded.Options{Dir: dir, Port: -1})
	if err != nil {
		return 0, 0, err
	}
	defer server.Close()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var callers sync.WaitGroup
	defer callers.Wait()
	defer cancel()
	for i := range sharedProcesses {
		client, leave, err := joinShared(ctx, server, endpoint.url, i)
		if err != nil {
			return 0, 0, err
		}
		defer leave()
		for range sharedCallers {
			callers.Go(func() {
				for ctx.Err() == nil {
					// A call that meets too many 429s fails; the next one asks anew.
					_, _ = client.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Is it stated?"}}, MaxTokens: 10})
				}
			})
		}
	}
	defer callers.Wait()
	defer cancel()
	if err := pauseFor(ctx, sharedSettle); err != nil {
		return 0, 0, err
	}
	served, refused := endpoint.served.Load(), endpoint.refused.Load()
	start := time.Now()
	if err := pauseFor(ctx, sharedMeasure); err != nil {
		return 0, 0, err
	}
	took := time.Since(start)
	served, refused = endpoint.served.Load()-served, endpoint.refused.Load()-refused
	if served == 0 {
		return 0, 0, errors.New("the endpoint served nothing")
	}
	allowed := float64(sharedAllowed) * took.Seconds() / sharedService.Seconds()
	return float64(refused) / float64(served+refused), float64(served) / allowed, nil
}

// joinShared does what a process does to call the endpoint.
func joinShared(ctx context.Context, server *embedded.Server, url string, i int) (*llm.Client, func(), error) {
	conn, err := bus.Connect(ctx, bus.Config{URL: server.URL(), Name: fmt.Sprintf("judge process %d", i+1)})
	if err != nil {
		return nil, nil, err
	}
	var topology bus.Topology
	for _, b := range bus.NewTopology(bus.Options{}).Buckets {
		if b.Bucket == bus.BucketLimits {
			topology.Buckets = append(topology.Buckets, b)
		}
	}
	if _, err := bus.Ensure(ctx, conn.JS, topology); err != nil {
		conn.Close()
		return nil, nil, err
	}
	kv, err := conn.JS.KeyValue(ctx, bus.BucketLimits)
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("opening bucket %s: %w", bus.BucketLimits, err)
	}
	limiter, err := limit.Open(ctx, limit.Config{Bucket: kv, Key: "endpoint", ID: fmt.Sprint("process-", i+1)})
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	leave := func() { limiter.Close(); conn.Close() }
	cfg := llm.DefaultConfig()
	cfg.BaseURL, cfg.Model = url, "counted"
	client, err := llm.New(cfg, llm.WithLimiter(func(string) llm.Limiter { return limiter }))
	if err != nil {
		leave()
		return nil, nil, err
	}
	return client, leave, nil
}

// counted is an endpoint that allows so much at once and counts.
type counted struct {
	url             string
	server          *http.Server
	busy            atomic.Int64
	served, refused atomic.Int64
	stopped         chan error
}

func startCounted(ctx context.Context) (*counted, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the measured endpoint: %w", err)
	}
	c := &counted{url: "http://" + listener.Addr().String() + "/v1", stopped: make(chan error, 1)}
	c.server = &http.Server{Handler: http.HandlerFunc(c.answer), ReadHeaderTimeout: 5 * time.Second}
	go func() { c.stopped <- c.server.Serve(listener) }()
	return c, nil
}

func (c *counted) close() error {
	if err := c.server.Close(); err != nil {
		return fmt.Errorf("stopping the measured endpoint: %w", err)
	}
	if err := <-c.stopped; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the measured endpoint stopped: %w", err)
	}
	return nil
}

func (c *counted) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if c.busy.Add(1) > sharedAllowed {
		c.busy.Add(-1)
		c.refused.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":{"message":"too many calls at once"}}`))
		return
	}
	err := pauseFor(r.Context(), sharedService)
	c.busy.Add(-1)
	if err != nil {
		return
	}
	c.served.Add(1)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "{}"}}},
		"usage":   map[string]any{"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21},
	})
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
