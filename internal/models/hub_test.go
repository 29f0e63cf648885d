package models_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	testRepo   = "someone/some-nli"
	testCommit = "0123456789abcdef0123456789abcdef01234567"
	testToken  = "hf_secretOfTheUser"
	signature  = "signatureOfTheStore"
)

// noTime leaves Last-Modified away.
var noTime time.Time

// asked is a request that a server of the test got.
type asked struct{ server, method, path, rng, auth string }

// fault may answer in place of a server; it says if it did.
type fault func(server string, w http.ResponseWriter, r *http.Request) bool

// fakeHub is a hub with one repository, whose large files lie at another host,
// as those of the real one do.
type fakeHub struct {
	hub, store *httptest.Server
	repo       string
	commit     string
	large      map[string]bool
	// silent leaves hashes out of the listing.
	silent bool

	mu    sync.Mutex
	files map[string][]byte
	log   []asked
	fault fault // may be nil
}

func newHub(t *testing.T, files map[string][]byte) *fakeHub {
	t.Helper()
	h := &fakeHub{repo: testRepo, commit: testCommit, files: files, large: map[string]bool{}}
	for p := range files {
		if strings.Contains(p, ".onnx") {
			h.large[p] = true
		}
	}
	h.hub = httptest.NewServer(h.serve("hub", h.serveHub))
	h.store = httptest.NewServer(h.serve("store", h.serveStore))
	t.Cleanup(h.hub.Close)
	t.Cleanup(h.store.Close)
	return h
}

func (h *fakeHub) serve(server string, do http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.log = append(h.log, asked{server, r.Method, r.URL.Path, r.Header.Get("Range"), r.Header.Get("Authorization")})
		fault := h.fault
		h.mu.Unlock()
		if fault == nil || !fault(server, w, r) {
			do(w, r)
		}
	})
}

func (h *fakeHub) serveHub(w http.ResponseWriter, r *http.Request) {
	api := "/api/models/" + h.repo
	switch {
	case strings.HasPrefix(r.URL.Path, api+"/revision/"):
		_ = json.NewEncoder(w).Encode(map[string]any{"sha": h.commit, "tags": []string{"onnx", "license:mit"}})
	case strings.HasPrefix(r.URL.Path, api+"/tree/"+h.commit):
		h.serveTree(w, r)
	case strings.HasPrefix(r.URL.Path, "/"+h.repo+"/resolve/"+h.commit+"/"):
		h.serveFile(w, r, strings.TrimPrefix(r.URL.Path, "/"+h.repo+"/resolve/"+h.commit+"/"))
	default:
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusNotFound)
	}
}

// serveTree lists the files in two pages, as that of a large repository.
func (h *fakeHub) serveTree(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var page []map[string]any
	for _, p := range slices.Sorted(maps.Keys(h.files)) {
		b := h.files[p]
		e := map[string]any{"type": "file", "path": p, "size": len(b), "oid": gitOf(b)}
		switch {
		case h.silent:
			e["oid"] = ""
		case h.large[p]:
			e["oid"] = gitOf([]byte("a pointer"))
			e["lfs"] = map[string]any{"oid": shaOf(b), "size": len(b)}
		}
		page = append(page, e)
	}
	half := len(page) / 2
	if r.URL.Query().Get("cursor") == "" {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?recursive=true&cursor=2>; rel="next"`, r.Host, r.URL.Path))
		_ = json.NewEncoder(w).Encode(append([]map[string]any{{"type": "directory", "path": "onnx", "oid": "x"}}, page[:half]...))
		return
	}
	_ = json.NewEncoder(w).Encode(page[half:])
}

func (h *fakeHub) serveFile(w http.ResponseWriter, r *http.Request, p string) {
	h.mu.Lock()
	b, ok := h.files[p]
	h.mu.Unlock()
	switch {
	case !ok:
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
	case h.large[p]:
		w.Header().Set("X-Linked-Etag", `"`+shaOf(b)+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(b)))
		http.Redirect(w, r, h.store.URL+"/"+p+"?Signature="+signature, http.StatusFound)
	default:
		w.Header().Set("ETag", `"`+gitOf(b)+`"`)
		http.ServeContent(w, r, "", noTime, bytes.NewReader(b))
	}
}

func (h *fakeHub) serveStore(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	b := h.files[strings.TrimPrefix(r.URL.Path, "/")]
	h.mu.Unlock()
	w.Header().Set("ETag", `"`+shaOf(b)[:16]+`"`)
	http.ServeContent(w, r, "", noTime, bytes.NewReader(b))
}

func (h *fakeHub) set(p string, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[p] = b
}

func (h *fakeHub) failWith(f fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = f
}

// requests are those that match, in order.
func (h *fakeHub) requests(match func(asked) bool) []asked {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []asked
	for _, a := range h.log {
		if match(a) {
			out = append(out, a)
		}
	}
	return out
}

func ofFile(p string) func(asked) bool {
	return func(a asked) bool { return a.method == http.MethodGet && path.Base(a.path) == path.Base(p) }
}

func anything(asked) bool { return true }

func ofStore(a asked) bool { return a.server == "store" }

// cutOff sends the first n bytes of what would be sent, and breaks off.
func cutOff(w http.ResponseWriter, b []byte, n int) {
	w.Header().Set("ETag", `"`+shaOf(b)[:16]+`"`)
	w.Header().Set("Content-Length", fmt.Sprint(len(b)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b[:n])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// cutAt is a store that breaks off after n bytes.
func cutAt(b []byte, n int) fault {
	return func(server string, w http.ResponseWriter, _ *http.Request) bool {
		if server == "store" {
			cutOff(w, b, n)
		}
		return false
	}
}

// hangAfter is a store that sends n bytes, does then, and sends nothing more.
func hangAfter(b []byte, n int, then func()) fault {
	return func(server string, w http.ResponseWriter, r *http.Request) bool {
		if server != "store" {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		_, _ = w.Write(b[:n])
		_ = http.NewResponseController(w).Flush()
		then()
		<-r.Context().Done()
		return true
	}
}

// once makes a fault of the store happen the first time alone.
func once(f fault) fault {
	var done atomic.Bool
	return func(server string, w http.ResponseWriter, r *http.Request) bool {
		return server == "store" && !done.Swap(true) && f(server, w, r)
	}
}
