package judgebench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Endpoint is an OpenAI-compatible endpoint on loopback that answers the
// questions of A, B and C by the local judge's rules. An answer depends on
// nothing but the fenced data of the request, and A's names a digest of it: a
// verdict given to other inputs than its own shows.
type Endpoint struct {
	// URL is the base URL for a client.
	URL    string
	server *http.Server
	delay  time.Duration
	calls  atomic.Int64
}

// maxRequest bounds a request's body, in bytes.
const maxRequest = 8 << 20

// StartEndpoint starts one; each answer takes delay.
func StartEndpoint(delay time.Duration) (*Endpoint, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the endpoint: %w", err)
	}
	e := &Endpoint{URL: "http://" + listener.Addr().String() + "/v1", delay: delay}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", e.complete)
	e.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = e.server.Serve(listener) }() // ends with Close
	return e, nil
}

// Close stops it.
func (e *Endpoint) Close() error { return e.server.Close() }

// Calls is the number of requests answered so far.
func (e *Endpoint) Calls() int { return int(e.calls.Load()) }

type request struct {
	Messages []struct {
		Content string `json:"content"`
	} `json:"messages"`
	ResponseFormat struct {
		JSONSchema struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (e *Endpoint) complete(w http.ResponseWriter, r *http.Request) {
	e.calls.Add(1)
	var req request
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err == nil && len(req.Messages) == 0 {
		err = errors.New("no messages")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	last := req.Messages[len(req.Messages)-1].Content
	answer, err := answerOf(r.Context(), req.ResponseFormat.JSONSchema.Name, fieldsOf(last))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(e.delay):
	case <-r.Context().Done():
		return
	}
	static := 0
	for _, m := range req.Messages[:len(req.Messages)-1] {
		static += len(m.Content)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that has gone away needs no answer
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": answer},
		}},
		"usage": map[string]any{
			"prompt_tokens": tokens(static + len(last)), "completion_tokens": tokens(len(answer)),
			"total_tokens":          tokens(static+len(last)) + tokens(len(answer)),
			"prompt_tokens_details": map[string]any{"cached_tokens": tokens(static)},
		},
	})
}

// tokens is about how many tokens n bytes of English are.
func tokens(n int) int { return (n + 3) / 4 }

// answerOf answers the question of the prompt named stage.
func answerOf(ctx context.Context, stage string, fields map[string]string) (string, error) {
	var answer any
	var err error
	switch stage {
	case "entity_check":
		answer, err = aim(ctx, fields)
	case "abstain_check":
		answer, err = stated(ctx, fields)
	case "quote_extract":
		answer, err = quote(ctx, fields)
	default:
		err = fmt.Errorf("schema %q: no stage's", stage)
	}
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(answer)
	return string(b), err
}

// digestOf names the data of a request.
func digestOf(fields map[string]string) string {
	b, _ := json.Marshal(fields) // a map of strings always encodes, sorted by key
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
