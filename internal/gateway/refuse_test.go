package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/gateway"
	"github.com/stepgap/stepgap/pkg/schema"
)

// with is a rollout's JSON with some fields changed; nil takes one away.
func with(t *testing.T, changes object) string {
	t.Helper()
	r := rollout("o")
	for k, v := range changes {
		if v == nil {
			delete(r, k)
			continue
		}
		r[k] = v
	}
	return marshal(t, r)
}

// Whatever can't be read is refused with what is wrong, and nothing of it is
// published.
func TestMalformedRolloutsAreRefused(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{}, func(o *gateway.Options) { o.MaxBody = 6 << 20 })
	step := func(changes object) object {
		st := object{"query": "q", "claim": "The mill is old."}
		for k, v := range changes {
			st[k] = v
		}
		return object{"text": "0123456789", "steps": []object{st}}
	}
	long := strings.Repeat("x", 17<<10)
	cases := []struct {
		name, body string
		status     int
		code       string
		field      string
		says       string
	}{
		{"empty", " ", 400, "bad_json", "", "empty"},
		{"no JSON", "run=r&text=x", 400, "bad_json", "", "no JSON object"},
		{"a list", `[{"run":"r"}]`, 400, "bad_json", "", "no JSON object"},
		{"a string", `"run"`, 400, "bad_json", "", "no JSON object"},
		{"null", `null`, 400, "bad_json", "", "no JSON object"},
		{"cut off", `{"run":"r","text":"<sea`, 400, "bad_json", "", "cut off"},
		{"trailing comma", `{"run":"r",}`, 400, "bad_json", "", "byte 12"},
		{"two objects", with(t, nil) + with(t, nil), 400, "bad_json", "", "follows"},
		{"NaN", `{"run":"r","group_size":NaN}`, 400, "bad_json", "", "no JSON"},
		{"not UTF-8", "{\"run\":\"r\",\"text\":\"\xff\"}", 400, "bad_json", "", "UTF-8"},
		{"nested deep", `{"run":"r","steps":` + strings.Repeat("[", 20000), 400, "bad_json", "", "exceeded max depth"},
		{"very many values", `{"run":"r","steps":[` + strings.Repeat("{},", 300_000) + `{}]}`, 413, "too_large", "", "more than 200000 values"},
		{"very many in a batch's place", `{"rollouts":[` + strings.Repeat("0,", 1_000_000) + `0]}`, 413, "too_large", "", "more than 1000000 values"},
		{"too large", with(t, object{"text": strings.Repeat("x", 7<<20)}), 413, "too_large", "", "6291456 bytes"},
		{"unknown field", with(t, object{"texte": "x"}), 422, "invalid", "texte", "no field"},
		{"a number for text", with(t, object{"text": 7}), 422, "invalid", "text", "should be a string"},
		{"a string for a size", with(t, object{"group_size": "8"}), 422, "invalid", "group_size", "should be a int"},
		{"a fraction for a size", with(t, object{"group_size": 1.5}), 422, "invalid", "group_size", "number"},
		{"a string for gold", with(t, object{"gold": "Harrowdale"}), 422, "invalid", "gold", "should be a slice"},
		{"no run", with(t, object{"run": nil}), 422, "invalid", "run", "missing"},
		{"run with a dot", with(t, object{"run": "a.b"}), 422, "invalid", "run", "is not an id"},
		{"run of NATS", with(t, object{"run": ">"}), 422, "invalid", "run", "is not an id"},
		{"rollout with a star", with(t, object{"rollout": "*"}), 422, "invalid", "rollout", "is not an id"},
		{"rollout too long", with(t, object{"rollout": strings.Repeat("o", 129)}), 422, "invalid", "rollout", "is not an id"},
		{"no question", with(t, object{"question": nil}), 422, "invalid", "question", "is missing"},
		{"question too long", with(t, object{"question": long}), 413, "too_large", "question", "the limit is 16384"},
		{"answer too long", with(t, object{"answer": long}), 413, "too_large", "answer", "the limit is 16384"},
		{"unknown format", with(t, object{"format": "morse"}), 422, "invalid", "format", "use one of auto"},
		{"text beside turns", with(t, object{"turns": []object{{"think": "x"}}}), 422, "invalid", "text", "more than one"},
		{"format beside turns", with(t, object{"text": nil, "format": "react", "turns": []object{{"think": "x"}}}), 422, "invalid", "format", "leave it out"},
		{"transcript too long", with(t, object{"text": strings.Repeat("x", 3<<20+1)}), 413, "too_large", "text", "the limit is 3145728"},
		{"negative group size", with(t, object{"group_size": -1}), 422, "invalid", "group_size", "out of range"},
		{"negative deadline", with(t, object{"deadline_ms": -1}), 422, "invalid", "deadline_ms", "out of range"},
		{"endless deadline", with(t, object{"step_deadline_ms": int64(1) << 60}), 422, "invalid", "step_deadline_ms", "out of range"},
		{"unknown role", with(t, object{"text": nil, "messages": []object{{"role": "wizard"}}}), 422, "invalid", "messages[0].role", "wizard"},
		{"content of numbers", with(t, object{"text": nil, "messages": []object{{"role": "user", "content": 7}}}), 422, "invalid", "messages.content", "a string"},
		{"call without a name", with(t, object{"text": nil, "messages": []object{{"role": "assistant", "tool_calls": []object{{"id": "1"}}}}}), 422, "invalid", "messages[0].calls[0].name", "missing"},
		{"turn that does both", with(t, object{"text": nil, "turns": []object{{"query": "q", "answer": "a"}}}), 422, "invalid", "turns[0]", "searches or answers"},
		{"passages without a search", with(t, object{"text": nil, "turns": []object{{"passages": []object{{"text": "x"}}}}}), 422, "invalid", "turns[0].passages", "without a query"},
		{"empty passage", with(t, object{"text": nil, "turns": []object{{"query": "q", "passages": []object{{"title": "x"}}}}}), 422, "invalid", "turns[0].passages[0].text", "empty"},
		{"unknown kind", with(t, step(object{"kind": "dance"})), 422, "invalid", "steps[0].kind", "dance"},
		{"conclusion that searches", with(t, step(object{"kind": "conclusion"})), 422, "invalid", "steps[0].kind", "query"},
		{"saw itself", with(t, step(object{"saw": 1})), 422, "invalid", "steps[0].saw", "earlier"},
		{"span outside", with(t, step(object{"spans": []object{{"kind": "claim", "start": 5, "end": 11}}})), 422, "invalid", "steps[0].spans[0]", "10 code points"},
		{"span backwards", with(t, step(object{"spans": []object{{"kind": "claim", "start": 5, "end": 2}}})), 422, "invalid", "steps[0].spans[0]", "no range"},
		{"spans without text", with(t, object{"text": nil, "steps": []object{{"query": "q", "spans": []object{{"kind": "claim"}}}}}), 422, "invalid", "steps[0].spans", "no text"},
		{"steps beside turns", with(t, object{"steps": []object{{"query": "q"}}, "turns": []object{{"think": "x"}}}), 422, "invalid", "steps", "transcript"},
		{"steps without a question", with(t, object{"question": nil, "steps": []object{{"query": "q"}}}), 422, "invalid", "question", "missing"},
		{"step of another's field", with(t, object{"steps": []object{{"query": "q", "digest": "x"}}}), 422, "invalid", "digest", "no field"},
		{"too many steps", with(t, object{"steps": slices.Repeat([]object{{"query": "q"}}, 1001)}), 422, "invalid", "steps", "the limit is 1000"},
		{"endless deadline of steps", with(t, object{"steps": []object{{"query": "q"}}, "step_deadline_ms": int64(1e16)}), 422, "invalid", "step_deadline_ms", "out of range"},
		{"endless deadline beside steps", with(t, object{"steps": []object{{"query": "q"}}, "deadline_ms": int64(1e16)}), 422, "invalid", "deadline_ms", "out of range"},
	}
	require.GreaterOrEqual(t, len(cases), 30)
	for _, c := range cases {
		for _, path := range []string{"/v1/rollouts", "/v1/score"} {
			a := s.send(s.request(http.MethodPost, path, c.body))
			require.Equal(t, c.status, a.status, "%s: %.300s", c.name, a.body)
			p := a.problem(t)
			require.Equal(t, c.code, p.Code, "%s: %.300s", c.name, a.body)
			require.Equal(t, c.field, p.Field, "%s: %.300s", c.name, a.body)
			require.Contains(t, p.Detail, c.says, c.name)
			require.NotEmpty(t, p.Request)
		}
	}
	for _, stream := range []string{bus.StreamTranscripts, bus.StreamSteps, bus.StreamEnds} {
		require.Zero(t, count(t, s.conn, stream), stream)
	}
}

