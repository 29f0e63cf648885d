package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/internal/gateway"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/pkg/client"
)

const patience = time.Minute

// site is a gateway that listens, over a NATS server of its own.
type site struct {
	t      *testing.T
	url    string
	http   *http.Client
	doc    *openapi3.T
	router routers.Router
	log    *lockedBuffer
	stop   func()
	conn   *bus.Conn
	server *embedded.Server // only without stages
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// alive is a gateway over a whole pipeline whose NLI costs nothing.
func alive(t *testing.T, change ...func(*gateway.Options)) *site {
	t.Helper()
	return over(t, judged(t, func(c *app.Config) { c.JudgeNLI = "free" }), nil, change...)
}

func judged(t *testing.T, change ...func(*app.Config)) *bus.Conn {
	t.Helper()
	cfg, err := app.LoadConfig(nil, func() []string { return nil })
	require.NoError(t, err)
	cfg.Judge = "local"
	for _, c := range change {
		c(&cfg)
	}
	p, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	return p.Conn
}

// stopped is a gateway over streams that no stage reads.
func stopped(t *testing.T, o bus.Options, change ...func(*gateway.Options)) *site {
	t.Helper()
	o.Memory = true
	conn, server := bustest.Start(t, o)
	return over(t, conn, server, change...)
}

func over(t *testing.T, conn *bus.Conn, server *embedded.Server, change ...func(*gateway.Options)) *site {
	t.Helper()
	s := &site{t: t, http: &http.Client{Timeout: patience}, log: &lockedBuffer{}, conn: conn, server: server}
	c, err := client.New(conn.NC)
	require.NoError(t, err)
	o := gateway.Options{
		Pipeline: c, Local: true, Run: "rlhf",
		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&o)
	}
	g, err := gateway.New(o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx, l) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(patience):
			t.Error("the gateway did not end")
		}
	})
	t.Cleanup(s.stop)
	s.describe()
	return s
}

// describe reads the interface's own description, by which every answer is
// checked.
func (s *site) describe() {
	s.t.Helper()
	r, err := s.http.Get(s.url + "/openapi.json")
	require.NoError(s.t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(s.t, err)
	s.doc, err = openapi3.NewLoader().LoadFromData(b)
	require.NoError(s.t, err)
	require.NoError(s.t, s.doc.Validate(context.Background()))
	s.router, err = legacy.NewRouter(s.doc)
	require.NoError(s.t, err)
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) into(t *testing.T, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a.body, v), "%s", a.body)
}

func (a *answer) problem(t *testing.T) *gateway.Problem {
	t.Helper()
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"), "%d %s", a.status, a.body)
	p := &gateway.Problem{}
	a.into(t, p)
	require.Equal(t, a.status, p.Status)
	require.NotEmpty(t, p.Detail)
	return p
}

// send makes a request and holds the answer to the description.
func (s *site) send(r *http.Request) *answer {
	s.t.Helper()
	response, err := s.http.Do(r)
	require.NoError(s.t, err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	a := &answer{response.StatusCode, response.Header, b}
	require.Equal(s.t, "nosniff", a.header.Get("X-Content-Type-Options"))
	route, params, err := s.router.FindRoute(r)
	if err != nil || a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed {
		return a // a path or a method that there isn't
	}
	require.NoError(s.t, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(b)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}), "%s %s: %d %s", r.Method, r.URL.Path, a.status, b)
	return a
}

// described says whether the description allows a request.
func (s *site) described(r *http.Request) error {
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		return err
	}
	copied := r.Clone(context.Background())
	if r.GetBody != nil {
		if copied.Body, err = r.GetBody(); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: copied, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	})
}

