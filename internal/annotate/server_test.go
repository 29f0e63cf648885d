package annotate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// open serves a session over real HTTP until the test ends.
func open(t *testing.T, folder, name string, m *Material) *Server {
	t.Helper()
	j, err := OpenJournal(folder, name, 1)
	require.NoError(t, err)
	server, err := Listen(t.Context(), "127.0.0.1:0", NewSession(m, j, clock), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
		assert.NoError(t, j.Close())
	})
	return server
}

// call asks for a path below the page, and reads the answer into a View where
// it is one.
func call(t *testing.T, server *Server, method, path string, body any, change func(*http.Request)) (int, View, string, http.Header) {
	t.Helper()
	var reader io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		require.NoError(t, err)
		reader = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, reader)
	require.NoError(t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var v View
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		require.NoError(t, json.Unmarshal(raw, &v))
	}
	return resp.StatusCode, v, string(raw), resp.Header
}

func TestTwoPeopleLabelAllSteps(t *testing.T) {
	folder := t.TempDir()
	m := material(t, twoHops("r1", "A"), twoHops("r2", "B"))
	orders := map[string][]string{}
	for _, name := range []string{"ann", "ben"} {
		server := open(t, folder, name, m)
		_, v, _, _ := call(t, server, http.MethodGet, "api/step", nil, nil)
		for v.Task != nil {
			assert.Empty(t, v.Choice, "a second annotator sees nothing of the first")
			orders[name] = append(orders[name], v.Task.Step)
			quote := ""
			if len(v.Task.Passages) > 0 {
				quote = v.Task.Passages[0].Text
			}
			var status int
			status, v, _, _ = call(t, server, http.MethodPost, "api/decide",
				Decision{Step: v.Task.Step, Digest: v.Task.Digest, Choice: "none", Quote: quote}, nil)
			require.Equal(t, http.StatusOK, status)
		}
		assert.Equal(t, []int{6, 6, 6}, []int{v.At, v.Done, v.Total})

		// Back, and another label; the first open step is still none.
		_, last, _, _ := call(t, server, http.MethodGet, "api/step?at=5", nil, nil)
		assert.Equal(t, Choice("none"), last.Choice)
		assert.NotEmpty(t, last.Quote)
		_, v, _, _ = call(t, server, http.MethodPost, "api/decide", Decision{Step: last.Task.Step, Digest: last.Task.Digest, Choice: Unsure}, nil)
		assert.Nil(t, v.Task)
	}
	assert.NotEqual(t, orders["ann"], orders["ben"])
	assert.ElementsMatch(t, orders["ann"], orders["ben"])
	people, err := ReadJournals(folder)
	require.NoError(t, err)
	assert.Len(t, people[0].Decisions, 6)
}

func TestThePageIsWholeAndForThisMachineAlone(t *testing.T) {
	server := open(t, t.TempDir(), "ann", material(t, twoHops("r1", "A")))
	status, _, page, header := call(t, server, http.MethodGet, "", nil, nil)
	require.Equal(t, http.StatusOK, status)
	csp := header.Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`script-src 'nonce-(\w+)'`).FindStringSubmatch(csp)
	require.Len(t, nonce, 2, csp)
	assert.Contains(t, csp, "default-src 'none'")
	assert.Equal(t, 2, strings.Count(page, fmt.Sprintf("nonce=%q", nonce[1])))
	assert.NotRegexp(t, `(?i)https?://|\bsrc=|@import|url\(`, page, "nothing is loaded from elsewhere")
	for _, key := range []string{"1", "2", "3", "4", "u", "b"} {
		assert.Contains(t, page, fmt.Sprintf("aria-keyshortcuts=%q", key))
	}
	assert.Contains(t, page, "prefers-color-scheme: dark")
	assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
	again := regexp.MustCompile(`nonce-(\w+)`).FindStringSubmatch(func() string {
		_, _, _, h := call(t, server, http.MethodGet, "", nil, nil)
		return h.Get("Content-Security-Policy")
	}())
	assert.NotEqual(t, nonce[1], again[1])
}

func TestStrangersAreKeptOut(t *testing.T) {
	server := open(t, t.TempDir(), "ann", material(t, twoHops("r1", "A")))
	_, v, _, _ := call(t, server, http.MethodGet, "api/step", nil, nil)
	good := Decision{Step: v.Task.Step, Digest: v.Task.Digest, Choice: "none"}
	status, _, _, _ := call(t, server, http.MethodGet, "", nil, func(r *http.Request) { r.Host = "evil.example" })
	assert.Equal(t, http.StatusMisdirectedRequest, status)
	status, _, _, _ = call(t, server, http.MethodGet, "", nil, func(r *http.Request) { r.URL.Path = "/" })
	assert.Equal(t, http.StatusNotFound, status)
	status, _, _, _ = call(t, server, http.MethodPost, "api/decide", good, func(r *http.Request) {
		r.URL.Path = "/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/api/decide"
	})
	assert.Equal(t, http.StatusNotFound, status)
	// What a form of another site can send without asking first.
	status, _, _, _ = call(t, server, http.MethodPost, "api/decide", good, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	assert.Equal(t, http.StatusUnsupportedMediaType, status)

	for name, d := range map[string]Decision{
		"another step":    {Step: "r9#1", Digest: good.Digest, Choice: "none"},
		"another content": {Step: good.Step, Digest: "0000", Choice: "none"},
		"no choice":       {Step: good.Step, Digest: good.Digest, Choice: "ungraded"},
		"no such quote":   {Step: good.Step, Digest: good.Digest, Choice: "none", Quote: "It was never written."},
	} {
		status, _, said, _ := call(t, server, http.MethodPost, "api/decide", d, nil)
		assert.Equal(t, http.StatusUnprocessableEntity, status, name)
		assert.Contains(t, said, `"error"`)
	}
	for path, want := range map[string]int{"api/step?at=9": 404, "api/step?at=-1": 422, "api/step?at=x": 422} {
		status, _, _, _ := call(t, server, http.MethodGet, path, nil, nil)
		assert.Equal(t, want, status, path)
	}
	status, _, _, _ = call(t, server, http.MethodPost, "api/decide", map[string]string{"step": strings.Repeat("x", maxBody)}, nil)
	assert.Equal(t, http.StatusBadRequest, status)
	_, v, _, _ = call(t, server, http.MethodGet, "api/step", nil, nil)
	assert.Zero(t, v.Done)
}

func TestOnlyAddressesOfThisMachineAreListenedOn(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "127.0.0.1"} {
		_, err := Listen(t.Context(), addr, nil, slog.New(slog.DiscardHandler))
		assert.Error(t, err, addr)
	}
}
