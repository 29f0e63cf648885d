package models_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

// web is a plain web server of files.
type web struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	log   []asked
	fault func(w http.ResponseWriter, r *http.Request) bool
}

func newWeb(t *testing.T, files map[string][]byte) *web {
	t.Helper()
	w := &web{files: files}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
	user, _, _ := r.BasicAuth()
	s.log = append(s.log, asked{"web", r.Method, r.URL.Path, r.Header.Get("Range"), user})
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", `"`+shaOf(b)[:16]+`"`)
	http.ServeContent(w, r, "", noTime, bytes.NewReader(b))
}

func (s *web) gets(name string) []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []asked
	for _, a := range s.log {
		if ofFile(name)(a) {
			out = append(out, a)
		}
	}
	return out
}

// noHub is a hub that can't be reached: what comes from elsewhere needs none.
const noHub = "http://hub.invalid"

// newWebPull is a web server and a rig without a hub.
func newWebPull(t *testing.T, files map[string][]byte) (*web, *rig) {
	t.Helper()
	return newWeb(t, files), newRig(t, noHub, nil)
}

// inFolder is a model in a folder of a web server.
func inFolder() map[string][]byte {
	files := map[string][]byte{}
	for p, b := range modelFiles() {
		files["nli/mine/"+strings.TrimPrefix(p, "onnx/")] = b
	}
	files["nli/mine/reference.json"] = []byte("[]")
	return files
}

func TestPullFromAFolderBehindAURL(t *testing.T) {
	t.Parallel()
	files := inFolder()
	s, r := newWebPull(t, files)
	lock := r.pull(t, models.Request{Ref: strings.Replace(s.URL, "http://", "http://me:hunter2@", 1) + "/nli/mine/"})
	dir := r.store.Path("mine")
	require.ElementsMatch(t, []string{"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "reference.json", "model.onnx", models.LockFile}, filesIn(t, dir))
	require.Equal(t, s.URL+"/nli/mine/", lock.Source, "without the password")
	require.NotContains(t, string(read(t, dir, models.LockFile)), "hunter2")
	for _, f := range lock.Files {
		require.Equal(t, models.CheckedNone, f.Checked, f.Name)
		require.Equal(t, shaOf(files["nli/mine/"+f.From]), f.SHA256)
	}
	require.Equal(t, "me", s.gets("model.onnx")[0].auth)
}

func TestSHA256SUMSBesideTheFilesCounts(t *testing.T) {
	t.Parallel()
	files := inFolder()
	var list strings.Builder
	for _, name := range []string{"config.json", "model.onnx"} {
		fmt.Fprintf(&list, "%s  %s\n", shaOf(files["nli/mine/"+name]), name)
	}
	files["nli/mine/SHA256SUMS"] = []byte(list.String())
	s, r := newWebPull(t, files)
	lock := r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
	for _, f := range lock.Files {
		require.Equal(t, f.Name == "config.json" || f.Name == "model.onnx", f.Checked == models.CheckedSums, f.Name)
	}
	s.mu.Lock()
	files["nli/mine/model.onnx"] = bytesOf("evil", 100_000)
	s.mu.Unlock()
	_, err := r.Pull(t.Context(), models.Request{Ref: s.URL + "/nli/mine", As: "again"})
	require.ErrorIs(t, err, models.ErrMismatch)
	require.ErrorContains(t, err, "SHA256SUMS")
}

func TestSHA256SUMSThatBreaksOffIsAskedForAgain(t *testing.T) {
	t.Parallel()
	files := inFolder()
	sums := fmt.Appendf(nil, "%s  model.onnx\n%s  config.json\n", shaOf(files["nli/mine/model.onnx"]), shaOf(files["nli/mine/config.json"]))
	files["nli/mine/SHA256SUMS"] = sums
	s, r := newWebPull(t, files)
	var cut atomic.Bool
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if filepath.Base(r.URL.Path) == "SHA256SUMS" && !cut.Swap(true) {
			cutOff(w, sums, bytes.IndexByte(sums, '\n')+1)
		}
		return false
	}
	lock := r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
	require.Len(t, r.waited(), 1)
	require.Equal(t, models.CheckedSums, lock.Files[0].Checked, lock.Files[0].Name)
}

// A file that is changed at the server between two parts must come whole from
// one version, whether or not the server understands If-Range.
func TestAFileThatChangesBetweenPartsIsStartedOver(t *testing.T) {
	t.Parallel()
	old, fresh := bytesOf("old", 100_000), bytesOf("new", 100_000)
	for name, c := range map[string]struct {
		deaf bool // the server ignores If-Range
		sum  bool // a hash of the new file is known
	}{
		"a server that knows If-Range":                {},
		"one that does not":                           {deaf: true},
		"one that does not, and a hash":               {deaf: true, sum: true},
		"one that knows If-Range, and a hash as well": {sum: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := inFolder()
			files["nli/mine/model.onnx"] = old
			if c.sum {
				files["nli/mine/SHA256SUMS"] = fmt.Appendf(nil, "%s  model.onnx\n", shaOf(fresh))
			}
			s := newWeb(t, files)
			cut, held := false, ""
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Range") != "" && held == "" {
					held = r.Header.Get("If-Range")
				}
				if c.deaf {
					r.Header.Del("If-Range")
				}
				if r.Method != http.MethodGet || filepath.Base(r.URL.Path) != "model.onnx" {
					return false
				}
				s.mu.Lock()
				first := !cut
				cut = true
				files["nli/mine/model.onnx"] = fresh
				s.mu.Unlock()
				if first {
					cutOff(w, old, 40_000)
				}
				b := fresh // the handler looked the file up before this
				w.Header().Set("ETag", `"`+shaOf(b)[:16]+`"`)
				http.ServeContent(w, r, "", noTime, bytes.NewReader(b))
				return true
			}
			r := newRig(t, noHub, nil)
			r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
			require.Equal(t, fresh, read(t, r.store.Path("mine"), "model.onnx"))
			require.Equal(t, "bytes=40000-", s.gets("model.onnx")[1].rng, "it did try to go on")
			require.Equal(t, `"`+shaOf(old)[:16]+`"`, held, "if the file is still the same")
		})
	}
}

