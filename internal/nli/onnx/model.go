// Package onnx opens NLI models in Hugging Face layout (config.json,
// tokenizer.json, an ONNX file) and runs them with ONNX Runtime. BERT, RoBERTa
// and DeBERTa-v2/v3 are known layouts. It implements nli.Model; batching and
// caching are the caller's.
package onnx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"unicode"

	"github.com/stepgap/stepgap/internal/nli"
)

// Options say which model to open and how.
type Options struct {
	// Dir is the model's folder.
	Dir string
	// File is the ONNX file in Dir; default "model.onnx".
	File string
	// Library is the path of ONNX Runtime's shared library.
	Library string
	// Threads is how many threads one batch may use; default
	// runtime.GOMAXPROCS(0), which knows the container's limit.
	Threads int
	// Device is auto, cpu, cuda or cuda:N; default auto, which takes a GPU if
	// there is one and says in the log what it took.
	Device string
	// Log gets the one line about the device; default slog.Default().
	Log *slog.Logger
}

// Model is an open model. It is safe for concurrent use.
type Model struct {
	info   nli.Info
	labels nli.LabelOrder
	tok    *pairTokenizer
	sess   *session

	mu     sync.RWMutex // held for reading while a batch runs
	closed bool
}

var _ nli.Model = (*Model)(nil)

// Open reads, checks and loads a model. Where the folder holds reference.json,
// the model must reproduce it (see checkParity) or is refused.
func Open(opts Options) (*Model, error) {
	if opts.File == "" {
		opts.File = "model.onnx"
	}
	if opts.Threads <= 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	m, err := open(opts)
	if err != nil {
		return nil, fmt.Errorf("opening NLI model %s: %w", opts.Dir, err)
	}
	return m, nil
}

func open(opts Options) (_ *Model, err error) {
	device, err := ParseDevice(opts.Device)
	if err != nil {
		return nil, err
	}
	var cfg config
	if err := readJSON(filepath.Join(opts.Dir, "config.json"), &cfg); err != nil {
		return nil, err
	}
	m := &Model{}
	if m.labels, err = cfg.labels(); err != nil {
		return nil, err
	}
	path := filepath.Join(opts.Dir, opts.File)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("finding the model file: %w", err)
	}
	if opts.Library == "" {
		return nil, fmt.Errorf("no path to ONNX Runtime's library was given: %w", ErrNotFound)
	}
	abs, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolving the model's folder: %w", err)
	}
	m.info = nli.Info{Name: filepath.Base(abs), File: opts.File}
	if m.info.MaxTokens, err = cfg.maxTokens(opts.Dir); err != nil {
		return nil, err
	}
	if m.info.Hash, err = hashFiles(opts.Dir, opts.File, "tokenizer.json", "config.json"); err != nil {
		return nil, err
	}
	if m.tok, err = openTokenizer(filepath.Join(opts.Dir, "tokenizer.json")); err != nil {
		return nil, err
	}
	m.info.PairOverhead = overhead(m.tok.layout)
	if err := process.acquire(opts.Library); err != nil {
		return nil, errors.Join(err, m.tok.close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	g, err := inspect(path)
	if err != nil {
		return nil, err
	}
	var pad int64
	if cfg.PadTokenID != nil {
		pad = *cfg.PadTokenID
	}
	if m.sess, m.info.Device, err = openOn(device, path, g, pad, opts); err != nil {
		return nil, err
	}
	if err := m.checkParity(filepath.Join(opts.Dir, referenceFile)); err != nil {
		return nil, err
	}
	return m, nil
}

// openOn opens a session on the wanted device. auto falls back to CPU and says
// so; cuda that is not there is an error.
func openOn(d Device, path string, g graph, pad int64, opts Options) (*session, string, error) {
	if d.kind != "cpu" {
		s, err := openSession(path, g, opts.Threads, d.gpu, pad)
		if err == nil {
			name := fmt.Sprintf("cuda:%d", d.gpu)
			opts.Log.Info("NLI model runs on GPU", "device", name, "model", opts.Dir)
			return s, name, nil
		}
		if d.kind == "cuda" {
			return nil, "", fmt.Errorf("device cuda:%d was demanded and is not available: %w", d.gpu, err)
		}
		opts.Log.Info("NLI model runs on CPU", "threads", opts.Threads, "no_gpu", err)
	}
	s, err := openSession(path, g, opts.Threads, -1, pad)
	return s, "cpu", err
}

// Info names the model.
func (m *Model) Info() nli.Info { return m.info }

// CountTokens counts a text's tokens, special tokens not included.
func (m *Model) CountTokens(text string) (int, error) {
	ids, err := m.tok.encode(text)
	return len(ids), err
}

// Encode encodes a pair, or returns nli.ErrTooLong (wrapped): it never cuts.
func (m *Model) Encode(p nli.Pair) (nli.Encoding, error) {
	e, err := m.tok.pair(p)
	if err != nil {
		return nli.Encoding{}, err
	}
	if e.Len() > m.info.MaxTokens {
		return nli.Encoding{}, fmt.Errorf("%d tokens, the model takes %d: %w", e.Len(), m.info.MaxTokens, nli.ErrTooLong)
	}
	return e, nil
}

// Run implements nli.Model. A batch that runs is not interrupted by ctx.
func (m *Model) Run(ctx context.Context, batch []nli.Encoding) ([]nli.Logits, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(batch) == 0 {
		return nil, nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, nli.ErrClosed
	}
	rows, err := m.sess.run(batch)
	if err != nil {
		return nil, err
	}
	out := make([]nli.Logits, len(rows))
	for i, row := range rows {
		out[i] = m.labels.Logits(row)
	}
	return out, nil
}

// Close waits for the batches that run and frees everything. It may be called
// more than once; later calls of the model's methods return nli.ErrClosed.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	defer process.release()
	var err error
	if m.sess != nil {
		err = m.sess.ort.Destroy()
	}
	return errors.Join(err, m.tok.close())
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
