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
	// File is the ONNX file, relative to Dir. By default it is the one that
	// stepgap.json names, else model.onnx or onnx/model.onnx, else the only one;
	// several are an error that names them.
	File string
	// Library is the path of ONNX Runtime's shared library.
	Library string
	// Threads is how many threads one batch may use; default
	// runtime.GOMAXPROCS(0), which knows the container's limit.
	Threads int
	// Device is auto, cpu, cuda or cuda:N; default auto, which takes a GPU if
	// there is one and says in the log what it took.
	Device string
	// Deterministic is auto, on or off; default auto. It says what OpenScorer
	// does where a pair's scores depend on what shares its batch.
	Deterministic string
	// Log gets a line about the device, one if the model can't tell
	// contradictions, and one if it has no reference to be checked against;
	// default slog.Default().
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Model is an open NLI model. It is safe for concurrent use.
type Model struct {
	*network
	labels nli.LabelOrder
}

var _ nli.Model = (*Model)(nil)

// network is an open model whose outputs mean nothing yet. It is safe for
// concurrent use.
type network struct {
	info nli.Info
	tok  *pairTokenizer
	sess *session

	mu     sync.RWMutex // held for reading while a batch runs
	closed bool
}

// Open reads, checks and loads a model. Where the folder holds reference.json,
// the model must reproduce it (see parity.go) or is refused.
func Open(opts Options) (*Model, error) {
	opts = opts.withDefaults()
	m, err := open(opts)
	if err != nil {
		return nil, fmt.Errorf("opening NLI model %s: %w", opts.Dir, err)
	}
	return m, nil
}

func open(opts Options) (_ *Model, err error) {
	folder, err := readFolder(opts)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if m.labels, err = folder.labels(folder.own); err != nil {
		return nil, err
	}
	refs, err := readReference(filepath.Join(opts.Dir, referenceFile), m.labels)
	if err != nil {
		return nil, err
	}
	if m.network, err = openNetwork(opts, folder, m.labels.Classes()); err != nil {
		return nil, err
	}
	m.info.TwoWay, m.info.Reference = !m.labels.CanContradict(), len(refs)
	if err := m.checkParity(refs); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.tell(opts.Log)
	return m, nil
}

// folder is what the small files of a model's folder say.
type folder struct {
	config
	own        override
	overridden bool
}

func readFolder(opts Options) (f folder, err error) {
	if _, err := ParseDevice(opts.Device); err != nil {
		return f, err
	}
	if err := readJSON(filepath.Join(opts.Dir, "config.json"), &f.config); err != nil {
		return f, err
	}
	f.own, f.overridden, err = readOverride(opts.Dir)
	return f, err
}

// openNetwork loads the model of a folder, whose output must have so many
// classes.
func openNetwork(opts Options, f folder, classes int) (_ *network, err error) {
	device, err := ParseDevice(opts.Device)
	if err != nil {
		return nil, err
	}
	if opts.File == "" {
		opts.File = f.own.File
	}
	if opts.File, err = chooseFile(opts.Dir, opts.File); err != nil {
		return nil, err
	}
	path := filepath.Join(opts.Dir, opts.File)
	weights, err := readFacts(path)
	if err != nil {
		return nil, err
	}
	if opts.Library == "" {
		return nil, fmt.Errorf("no path to ONNX Runtime's library was given: %w", ErrNotFound)
	}
	abs, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolving the model's folder: %w", err)
	}
	m := &network{info: nli.Info{Name: filepath.Base(abs), File: opts.File, Precision: weights.precision()}}
	if m.info.MaxTokens, err = f.maxTokens(opts.Dir); err != nil {
		return nil, err
	}
	if m.tok, err = openTokenizer(opts.Dir, f.own.PairText); err != nil {
		return nil, err
	}
	if m.info.Hash, err = hashFiles(opts.Dir, hashed(opts.File, weights.external, f.overridden)...); err != nil {
		return nil, errors.Join(err, m.tok.close())
	}
	m.info.PairOverhead = m.tok.overhead
	if err := process.acquire(opts.Library); err != nil {
		return nil, errors.Join(err, m.tok.close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	g, err := inspect(path, classes)
	if err != nil {
		return nil, err
	}
	if g.half && m.info.Precision == precisionFP32 {
		m.info.Precision = precisionFP16 // the logits are rounded
	}
	var pad int64
	if f.PadTokenID != nil {
		pad = *f.PadTokenID
	}
	if m.sess, m.info.Device, err = openOn(device, path, g, pad, opts); err != nil {
		return nil, err
	}
	return m, nil
}

// hashed lists the files that decide what a model answers.
func hashed(file string, external []string, overridden bool) []string {
	names := []string{file, "tokenizer.json", "config.json"}
	for _, e := range external {
		names = append(names, filepath.Join(filepath.Dir(file), e))
	}
	if overridden {
		names = append(names, overrideFile)
	}
	return names
}

// tell logs what the model can't say, and what isn't known of it.
func (m *Model) tell(log *slog.Logger) {
	if m.info.TwoWay {
		log.Warn("NLI model has two labels and no contradiction: what it calls not entailed counts as neutral, so contradicted_claim can't come from it",
			"model", m.info.Name, "labels", m.labels.String())
	}
	if m.info.Reference == 0 {
		log.Warn("NLI model was not checked against reference logits: the folder has no "+referenceFile,
			"model", m.info.Name, "file", m.info.File, "precision", m.info.Precision)
	}
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
			return nil, "", fmt.Errorf("device cuda:%d was demanded and is not available (%s): %w", d.gpu, plainly(err), ErrNoGPU)
		}
		opts.Log.Info("NLI model runs on CPU", "threads", opts.Threads, "no_gpu", plainly(err))
	}
	s, err := openSession(path, g, opts.Threads, -1, pad)
	return s, "cpu", err
}

// Info names the model.
func (m *network) Info() nli.Info { return m.info }

// CountTokens counts a text's tokens, special tokens not included.
func (m *network) CountTokens(text string) (int, error) {
	ids, err := m.tok.encode(text)
	return len(ids), err
}

// Encode encodes a pair, or returns nli.ErrTooLong (wrapped): it never cuts.
func (m *network) Encode(p nli.Pair) (nli.Encoding, error) {
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
	rows, err := m.rows(ctx, batch)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	out := make([]nli.Logits, len(rows))
	for i, row := range rows {
		out[i] = m.labels.Logits(row)
	}
	return out, nil
}

// rows runs a batch and returns its raw outputs, a row a pair.
func (m *network) rows(ctx context.Context, batch []nli.Encoding) ([][]float32, error) {
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
	return m.sess.run(batch)
}

// Tensors is how many tensors the model holds; none once it is closed.
func (m *network) Tensors() int {
	if m.sess == nil {
		return 0
	}
	return int(m.sess.pool.live.Load())
}

// Close waits for the batches that run and frees everything. It may be called
// more than once; later calls of the model's methods return nli.ErrClosed.
func (m *network) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	var err error
	if m.sess != nil {
		err = m.sess.close()
	}
	return errors.Join(err, m.tok.close())
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
