package onnx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/stepgap/stepgap/internal/lru"
	"github.com/stepgap/stepgap/internal/nli"
)

// Classifier is an open model that gives a pair one of any number of labels. It
// is safe for concurrent use.
//
// Every pair runs by itself: pairs that fill the model leave nothing to be
// joined on CPU, and what shares a batch can't move a probability.
type Classifier struct {
	*network
	// columns says where each label stands in the model's output.
	columns []int
	lanes   *semaphore.Weighted
	cache   *lru.Cache[nli.Pair, []float64]
}

// ClassifierOptions size a Classifier. A zero field takes its default.
type ClassifierOptions struct {
	// Lanes is how many pairs run at once; default: as many as the cores that
	// Go may use give with Options.Threads each.
	Lanes int
	// CacheSize is how many results are kept; default 4096, negative for none.
	CacheSize int
}

// OpenClassifier opens the model of a folder, whose labels must be those given,
// in any order and case. Where the folder holds reference.json, the model must
// reproduce it or is refused.
func OpenClassifier(opts Options, labels []string, o ClassifierOptions) (*Classifier, error) {
	cores := runtime.GOMAXPROCS(0)
	opts.Threads = threadsFor(opts.Threads, o.Lanes, cores)
	opts = opts.withDefaults()
	if o.Lanes <= 0 {
		o.Lanes = max(1, cores/opts.Threads)
	}
	if o.CacheSize == 0 {
		o.CacheSize = 4096
	}
	c, err := openClassifier(opts, labels)
	if err != nil {
		return nil, fmt.Errorf("opening classifier %s: %w", opts.Dir, err)
	}
	c.lanes, c.cache = semaphore.NewWeighted(int64(o.Lanes)), lru.New[nli.Pair, []float64](o.CacheSize)
	return c, nil
}

func openClassifier(opts Options, labels []string) (*Classifier, error) {
	folder, err := readFolder(opts)
	if err != nil {
		return nil, err
	}
	byID, source, err := folder.classes(folder.own)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(byID, labels)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	refs, err := readRows(filepath.Join(opts.Dir, referenceFile), len(labels))
	if err != nil {
		return nil, err
	}
	n, err := openNetwork(opts, folder, len(labels))
	if err != nil {
		return nil, err
	}
	n.info.Reference = len(refs)
	c := &Classifier{network: n, columns: columns}
	if err := c.checkRows(refs); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// columnsOf finds each label's position in the model's output.
func columnsOf(byID map[int]string, labels []string) ([]int, error) {
	want := fmt.Sprintf("%d labels are expected, in any order: %s", len(labels), strings.Join(labels, ", "))
	if len(byID) != len(labels) {
		return nil, fmt.Errorf("the model has %d classes (%s); %s", len(byID), named(byID), want)
	}
	columns := slices.Repeat([]int{-1}, len(labels))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		at := slices.IndexFunc(labels, func(l string) bool { return strings.EqualFold(l, strings.TrimSpace(byID[id])) })
		switch {
		case id < 0 || id >= len(labels):
			return nil, fmt.Errorf("class id %d is not among 0 to %d", id, len(labels)-1)
		case at < 0:
			return nil, fmt.Errorf("class %d is named %q; %s", id, byID[id], want)
		case columns[at] >= 0:
			return nil, fmt.Errorf("two classes are named %q; %s", byID[id], want)
		}
		columns[at] = id
	}
	return columns, nil
}

func named(byID map[int]string) string {
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		parts = append(parts, fmt.Sprintf("%d: %q", id, byID[id]))
	}
	return strings.Join(parts, ", ")
}

// Classify returns the probability of each label, in the order that
// OpenClassifier was given; they sum to 1. A pair that is longer than the model
// takes is nli.ErrTooLong (wrapped): nothing is cut.
func (c *Classifier) Classify(ctx context.Context, p nli.Pair) ([]float64, error) {
	if known, ok := c.cache.Get(p); ok {
		return slices.Clone(known), nil
	}
	enc, err := c.Encode(p)
	if err != nil {
		return nil, err
	}
	if err := c.lanes.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("waiting for the classifier: %w", err)
	}
	defer c.lanes.Release(1)
	rows, err := c.rows(ctx, []nli.Encoding{enc})
	if err != nil {
		return nil, err
	}
	out, err := softmax(rows[0], c.columns)
	if err != nil {
		return nil, err
	}
	c.cache.Put(p, out)
	return slices.Clone(out), nil
}

// softmax turns a row of logits into the probabilities of its columns.
func softmax(row []float32, columns []int) ([]float64, error) {
	top := math.Inf(-1)
	for _, x := range row {
		if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("logits %v: %w", row, nli.ErrNotFinite)
		}
		top = max(top, float64(x))
	}
	out, sum := make([]float64, len(columns)), 0.0
	for i, c := range columns {
		out[i] = math.Exp(float64(row[c]) - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out, nil
}

// readRows reads a folder's reference vectors, of which it may have none.
func readRows(path string, classes int) ([]referencePair, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var refs []referencePair
	if err := readJSON(path, &refs); err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if len(ref.Logits) != classes {
			return nil, ref.wrap(i, fmt.Errorf("the reference has %d logits, expected %d", len(ref.Logits), classes))
		}
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("%s holds no pairs; the model is refused", path)
	}
	return refs, nil
}

// checkRows compares the classifier with its reference vectors. Where its
// weights are rounded its logits can't be held to a thousandth, but the class
// of a pair that the reference is sure of must be the same, with one exception
// in ten.
func (c *Classifier) checkRows(refs []referencePair) error {
	identity := make([]int, len(c.columns))
	for i := range identity {
		identity[i] = i
	}
	_, isRounded := roundedBy(c.info.Precision)
	sure, flips := 0, 0
	for i, ref := range refs {
		got, err := c.compareRow(ref)
		if err != nil {
			return ref.wrap(i, err)
		}
		if !isRounded {
			for k := range got {
				if d := diff(got[k], ref.Logits[k]); !(d <= logitTolerance) {
					return ref.wrap(i, fmt.Errorf("logits %v differ from %v by %.5f, more than %g", got, ref.Logits, d, logitTolerance))
				}
			}
			continue
		}
		want, err := softmax(ref.Logits, identity)
		if err != nil {
			return ref.wrap(i, err)
		}
		if p := slices.Max(want); p >= surelyMeans {
			sure++
			if best := slices.Index(want, p); got[best] < slices.Max(got) {
				flips++
			}
		}
	}
	if 10*flips > sure {
		return fmt.Errorf("the %s model changes the class of %d of %d pairs that its fp32 reference is sure of; the model is refused", c.info.Precision, flips, sure)
	}
	return nil
}

func (c *Classifier) compareRow(ref referencePair) ([]float32, error) {
	enc, err := c.Encode(nli.Pair{Premise: ref.Premise, Hypothesis: ref.Hypothesis})
	if err != nil {
		return nil, err
	}
	if !slices.Equal(enc.IDs, ref.IDs) {
		return nil, fmt.Errorf("it is encoded as %v, expected %v: tokenizer and reference differ", enc.IDs, ref.IDs)
	}
	rows, err := c.rows(context.Background(), []nli.Encoding{enc})
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}
