package onnx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/stepgap/stepgap/internal/nli"
)

// referenceFile holds vectors of parity beside a model: pairs with the ids and
// fp32 logits (in the model's own order) that Python's tokenizers and ONNX
// Runtime gave for them.
const referenceFile = "reference.json"

type referencePair struct {
	Premise    string    `json:"premise"`
	Hypothesis string    `json:"hypothesis"`
	IDs        []int64   `json:"ids"`
	TypeIDs    []int64   `json:"type_ids"` // may be left out
	Logits     []float32 `json:"logits"`
	// Label is the meaning of the highest logit: entailment, neutral,
	// contradiction, or not_entailment of a two-label model. It is what a
	// permuted id2label is noticed by, and may be left out.
	Label string `json:"label"`
}

// Tolerances of parity. A quantised file rounds its weights, so its logits
// can't be held to a thousandth. What must not happen is the broken conversion
// that answers near chance: on the whole its probabilities stay near the
// reference, and where the reference is sure it nearly always gives the same
// class. Half precision keeps three digits, which leaves no room for another
// class where the reference is sure.
const logitTolerance = 1e-3

// rounded is what may come of a model with rounded weights.
type rounded struct {
	mean  float64 // at most so much is the largest difference of a probability, on average over pairs
	flips float64 // at most this share of the sure pairs changes class
}

// roundedBy says what is allowed a precision; fp32 isn't rounded.
func roundedBy(precision string) (rounded, bool) {
	switch precision {
	case precisionFP16:
		return rounded{mean: 0.01, flips: 0}, true
	case precisionInt8:
		return rounded{mean: 0.10, flips: 0.10}, true
	default:
		return rounded{}, false
	}
}

// surelyMeans: the reference is sure from this probability on.
const surelyMeans = 0.80

// readReference reads a folder's reference vectors, of which it may have none,
// and checks them against the folder's labels.
func readReference(path string, labels nli.LabelOrder) ([]referencePair, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var refs []referencePair
	if err := readJSON(path, &refs); err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("%s holds no pairs; the model is refused", path)
	}
	for i, ref := range refs {
		if err := ref.check(labels); err != nil {
			return nil, ref.wrap(i, err)
		}
	}
	return refs, nil
}

// check compares a pair's logits with what the folder says of its labels.
func (r referencePair) check(labels nli.LabelOrder) error {
	if n := labels.Classes(); len(r.Logits) != n {
		return fmt.Errorf("the reference has %d logits, expected %d", len(r.Logits), n)
	}
	want := labels.Logits(r.Logits)
	if _, err := nli.Probabilities(want); err != nil {
		return fmt.Errorf("the reference: %w", err)
	}
	if means := labels.Best(want); r.Label != "" && r.Label != means {
		return fmt.Errorf("its logits %v mean %s, and %s by the folder's labels (%s): the label map is wrong", r.Logits, r.Label, means, labels)
	}
	return nil
}

func (r referencePair) wrap(i int, err error) error {
	return fmt.Errorf("reference pair %d (%.60q, %.60q): %w; the model is refused", i, r.Premise, r.Hypothesis, err)
}

// checkParity compares the model with its reference vectors. An error names the
// worst pair with its numbers. How close a model must come is decided by what
// the file computes with, not by its name.
func (m *Model) checkParity(refs []referencePair) error {
	allowed, isRounded := roundedBy(m.info.Precision)
	var tally roundedTally
	for i, ref := range refs {
		got, want, err := m.compare(ref)
		if err == nil {
			if isRounded {
				err = tally.add(got, want)
			} else {
				err = sameLogits(got, want)
			}
		}
		if err != nil {
			return ref.wrap(i, err)
		}
	}
	if !isRounded || len(refs) == 0 {
		return nil
	}
	return tally.check(allowed, m.info.Precision)
}

// compare encodes and scores a reference pair, and checks its encoding.
func (m *Model) compare(ref referencePair) (got, want nli.Logits, err error) {
	enc, err := m.Encode(nli.Pair{Premise: ref.Premise, Hypothesis: ref.Hypothesis})
	if err != nil {
		return got, want, err
	}
	if !slices.Equal(enc.IDs, ref.IDs) {
		return got, want, fmt.Errorf("it is encoded as %v, expected %v: tokenizer and reference differ", enc.IDs, ref.IDs)
	}
	if ref.TypeIDs != nil && !slices.Equal(enc.TypeIDs, ref.TypeIDs) {
		return got, want, fmt.Errorf("it has type ids %v, expected %v: tokenizer and reference differ", enc.TypeIDs, ref.TypeIDs)
	}
	rows, err := m.Run(context.Background(), []nli.Encoding{enc})
	if err != nil {
		return got, want, err
	}
	return rows[0], m.labels.Logits(ref.Logits), nil
}

func sameLogits(got, want nli.Logits) error {
	if _, err := nli.Probabilities(got); err != nil {
		return err
	}
	d := max(diff(got.Entailment, want.Entailment), diff(got.Neutral, want.Neutral), diff(got.Contradiction, want.Contradiction))
	if d > logitTolerance {
		return fmt.Errorf("logits %+v differ from %+v by %.5f, more than %g", got, want, d, logitTolerance)
	}
	return nil
}

// roundedTally sums up how far a model with rounded weights is from its
// reference.
type roundedTally struct {
	pairs, sure, flips int
	distance           float64
}

func (t *roundedTally) add(got, want nli.Logits) error {
	g, err := nli.Probabilities(got)
	if err != nil {
		return err
	}
	w, err := nli.Probabilities(want)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	t.pairs++
	t.distance += max(math.Abs(g.Entailment-w.Entailment), math.Abs(g.Neutral-w.Neutral), math.Abs(g.Contradiction-w.Contradiction))
	for _, p := range [][4]float64{
		{w.Entailment, g.Entailment, g.Neutral, g.Contradiction},
		{w.Neutral, g.Neutral, g.Entailment, g.Contradiction},
		{w.Contradiction, g.Contradiction, g.Entailment, g.Neutral},
	} {
		if p[0] < surelyMeans {
			continue
		}
		t.sure++
		if p[1] < max(p[2], p[3]) {
			t.flips++
		}
	}
	return nil
}

func (t *roundedTally) check(allowed rounded, precision string) error {
	mean := t.distance / float64(t.pairs)
	if mean > allowed.mean || float64(t.flips) > allowed.flips*float64(t.sure) {
		return fmt.Errorf("the %s model differs from its fp32 reference by %.3f in probability on average over %d pairs (at most %.2f) and changes the class of %d of %d sure ones (at most %.0f %%); the model is refused",
			precision, mean, t.pairs, allowed.mean, t.flips, t.sure, 100*allowed.flips)
	}
	return nil
}

func diff(a, b float32) float64 { return math.Abs(float64(a) - float64(b)) }