func (s *site) request(method, path, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// post sends a request that the description must allow.
func (s *site) post(path string, v any) *answer {
	s.t.Helper()
	b, err := json.Marshal(v)
	require.NoError(s.t, err)
	r := s.request(http.MethodPost, path, string(b))
	require.NoError(s.t, s.described(r), "%s", b)
	return s.send(r)
}

func (s *site) get(path string) *answer {
	s.t.Helper()
	r := s.request(http.MethodGet, path, "")
	require.NoError(s.t, s.described(r), path)
	return s.send(r)
}

type object = map[string]any

const (
	question = "Where was the author of The Glass Orchard born?"
	text     = `<think>I need the author of The Glass Orchard.</think>
<search>author of The Glass Orchard</search>
<information>Doc 1(Title: "The Glass Orchard") The Glass Orchard is a novel by Mara Quill.</information>
<think>The Glass Orchard was written by Mara Quill. Now I need her birthplace.</think>
<search>Mara Quill birthplace</search>
<information>Doc 1(Title: "Mara Quill") Mara Quill was born in Harrowdale.</information>
<think>Mara Quill was born in Harrowdale.</think>
<answer>Harrowdale</answer>`
)

func rollout(id string) object {
	return object{"run": "r", "rollout": id, "question": question, "text": text, "gold": []string{"Harrowdale"}, "group": "q12", "group_size": 8}
}

// forms are the same rollout in every form that can be posted.
func forms() map[string]object {
	chat := rollout("messages")
	delete(chat, "text")
	chat["messages"] = []object{
		{"role": "system", "content": "You may search."},
		{"role": "user", "content": []object{{"type": "text", "text": question}}},
		{"role": "assistant", "content": "I need the author.", "refusal": nil, "tool_calls": []object{{"id": "c1", "type": "function", "function": object{"name": "search", "arguments": `{"query":"author of The Glass Orchard"}`}}}},
		{"role": "tool", "tool_call_id": "c1", "content": "The Glass Orchard is a novel by Mara Quill."},
		{"role": "assistant", "content": nil, "tool_calls": []object{{"id": "c2", "type": "function", "function": object{"name": "search", "arguments": object{"query": "Mara Quill birthplace"}}}}},
		{"role": "tool", "tool_call_id": "c2", "content": "Mara Quill was born in Harrowdale."},
		{"role": "assistant", "content": "Harrowdale"},
	}
	turns := rollout("turns")
	delete(turns, "text")
	turns["turns"] = []object{
		{"think": "I need the author.", "query": "author of The Glass Orchard", "passages": []object{{"title": "The Glass Orchard", "text": "The Glass Orchard is a novel by Mara Quill."}}},
		{"think": "The Glass Orchard was written by Mara Quill.", "query": "Mara Quill birthplace", "passages": []object{{"title": "Mara Quill", "text": "Mara Quill was born in Harrowdale."}}},
		{"think": "Mara Quill was born in Harrowdale.", "answer": "Harrowdale"},
	}
	steps := rollout("steps")
	steps["text"] = "0123456789"
	steps["steps"] = []object{
		{"query": "author of The Glass Orchard", "claim": "The Glass Orchard was written by Mara Quill.", "spans": []object{{"kind": "claim", "start": 2, "end": 5}},
			"passages": []object{{"title": "The Glass Orchard", "text": "The Glass Orchard is a novel by Mara Quill."}}},
		{"kind": "search", "query": "Mara Quill birthplace", "claim": "Mara Quill was born in Harrowdale.",
			"passages": []object{{"text": "Mara Quill was born in Harrowdale."}}},
		{"kind": "conclusion", "claim": "The author of The Glass Orchard was born in Harrowdale.", "answer": "Harrowdale"},
	}
	prompted := rollout("prompt")
	delete(prompted, "question")
	prompted["prompt"] = "<|im_start|>user\nAnswer the given question. Question: " + question + "<|im_end|>\n<|im_start|>assistant\n"
	prompted["format"] = "search-r1"
	return map[string]object{"text": rollout("text"), "messages": chat, "turns": turns, "steps": steps, "prompt": prompted}
}