func TestAClaimThatIsTooLongIsCutWithAWarning(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	a := s.send(s.request(http.MethodPost, "/v1/rollouts", with(t, object{"text": nil, "steps": []object{{"query": "q", "claim": strings.Repeat("x", 257<<10)}}})))
	require.Equal(t, http.StatusAccepted, a.status, "%.300s", a.body)
	var accepted gateway.Accepted
	require.NoError(t, json.Unmarshal(a.body, &accepted))
	require.Len(t, accepted.Warnings, 1)
	require.Equal(t, 1, accepted.Warnings[0].Step)
	require.EqualValues(t, 1, count(t, s.conn, bus.StreamSteps))
}

func TestRequestsThatAreNoneOfOurs(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	json := func(k, v string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(k, v) }
	}
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		status       int
		code         string
	}{
		{"GET", "/", nil, 404, "not_found"},
		{"GET", "/v1/rewards/r", nil, 404, "not_found"},
		{"GET", "/v1/rewards/r/o/x", nil, 404, "not_found"},
		{"GET", "/v1/rollouts", nil, 405, "method"},
		{"DELETE", "/v1/rewards/r/o", nil, 405, "method"},
		{"POST", "/openapi.json", nil, 405, "method"},
		{"GET", "/v1/rewards/r%2Eo/o", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/%3E", nil, 422, "invalid"},
		{"GET", "/v1/labels/r/*", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wait=soon", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wait=-1s", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wait=1h", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wait=1e400", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wait=NaN", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wait=1&wait=2", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?wiat=1", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o?%zz", nil, 400, "invalid"},
		{"POST", "/v1/rollouts", json("Content-Type", "text/plain"), 415, "media_type"},
		{"POST", "/v1/rollouts", json("Content-Type", "multipart/form-data; boundary=x"), 415, "media_type"},
		{"POST", "/v1/rollouts", json("Content-Encoding", "gzip"), 415, "media_type"},
		{"POST", "/get_reward?outcome=luck", nil, 422, "invalid"},
		{"POST", "/get_reward?weight=2", nil, 422, "invalid"},
		{"POST", "/get_reward?outcome=em&weight=NaN", nil, 422, "invalid"},
		{"POST", "/get_reward?run=a.b", nil, 422, "invalid"},
		{"GET", "/v1/rewards/r/o", func(r *http.Request) { r.Host = "evil.example" }, 421, "host"},
	} {
		body := ""
		if c.method == http.MethodPost {
			body = marshal(t, rollout("o"))
		}
		r := s.request(c.method, c.path, body)
		if c.change != nil {
			c.change(r)
		}
		a := s.send(r)
		require.Equal(t, c.status, a.status, "%s %s: %s", c.method, c.path, a.body)
		require.Equal(t, c.code, a.problem(t).Code, "%s %s", c.method, c.path)
		if c.status == http.StatusMethodNotAllowed {
			require.NotEmpty(t, a.header.Get("Allow"))
		}
	}
	require.Zero(t, count(t, s.conn, bus.StreamTranscripts))
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{}, func(o *gateway.Options) {
		o.MaxWaits, o.MaxPosts, o.MaxBatch, o.BodyTimeout = 1, 1, 2, 300*time.Millisecond
	})
	a := s.post("/v1/rollouts:batch", object{"rollouts": []object{rollout("a"), rollout("b"), rollout("c")}})
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Contains(t, a.problem(t).Detail, "the limit is 2")
	require.Equal(t, http.StatusUnprocessableEntity, s.post("/v1/rollouts:batch", object{"rollouts": []object{}}).status)
	require.Equal(t, http.StatusRequestEntityTooLarge, s.post("/get_reward", object{"query": []string{"a", "b", "c"}}).status)

	// One waits; a second is told to come back.
	require.Equal(t, http.StatusAccepted, s.get("/v1/rewards/r/o").status)
	before := s.conn.NC.NumSubscriptions()
	waiting := s.request(http.MethodGet, "/v1/rewards/r/o?wait=60s", "")
	first := make(chan *answer, 1)
	go func() { first <- s.send(waiting) }()
	require.Eventually(t, func() bool { return s.conn.NC.NumSubscriptions() > before }, patience, time.Millisecond)
	refused := s.get("/v1/rewards/r/o?wait=1s")
	require.Equal(t, http.StatusServiceUnavailable, refused.status)
	require.Equal(t, "busy", refused.problem(t).Code)
	require.Equal(t, "1", refused.header.Get("Retry-After"))

	// One holds the only place for posting with a body that never ends, until
	// its time is up.
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /v1/rollouts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"run\":")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	slow, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(slow), "408 Request Timeout")
	require.Contains(t, string(slow), `"code":"slow_body"`)
	require.Equal(t, http.StatusAccepted, s.post("/v1/rollouts", rollout("o")).status, "the place is free again")
	s.stop()
	require.Equal(t, http.StatusAccepted, (<-first).status)
}