// A server that is asked to go on and starts somewhere else is not believed.
func TestAPartThatStartsElsewhereIsNotAppended(t *testing.T) {
	t.Parallel()
	files := inFolder()
	s := newWeb(t, files)
	b := files["nli/mine/model.onnx"]
	var cut atomic.Bool
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || filepath.Base(r.URL.Path) != "model.onnx" {
			return false
		}
		if !cut.Swap(true) {
			cutOff(w, b, 5000)
		}
		if r.Header.Get("Range") == "" {
			return false
		}
		w.Header().Set("ETag", `"`+shaOf(b)[:16]+`"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(b)-1, len(b)))
		w.Header().Set("Content-Length", fmt.Sprint(len(b)-5000))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(b[:len(b)-5000])
		return true
	}
	r := newRig(t, noHub, nil)
	r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
	require.Equal(t, b, read(t, r.store.Path("mine"), "model.onnx"))
}

// Without a hash and without a validator nothing would tell that a file
// changed, so nothing is gone on with.
func TestWithoutAValidatorAFileIsFetchedFromItsStart(t *testing.T) {
	t.Parallel()
	files := inFolder()
	s := newWeb(t, files)
	var cut atomic.Bool
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		b := files["nli/mine/model.onnx"]
		if r.Method != http.MethodGet || filepath.Base(r.URL.Path) != "model.onnx" {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		if !cut.Swap(true) {
			_, _ = w.Write(b[:5000])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(b)
		return true
	}
	r := newRig(t, noHub, nil)
	r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
	require.Empty(t, s.gets("model.onnx")[1].rng)
}

func TestAServerWithoutHEADIsAskedByGET(t *testing.T) {
	t.Parallel()
	s := newWeb(t, inFolder())
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		return r.Method == http.MethodHead
	}
	r := newRig(t, noHub, nil)
	r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
}

// An object store that may not be listed answers 403 for what is not there.
func TestWhatAnObjectStoreHidesIsNotThere(t *testing.T) {
	t.Parallel()
	files := inFolder()
	s, r := newWebPull(t, files)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		_, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			w.WriteHeader(http.StatusForbidden)
		}
		return !ok
	}
	lock := r.pull(t, models.Request{Ref: s.URL + "/nli/mine"})
	require.Equal(t, "model.onnx", lock.Model)
	require.Contains(t, r.notes.text(), "SHA256SUMS answers 403", "it is said what was passed over")
	_, err := r.Pull(t.Context(), models.Request{Ref: s.URL + "/nli/other"})
	require.ErrorContains(t, err, "credentials", "a model that can't be seen may be behind a wall")
}

func TestAFolderWithoutAModelIsSaid(t *testing.T) {
	t.Parallel()
	s, r := newWebPull(t, map[string][]byte{"nli/mine/config.json": []byte("{}")})
	_, err := r.Pull(t.Context(), models.Request{Ref: s.URL + "/nli/mine"})
	require.ErrorContains(t, err, "no ONNX file")
	require.ErrorContains(t, err, "model.onnx and onnx/model.onnx")
}

// entry is one entry of an archive.
type entry struct {
	name string
	body []byte
	kind byte
	link string
}

func tarGz(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		require.NoError(t, w.WriteHeader(&tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.body)), Mode: 0o644}))
		_, err := w.Write(e.body)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return buf.Bytes()
}

func archived(prefix string) []entry {
	var all []entry
	for p, b := range modelFiles() {
		all = append(all, entry{name: prefix + p, body: b})
	}
	return all
}

func TestPullFromAnArchive(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"files at the top": "", "files in a folder": "mine-1.0/", "with a dot": "./mine/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := tarGz(t, append(archived(prefix), entry{name: "mine-notes/", kind: tar.TypeDir})...)
			s, r := newWebPull(t, map[string][]byte{"m/mine.tar.gz": b})
			lock := r.pull(t, models.Request{Ref: s.URL + "/m/mine.tar.gz", SHA256: shaOf(b)})
			dir := r.store.Path("mine")
			require.ElementsMatch(t, []string{"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "model.onnx", models.LockFile}, filesIn(t, dir))
			require.Equal(t, modelFiles()["onnx/model.onnx"], read(t, dir, "model.onnx"))
			require.Equal(t, models.CheckedGiven, lock.Files[0].Checked)

			r.pull(t, models.Request{Ref: s.URL + "/m/mine.tar.gz"})
			require.Len(t, s.gets("mine.tar.gz"), 1)
		})
	}
}

func TestAnArchiveThatReachesOutsideIsRefused(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]entry{
		"dot dot":        {name: "../evil.json", body: []byte("x")},
		"deep dot dot":   {name: "a/b/../../../evil.json", body: []byte("x")},
		"absolute":       {name: "/tmp/evil.json", body: []byte("x")},
		"backslash":      {name: `..\evil.json`, body: []byte("x")},
		"symbolic link":  {name: "config.json", kind: tar.TypeSymlink, link: "/etc/passwd"},
		"hard link":      {name: "config.json", kind: tar.TypeLink, link: "../../../etc/passwd"},
		"device":         {name: "config.json", kind: tar.TypeChar},
		"link to folder": {name: "onnx", kind: tar.TypeSymlink, link: "/tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := tarGz(t, append([]entry{e}, archived("")...)...)
			s, r := newWebPull(t, map[string][]byte{"mine.tar.gz": b})
			_, err := r.Pull(t.Context(), models.Request{Ref: s.URL + "/mine.tar.gz"})
			require.ErrorContains(t, err, "refused")
			require.NoDirExists(t, r.store.Path("mine"))
			require.NoFileExists(t, filepath.Join(r.store.Dir, "evil.json"))
			require.NoFileExists(t, filepath.Join(filepath.Dir(r.store.Dir), "evil.json"))
		})
	}
}

func TestAnArchiveIsHeldToItsHashAndToTheDisk(t *testing.T) {
	t.Parallel()
	b := tarGz(t, append(archived(""), entry{name: "zeros.bin", body: make([]byte, 5<<20)})...)
	s, r := newWebPull(t, map[string][]byte{"mine.tgz": b})
	_, err := r.Pull(t.Context(), models.Request{Ref: s.URL + "/mine.tgz", SHA256: shaOf([]byte("another"))})
	require.ErrorIs(t, err, models.ErrMismatch)
	small := newRig(t, noHub, func(o *models.Options) {
		o.Free = func(string) (int64, error) { return 65 << 20, nil }
	})
	_, err = small.Pull(t.Context(), models.Request{Ref: s.URL + "/mine.tgz"})
	require.ErrorContains(t, err, "unpacks to more than", "a few bytes that unpack to many")
}

// Unpacking ends with the pull, and what was fetched stays.
func TestAnArchiveIsUnpackedUntilThePullEnds(t *testing.T) {
	t.Parallel()
	b := tarGz(t, archived("")...)
	s := newWeb(t, map[string][]byte{"mine.tgz": b})
	ctx, stop := context.WithCancel(t.Context())
	r := newRig(t, noHub, func(o *models.Options) {
		o.Free = func(dir string) (int64, error) { // it is asked before the download, and again when that is there
			if _, err := os.Stat(filepath.Join(dir, "archive.tar.gz")); err == nil {
				stop()
			}
			return 1 << 40, nil
		}
	})
	request := models.Request{Ref: s.URL + "/mine.tgz", SHA256: shaOf(b)}
	_, err := r.Pull(ctx, request)
	require.ErrorIs(t, err, context.Canceled)
	require.NoDirExists(t, r.store.Path("mine"))
	r.pull(t, request)
	require.Len(t, s.gets("mine.tgz"), 1)
}
