package gateway_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// rlhf is an answer as OpenRLHF reads it: untyped JSON.
type rlhf struct {
	Rewards   any                  `json:"rewards"`
	Scores    any                  `json:"scores"`
	ExtraLogs map[string][]float64 `json:"extra_logs"`
}

const chatPrompt = "<|im_start|>user\nAnswer the given question. Question: " + question + "<|im_end|>\n<|im_start|>assistant\n"

func TestOpenRLHFGetsNumbers(t *testing.T) {
	t.Parallel()
	s := alive(t)
	for name, prompt := range map[string]string{"template": chatPrompt, "bare": question + "\n"} {
		for _, first := range []string{"", "<|begin_of_text|>"} {
			a := s.post("/get_reward", object{"query": []string{first + prompt + text + "<|im_end|>"}, "prompts": []string{prompt}, "labels": []string{"Harrowdale"}})
			require.Equal(t, http.StatusOK, a.status, "%s", a.body)
			var got rlhf
			a.into(t, &got)
			require.Len(t, got.Rewards, 1, "%s: %s", name, a.body)
			require.NotNil(t, got.Rewards.([]any)[0], name)
			require.Equal(t, []any{1.0}, got.Scores, "the answer is right")
			require.Equal(t, []float64{1}, got.ExtraLogs["stepgap_valid"])
			require.Equal(t, []float64{0}, got.ExtraLogs["stepgap_ungraded"])
		}
	}
	// Several at once, labels in every form; one has nothing to be judged by.
	a := s.post("/get_reward?outcome=em&weight=2&run=several", object{
		"query":   []string{chatPrompt + text, chatPrompt + strings.Replace(text, "<answer>Harrowdale", "<answer>Leeds", 1), "no question anywhere", chatPrompt + text},
		"prompts": []string{chatPrompt, chatPrompt, "", chatPrompt},
		"labels":  []any{`["Harrow Dale","Harrowdale"]`, []string{"Harrowdale"}, nil, nil},
	})
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	var got rlhf
	a.into(t, &got)
	rewards, scores := got.Rewards.([]any), got.Scores.([]any)
	require.Len(t, rewards, 4)
	require.NotNil(t, rewards[0])
	require.NotNil(t, rewards[1])
	require.Greater(t, rewards[0].(float64), rewards[1].(float64)+1, "the outcome is added, twice")
	require.Equal(t, []any{1.0, 0.0, nil, nil}, scores)
	require.Nil(t, rewards[2], "no reader makes sense of it")
	require.Nil(t, rewards[3], "an outcome was asked for, and there is no gold answer")
	require.Equal(t, []float64{1, 1, 0, 0}, got.ExtraLogs["stepgap_valid"])
	for name, counts := range got.ExtraLogs {
		require.Len(t, counts, 4, name)
	}
	// The other URLs of a list get nothing to do.
	empty := s.post("/get_reward", object{"query": []string{}, "prompts": []string{}, "labels": []string{}})
	require.JSONEq(t, `{"rewards":[],"scores":[],"extra_logs":{}}`, string(empty.body))
}

// What OpenRLHF can't have is null, in time; a tensor is never made of a null,
// since the one that is alone is no list.
func TestPromise_P2_OpenRLHFGetsNullInTime(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	a := s.post("/get_reward?wait=200ms", object{"query": []string{chatPrompt + text}, "prompts": []string{chatPrompt}, "labels": []string{"Harrowdale"}})
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	var raw map[string]json.RawMessage
	a.into(t, &raw)
	require.Equal(t, "null", string(raw["rewards"]))
	require.Equal(t, "null", string(raw["scores"]))
	require.NotContains(t, string(raw["extra_logs"]), "null", "tensors are made of these")
	var got rlhf
	a.into(t, &got)
	require.Equal(t, []float64{0}, got.ExtraLogs["stepgap_valid"])
	for _, g := range schema.Gaps() {
		require.Equal(t, []float64{0}, got.ExtraLogs["stepgap_"+string(g)])
	}

	two := s.post("/get_reward?wait=0.2", object{"query": []string{chatPrompt + text, "?"}})
	require.JSONEq(t, `[null,null]`, string(mustRaw(t, two, "rewards")))

	// Its next tries are the same rollout; the same text twice in one request
	// is two.
	before := count(t, s.conn, bus.StreamTranscripts)
	again := object{"query": []string{chatPrompt + text}, "prompts": []string{chatPrompt}, "labels": []string{"Harrowdale"}}
	for _, wait := range []string{"0", "10ms", "0"} { // other deadlines are another message, the same again is not
		require.Equal(t, http.StatusOK, s.post("/get_reward?wait="+wait, again).status)
	}
	require.Equal(t, before+2, count(t, s.conn, bus.StreamTranscripts))
	s.post("/get_reward?wait=10ms", object{"query": []string{chatPrompt + text, chatPrompt + text}})
	require.Equal(t, before+4, count(t, s.conn, bus.StreamTranscripts))
}

func mustRaw(t *testing.T, a *answer, key string) json.RawMessage {
	t.Helper()
	var raw map[string]json.RawMessage
	a.into(t, &raw)
	return raw[key]
}

func TestOpenRLHFsMalformedRequests(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	for body, field := range map[string]string{
		`{"query":"x"}`:                              "query",
		`{"query":[1]}`:                              "query",
		`{"query":["a","b"],"prompts":["a"]}`:        "prompts",
		`{"query":["a","b"],"labels":["a"]}`:         "labels",
		`{"query":["a"],"labels":[true]}`:            "labels",
		`{"query":["a"],"labels":[{"gold":"x"}]}`:    "labels",
		`{"query":["a"],"labels":[{"target":true}]}`: "labels",
	} {
		a := s.send(s.request(http.MethodPost, "/get_reward", body))
		require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", body, a.body)
		require.Equal(t, field, a.problem(t).Field, body)
	}
	a := s.post("/get_reward?wait=0", object{"query": []string{"a"}, "labels": []any{object{"target": []string{"x"}}}})
	require.Equal(t, http.StatusOK, a.status, "as verl's data sets have it: %s", a.body)
}