func TestAFullPipelinePushesBack(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{WorkMsgs: 1})
	require.Equal(t, http.StatusAccepted, s.post("/v1/rollouts", rollout("a")).status)
	for _, body := range []object{rollout("b"), forms()["steps"]} {
		a := s.post("/v1/rollouts", body)
		require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
		require.Equal(t, "pipeline_full", a.problem(t).Code)
		require.NotEmpty(t, a.header.Get("Retry-After"))
	}
	a := s.post("/get_reward", object{"query": []string{text}, "prompts": []string{question}})
	require.Equal(t, http.StatusServiceUnavailable, a.status, "so that OpenRLHF tries again")
	b := s.post("/v1/rollouts:batch", object{"rollouts": []object{rollout("a"), rollout("c")}})
	require.Equal(t, http.StatusMultiStatus, b.status)
	var result gateway.BatchResult
	b.into(t, &result)
	require.Equal(t, 1, result.Accepted, "the same rollout again")
	require.Equal(t, "pipeline_full", result.Results[1].Problem.Code)
}

func TestWithoutNATS(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{}, func(o *gateway.Options) { o.Ready = func() error { return io.EOF } })
	require.Equal(t, http.StatusServiceUnavailable, s.get("/healthz").status)
	s.conn.NC.Close()
	for _, a := range []*answer{s.post("/v1/rollouts", rollout("a")), s.get("/v1/rewards/r/o?wait=1s"), s.get("/v1/labels/r/o")} {
		require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
		require.Equal(t, "pipeline_unreachable", a.problem(t).Code)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	s := stopped(t, bus.Options{}, func(o *gateway.Options) { o.Rate, o.MaxBatch, o.Registerer = 0.001, 4, registry })
	for range 2 {
		require.Equal(t, http.StatusAccepted, s.get("/v1/rewards/r/o").status)
	}
	a := s.post("/v1/rollouts:batch", object{"rollouts": []object{rollout("a"), rollout("b"), rollout("c")}})
	require.Equal(t, http.StatusTooManyRequests, a.status, "three, and two are left")
	require.Equal(t, "rate", a.problem(t).Code)
	require.NotEmpty(t, a.header.Get("Retry-After"))
	require.Equal(t, http.StatusAccepted, s.get("/v1/rewards/r/o").status)
	require.Equal(t, http.StatusTooManyRequests, s.get("/v1/rewards/r/o").status)
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	require.Zero(t, count(t, s.conn, bus.StreamTranscripts))
	require.Equal(t, http.StatusNotFound, s.send(s.request(http.MethodGet, "/nowhere", "")).status)
	s.stop() // what is counted is counted at the end of an answer
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP stepgap_gateway_requests_total HTTP requests, by route and status.
# TYPE stepgap_gateway_requests_total counter
stepgap_gateway_requests_total{route="GET /healthz",status="200"} 1
stepgap_gateway_requests_total{route="GET /openapi.json",status="200"} 1
stepgap_gateway_requests_total{route="GET /v1/rewards/{run}/{rollout}",status="202"} 3
stepgap_gateway_requests_total{route="GET /v1/rewards/{run}/{rollout}",status="429"} 1
stepgap_gateway_requests_total{route="POST /v1/rollouts:batch",status="429"} 1
stepgap_gateway_requests_total{route="none",status="404"} 1
`), "stepgap_gateway_requests_total"))
}

const (
	secretA = "token-of-the-first-trainer"
	secretB = "token-of-the-second-trainer"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/tokens.yaml"
	writeFile(t, path, "tokens:\n  - {name: first, token: "+secretA+", runs: [r, 'exp-*']}\n  - {name: second, sha256: "+schema.Digest([]byte(secretB))+", runs: ['*']}\n")
	tokens, err := gateway.LoadTokens(path, "")
	require.NoError(t, err)
	s := stopped(t, bus.Options{}, func(o *gateway.Options) { o.Tokens, o.Local = tokens, false })
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	basic := func(r *http.Request) { r.SetBasicAuth("x", secretA) }
	for _, c := range []struct {
		run    string
		change func(*http.Request)
		status int
	}{
		{"r", func(*http.Request) {}, 401},
		{"r", bearer(""), 401},
		{"r", bearer("wrong"), 401},
		{"r", bearer(secretA + "x"), 401},
		{"r", bearer(strings.ToUpper(secretA)), 401},
		{"r", func(r *http.Request) { r.Header.Set("Authorization", "Digest "+secretA) }, 401},
		{"r", bearer(secretA), 202},
		{"r", func(r *http.Request) { r.Header.Set("Authorization", "bearer  "+secretA) }, 202},
		{"r", basic, 202},
		{"exp-7", bearer(secretA), 202},
		{"r2", bearer(secretA), 403},
		{"exp", bearer(secretA), 403},
		{"rlhf", bearer(secretA), 403},
		{"r2", bearer(secretB), 202},
	} {
		body := rollout("o")
		body["run"] = c.run
		for _, r := range []*http.Request{
			s.request(http.MethodPost, "/v1/rollouts", marshal(t, body)),
			s.request(http.MethodPost, "/v1/score?wait=0", marshal(t, body)),
			s.request(http.MethodGet, "/v1/rewards/"+c.run+"/o", ""),
			s.request(http.MethodGet, "/v1/labels/"+c.run+"/o", ""),
			s.request(http.MethodPost, "/get_reward?wait=0&run="+c.run, `{"query":["x"]}`),
		} {
			c.change(r)
			a := s.send(r)
			if c.status >= 400 {
				require.Equal(t, c.status, a.status, "%s %s: %s", c.run, r.URL, a.body)
				require.NotContains(t, string(a.body), secretA)
			} else {
				require.Less(t, a.status, 300, "%s %s: %s", c.run, r.URL, a.body)
			}
			if c.status == http.StatusUnauthorized {
				require.NotEmpty(t, a.header.Get("WWW-Authenticate"))
			}
		}
		batch := s.request(http.MethodPost, "/v1/rollouts:batch", marshal(t, object{"rollouts": []object{body}}))
		c.change(batch)
		a := s.send(batch)
		switch c.status {
		case 401:
			require.Equal(t, 401, a.status)
		case 403:
			require.Equal(t, http.StatusMultiStatus, a.status)
			require.Contains(t, string(a.body), "run_not_allowed")
		default:
			require.Equal(t, http.StatusAccepted, a.status, "%s", a.body)
		}
	}
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	log := s.log.String()
	require.Contains(t, log, "caller=first")
	for _, secret := range []string{secretA, secretB, "Glass Orchard", "Harrowdale"} {
		require.NotContains(t, log, secret)
	}
}

func TestTokenFilesThatAreWrongAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range []struct{ file, says string }{
		{"", "not YAML of the form"},
		{"tokens: []", "holds no tokens"},
		{"tokens: [{name: a, token: " + secretA + "}]", "lists no runs"},
		{"tokens: [{token: " + secretA + ", runs: ['*']}]", "needs a name"},
		{"tokens: [{name: a, runs: ['*']}]", "either token or sha256"},
		{"tokens: [{name: a, token: " + secretA + ", sha256: x, runs: ['*']}]", "either token or sha256"},
		{"tokens: [{name: a, token: short, runs: ['*']}]", "shorter than 16"},
		{"tokens: [{name: a, sha256: abc, runs: ['*']}]", "64 hex digits"},
		{"tokens: [{name: a, token: " + secretA + ", runs: ['a*b']}]", "neither a name"},
		{"tokens: [{name: a, token: " + secretA + ", runs: ['*']}, {name: a, token: " + secretB + ", runs: ['*']}]", "used twice"},
		{"tokens: [{name: a, tokn: " + secretA + "}]", "not YAML of the form"},
		{secretA, "not YAML of the form"},
	} {
		path := fmt.Sprintf("%s/%d.yaml", dir, i)
		writeFile(t, path, c.file)
		_, err := gateway.LoadTokens(path, "")
		require.ErrorContains(t, err, c.says, c.file)
		require.NotContains(t, err.Error(), secretA)
	}
	_, err := gateway.LoadTokens(dir+"/none.yaml", "")
	require.ErrorContains(t, err, "none.yaml")
	none, err := gateway.LoadTokens("", "")
	require.NoError(t, err)
	require.Nil(t, none)
}

// Every route is described, and what is described is a route.
func TestTheDescriptionIsOfTheRoutes(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	ids := strings.NewReplacer("{run}", "r", "{rollout}", "o")
	n := 0
	for path, item := range s.doc.Paths.Map() {
		for method := range item.Operations() {
			n++
			a := s.send(s.request(method, ids.Replace(path), ""))
			require.NotContains(t, []int{404, 405}, a.status, "%s %s", method, path)
		}
	}
	require.Equal(t, 8, n, "a route that is added here and in the code is described")
	for _, form := range forms() { // the described examples are what is taken
		r := s.request(http.MethodPost, "/v1/rollouts", marshal(t, form))
		require.NoError(t, s.described(r))
	}
	for _, bad := range []string{`{}`, `{"run":"r","texte":""}`, `{"run":"r","text":7}`, `{"run":"r","steps":[{"x":1}]}`} {
		require.Error(t, s.described(s.request(http.MethodPost, "/v1/rollouts", bad)), bad)
	}
	require.Equal(t, "3.1.0", s.doc.OpenAPI)
	example := s.doc.Paths.Value("/v1/rollouts").Post.RequestBody.Value.Content["application/json"].Example
	require.Equal(t, http.StatusAccepted, s.post("/v1/rollouts", example).status)
	require.False(t, bytes.Contains([]byte(s.log.String()), []byte("panic")))
}
