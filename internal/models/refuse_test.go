package models_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

func TestWhatARepositoryLacksIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without []string
		file    string
		want    []string
	}{
		"no ONNX file":    {without: []string{"onnx/model.onnx", "onnx/model_fp16.onnx"}, want: []string{"no ONNX file", "optimum-cli export onnx --model " + testRepo, "--nli-model"}},
		"no tokenizer":    {without: []string{"tokenizer.json"}, want: []string{"no tokenizer.json", "optimum-cli"}},
		"another --file":  {file: "onnx/model_q4.onnx", want: []string{"model_q4.onnx", "onnx/model.onnx, onnx/model_fp16.onnx"}},
		"no ONNX at all?": {file: "pytorch_model.bin", want: []string{".onnx"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := modelFiles()
			for _, f := range c.without {
				delete(files, f)
			}
			r := newRig(t, newHub(t, files).hub.URL, nil)
			_, err := r.Pull(t.Context(), models.Request{Ref: testRepo, File: c.file})
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.NoDirExists(t, r.store.Path("some-nli.pulling"), "nothing is left behind")
		})
	}
}

func TestAFileThatVanishedIsNamed(t *testing.T) {
	t.Parallel()
	h := newHub(t, modelFiles())
	h.failWith(func(_ string, w http.ResponseWriter, r *http.Request) bool {
		if filepath.Base(r.URL.Path) != "tokenizer.json" {
			return false
		}
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	_, err := newRig(t, h.hub.URL, nil).Pull(t.Context(), models.Request{Ref: testRepo})
	require.ErrorContains(t, err, "tokenizer.json")
	require.ErrorContains(t, err, "404")
	require.Len(t, h.requests(ofFile("tokenizer.json")), 1, "asking again would not help")
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		reason  string
		token   models.Token
		request models.Request
		want    []string
	}{
		"gated, no token":      {401, "GatedRepo", "", models.Request{Ref: testRepo}, []string{"401", "licence", "HF_TOKEN", "/" + testRepo}},
		"gated, not accepted":  {403, "GatedRepo", testToken, models.Request{Ref: testRepo}, []string{"403", "accept its licence"}},
		"unknown, no token":    {401, "RepoNotFound", "", models.Request{Ref: testRepo}, []string{"check the name", "HF_TOKEN"}},
		"token refused":        {401, "", testToken, models.Request{Ref: testRepo}, []string{"refuses the token"}},
		"unknown":              {404, "RepoNotFound", testToken, models.Request{Ref: testRepo}, []string{"check the name"}},
		"no such revision":     {404, "RevisionNotFound", testToken, models.Request{Ref: testRepo, Revision: "v9"}, []string{`no revision "v9"`}},
		"folder behind a wall": {403, "", "", models.Request{Ref: "FOLDER"}, []string{"credentials"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, modelFiles())
			h.failWith(func(_ string, w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("X-Error-Code", c.reason)
				w.WriteHeader(c.status)
				return true
			})
			r := newRig(t, h.hub.URL, func(o *models.Options) { o.Env.Token = c.token })
			if c.request.Ref == "FOLDER" {
				c.request.Ref = h.store.URL + "/some/where/mine"
			}
			_, err := r.Pull(t.Context(), c.request)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), testToken)
			require.Empty(t, r.waited(), "a refusal is not asked for twice")
		})
	}
}

func TestBusyServersAreAskedAgainWhenTheySay(t *testing.T) {
	t.Parallel()
	var answered sync.Map
	h := newHub(t, modelFiles())
	h.failWith(func(server string, w http.ResponseWriter, r *http.Request) bool {
		if _, seen := answered.LoadOrStore(server+r.URL.Path, true); seen {
			return false
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	r := newRig(t, h.hub.URL, nil)
	r.pull(t, models.Request{Ref: testRepo})
	require.NotEmpty(t, r.waited())
	for _, d := range r.waited() {
		require.GreaterOrEqual(t, d, 7*time.Second)
	}
}

func TestABusyServerIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		after  string
		asks   int
		want   string
	}{
		"503 for ever":     {503, "", 6, "tried 6 times"},
		"429, for an hour": {429, "3600", 1, "1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, modelFiles())
			h.failWith(func(_ string, w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Retry-After", c.after)
				w.WriteHeader(c.status)
				return true
			})
			r := newRig(t, h.hub.URL, nil)
			_, err := r.Pull(t.Context(), models.Request{Ref: testRepo})
			require.ErrorContains(t, err, c.want)
			require.Len(t, h.requests(anything), c.asks)
			waits := r.waited()
			for i := 1; i < len(waits); i++ {
				require.Greater(t, 3*waits[i], waits[i-1], "the waits grow, but for jitter")
			}
		})
	}
}

func TestWithoutNetworkOneSentenceSaysWhatToDo(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	r := newRig(t, closed.URL, nil)
	_, err := r.Pull(t.Context(), models.Request{Ref: "deberta-v3-base"})
	for _, want := range []string{"can't be reached", "copy the model's folder", r.store.Path("deberta-v3-base"), "HF_ENDPOINT"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "\n")
	require.Empty(t, r.waited(), "a host that never answered is not waited for")
}

func TestACertificateThatIsNotTrustedIsNotAskedForTwice(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	r := newRig(t, s.URL, nil)
	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo})
	require.ErrorContains(t, err, "certificate")
	require.Empty(t, r.waited())
}

func TestOfflineNothingIsAsked(t *testing.T) {
	t.Parallel()
	_, h, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})
	asks := len(h.requests(anything))
	off := rigOn(t, r.store, h.hub.URL, func(o *models.Options) { o.Env.Offline = true })
	_, err := off.Pull(t.Context(), models.Request{Ref: testRepo})
	require.NoError(t, err, "what is there needs no network")
	_, err = off.Pull(t.Context(), models.Request{Ref: "deberta-v3-base"})
	require.ErrorContains(t, err, "HF_HUB_OFFLINE")
	require.Len(t, h.requests(anything), asks)
}

func TestAFullDiskIsSeenBeforeTheDownload(t *testing.T) {
	t.Parallel()
	h := newHub(t, modelFiles())
	r := newRig(t, h.hub.URL, func(o *models.Options) {
		o.Free = func(string) (int64, error) { return 50_000, nil }
	})
	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo})
	require.ErrorContains(t, err, "50.0 kB are free")
	require.ErrorContains(t, err, "STEPGAP_MODELS")
	require.Empty(t, h.requests(ofFile("model.onnx")))
}
