package models_test

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

func shaOf(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

func gitOf(b []byte) string {
	s := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
	return hex.EncodeToString(s[:])
}

// modelFiles is a repository with a model of 100 kB.
func modelFiles() map[string][]byte {
	return map[string][]byte{
		"README.md":               []byte("# a model\n"),
		"config.json":             []byte(`{"id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"}}`),
		"tokenizer.json":          []byte(`{"model": {}}`),
		"tokenizer_config.json":   []byte(`{}`),
		"special_tokens_map.json": []byte(`{"pad_token": "[PAD]"}`),
		"onnx/model.onnx":         bytesOf("fp32", 100_000),
		"onnx/model_fp16.onnx":    bytesOf("fp16", 50_000),
		"pytorch_model.bin":       bytesOf("weights", 1000),
	}
}

// bytesOf is n bytes that differ everywhere.
func bytesOf(seed string, n int) []byte {
	var out []byte
	for i := 0; len(out) < n; i++ {
		s := sha256.Sum256(fmt.Appendf(nil, "%s %d", seed, i))
		out = append(out, s[:]...)
	}
	return out[:n]
}

// notes is a Reporter that keeps what it is told.
type notes struct {
	mu    sync.Mutex
	lines []string
	bytes map[string]int64
	file  string
}

func (n *notes) Note(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}
func (n *notes) Begin(file string, _, have int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.bytes == nil {
		n.bytes = map[string]int64{}
	}
	n.file, n.bytes[file] = file, have
}
func (n *notes) Advance(k int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bytes[n.file] += k
}
func (n *notes) End(string) {}

func (n *notes) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, "\n")
}

// rig is a puller with a store of its own.
type rig struct {
	*models.Puller
	store models.Store
	notes *notes
	mu    sync.Mutex
	waits []time.Duration
}

func (r *rig) waited() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waits
}

func newRig(t *testing.T, endpoint string, change func(*models.Options)) *rig {
	t.Helper()
	store, err := models.OpenStore(t.TempDir())
	require.NoError(t, err)
	return rigOn(t, store, endpoint, change)
}

func rigOn(t *testing.T, store models.Store, endpoint string, change func(*models.Options)) *rig {
	t.Helper()
	u, err := url.Parse(endpoint)
	require.NoError(t, err)
	r := &rig{store: store, notes: &notes{}}
	opts := models.Options{
		Store: store, Env: models.Env{Endpoint: u, Token: testToken}, Report: r.notes, Agent: "stepgap/test",
		Wait: func(_ context.Context, d time.Duration) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.waits = append(r.waits, d)
			return nil
		},
	}
	if change != nil {
		change(&opts)
	}
	r.Puller, err = models.NewPuller(opts)
	require.NoError(t, err)
	return r
}

// newPull is a rig and the hub that it pulls from, with the hub's files.
func newPull(t *testing.T) (map[string][]byte, *fakeHub, *rig) {
	t.Helper()
	files := modelFiles()
	h := newHub(t, files)
	return files, h, newRig(t, h.hub.URL, nil)
}

// givingUp makes the first wait the end of a pull.
func givingUp(o *models.Options) {
	o.Wait = func(context.Context, time.Duration) error { return errors.New("the user gave up") }
}

// pull pulls what must not fail.
func (r *rig) pull(t *testing.T, request models.Request) *models.Lock {
	t.Helper()
	lock, err := r.Pull(t.Context(), request)
	require.NoError(t, err)
	return lock
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return b
}

// filesIn are the names of a folder's files.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
