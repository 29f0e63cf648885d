package models_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

func TestTheTokenGoesToTheHubAlone(t *testing.T) {
	t.Parallel()
	_, h, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})
	atHub := h.requests(func(a asked) bool { return a.server == "hub" })
	atStore := h.requests(ofStore)
	require.NotEmpty(t, atHub)
	require.NotEmpty(t, atStore, "the redirect leads to another host")
	for _, a := range atHub {
		require.Equal(t, "Bearer "+testToken, a.auth, a.path)
	}
	for _, a := range atStore {
		require.Empty(t, a.auth, a.path)
	}

	other := rigOn(t, models.Store{Dir: t.TempDir()}, noHub, nil)
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the token went to a URL that is no hub: %s", r.URL)
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer mirror.Close()
	_, err := other.Pull(t.Context(), models.Request{Ref: mirror.URL + "/models/mine"})
	require.Error(t, err)
}

func TestSecretsAreInNoMessage(t *testing.T) {
	t.Parallel()
	h := newHub(t, modelFiles())
	h.failWith(func(server string, w http.ResponseWriter, _ *http.Request) bool {
		if server == "store" {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	r := newRig(t, h.hub.URL, nil)
	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo})
	require.Error(t, err)
	env := models.Env{Token: testToken}
	asJSON, jerr := json.Marshal(env)
	require.NoError(t, jerr)
	text := err.Error() + r.notes.text() + fmt.Sprintf("%v %+v %#v %s %q", env, env, env, env.Token, env.Token) + string(asJSON)
	require.NotContains(t, text, testToken)
	require.NotContains(t, text, signature, "the signed URL that the hub redirects to is a credential too")

	_, err = r.Pull(t.Context(), models.Request{Ref: "http://me:hunter2@" + h.store.Listener.Addr().String() + "/a/b/c"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
	_, err = r.Pull(t.Context(), models.Request{Ref: "http://me:hunter2@%zz/a"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

// A signed URL of an archive is a credential, and is not the name of what lies
// there: the same archive under a later signature is the same model.
func TestTheSignatureOfAURLIsNotKept(t *testing.T) {
	t.Parallel()
	s, r := newWebPull(t, map[string][]byte{"m/mine.tar.gz": tarGz(t, archived("")...)})
	lock := r.pull(t, models.Request{Ref: s.URL + "/m/mine.tar.gz?Signature=" + signature})
	require.Equal(t, s.URL+"/m/mine.tar.gz", lock.Source)
	require.NotContains(t, string(read(t, r.store.Path("mine"), models.LockFile)), signature)
	require.NotContains(t, r.notes.text(), signature)
	r.pull(t, models.Request{Ref: s.URL + "/m/mine.tar.gz?Signature=another"})
	require.Len(t, s.gets("mine.tar.gz"), 1)
}

func TestAWrongFileIsNotKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		put  func([]byte) []byte
		want string
	}{
		"large, same length":  {"onnx/model.onnx", func(b []byte) []byte { return bytesOf("evil", len(b)) }, "expected "},
		"large, other length": {"onnx/model.onnx", func(b []byte) []byte { return b[:len(b)-1] }, "99999"},
		"small, same length":  {"tokenizer.json", func(b []byte) []byte { return bytesOf("evil", len(b)) }, "expected "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := modelFiles()
			h := newHub(t, files)
			right, wrong := files[c.file], c.put(files[c.file])
			h.failWith(func(_ string, _ http.ResponseWriter, r *http.Request) bool {
				if filepath.Base(r.URL.Path) == filepath.Base(c.file) { // after it was listed
					h.set(c.file, wrong)
				}
				return false
			})
			r := newRig(t, h.hub.URL, nil)
			_, err := r.Pull(t.Context(), models.Request{Ref: testRepo})
			require.ErrorIs(t, err, models.ErrMismatch)
			require.ErrorContains(t, err, c.want)
			require.NoDirExists(t, r.store.Path("some-nli"))
			require.NotContains(t, filesIn(t, r.store.Path("some-nli.pulling")), filepath.Base(c.file))

			h.failWith(nil)
			h.set(c.file, right)
			_, err = r.Pull(t.Context(), models.Request{Ref: testRepo})
			require.NoError(t, err, "and the next pull is not spoilt by it")
		})
	}
}

func TestTheGivenHashCounts(t *testing.T) {
	t.Parallel()
	files, h, r := newPull(t)
	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo, SHA256: shaOf([]byte("another"))})
	require.ErrorIs(t, err, models.ErrMismatch)
	require.ErrorContains(t, err, shaOf(files["onnx/model.onnx"]))
	require.Empty(t, h.requests(ofFile("model.onnx")), "the hub's own word is enough to refuse it")
	lock := r.pull(t, models.Request{Ref: testRepo, SHA256: shaOf(files["onnx/model.onnx"])})
	require.Equal(t, models.CheckedGiven, lock.Files[len(lock.Files)-1].Checked)
	_, err = r.Pull(t.Context(), models.Request{Ref: testRepo, SHA256: shaOf([]byte("another"))})
	require.ErrorIs(t, err, models.ErrMismatch, "also of what is there already")
}

// What is there already is held to --sha256 as well, wherever it came from.
func TestTheGivenHashCountsForWhatIsThere(t *testing.T) {
	t.Parallel()
	files := inFolder()
	b := tarGz(t, archived("")...)
	files["m/packed.tar.gz"] = b
	s, r := newWebPull(t, files)
	for path, sum := range map[string]string{"/nli/mine": shaOf(files["nli/mine/model.onnx"]), "/m/packed.tar.gz": shaOf(b)} {
		r.pull(t, models.Request{Ref: s.URL + path})
		r.pull(t, models.Request{Ref: s.URL + path, SHA256: sum})
		_, err := r.Pull(t.Context(), models.Request{Ref: s.URL + path, SHA256: shaOf([]byte("another"))})
		require.ErrorIs(t, err, models.ErrMismatch, path)
		require.ErrorContains(t, err, sum, path)
	}
}

func TestAHubThatContradictsTheTableIsRefused(t *testing.T) {
	t.Parallel()
	known, err := models.KnownModels()
	require.NoError(t, err)
	k := known[1]
	h := newHub(t, modelFiles())
	h.repo, h.commit = k.Repo, k.Revision
	r := newRig(t, h.hub.URL, nil)
	_, err = r.Pull(t.Context(), models.Request{Ref: k.Name})
	require.ErrorIs(t, err, models.ErrMismatch)
	require.ErrorContains(t, err, "table of known models")
	require.Empty(t, h.requests(ofFile("model.onnx")))
}

func TestAListingWithoutHashesIsCompletedByTheFilesOwnHeaders(t *testing.T) {
	t.Parallel()
	h := newHub(t, modelFiles())
	h.silent = true
	r := newRig(t, h.hub.URL, nil)
	lock := r.pull(t, models.Request{Ref: testRepo})
	for _, f := range lock.Files {
		require.Contains(t, []models.Checked{models.CheckedHub, models.CheckedGit}, f.Checked, f.Name)
	}
	require.Empty(t, h.requests(func(a asked) bool { return a.server == "store" && a.method == http.MethodHead }))
}
