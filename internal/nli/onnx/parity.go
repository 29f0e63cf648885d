package onnx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

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
}

// Tolerances of parity. A quantised file rounds its weights, so its logits
// can't be held to a thousandth. What must not happen is the broken conversion
// that answers near chance: on the whole its probabilities stay near the
// reference, and where the reference is sure it nearly always gives the same
// class.
const (
	logitTolerance = 1e-3
	quantisedMean  = 0.10 // mean over pairs of the largest difference of a probability
	quantisedFlips = 0.10 // share of the sure pairs that may change class
	surelyMeans    = 0.80 // the reference is sure from this probability on
)

// checkParity compares the model with its reference vectors; without any it
// passes. An error names the worst pair with its numbers.
func (m *Model) checkParity(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var refs []referencePair
	if err := readJSON(path, &refs); err != nil {
		return err
	}
	quantised := isQuantised(m.info.File)
	var tally quantisedTally
	for i, ref := range refs {
		enc, err := m.Encode(nli.Pair{Premise: ref.Premise, Hypothesis: ref.Hypothesis})
		if err != nil {
			return fmt.Errorf("reference pair %d: %w", i, err)
		}
		if !slices.Equal(enc.IDs, ref.IDs) {
			return fmt.Errorf("reference pair %d is encoded as %v, expected %v: tokenizer and reference differ, the model is refused", i, enc.IDs, ref.IDs)
		}
		if ref.TypeIDs != nil && !slices.Equal(enc.TypeIDs, ref.TypeIDs) {
			return fmt.Errorf("reference pair %d has type ids %v, expected %v: tokenizer and reference differ, the model is refused", i, enc.TypeIDs, ref.TypeIDs)
		}
		if len(ref.Logits) != classes {
			return fmt.Errorf("reference pair %d has %d logits, expected %d", i, len(ref.Logits), classes)
		}
		got, err := m.Run(context.Background(), []nli.Encoding{enc})
		if err != nil {
			return fmt.Errorf("reference pair %d: %w", i, err)
		}
		want := m.labels.Logits(ref.Logits)
		if quantised {
			err = tally.add(got[0], want)
		} else {
			err = sameLogits(got[0], want)
		}
		if err != nil {
			return fmt.Errorf("reference pair %d: %w; the model is refused", i, err)
		}
	}
	return tally.check()
}

func isQuantised(file string) bool {
	for _, mark := range []string{"int8", "quant", "q4", "bnb", "fp16"} {
		if strings.Contains(strings.ToLower(file), mark) {
			return true
		}
	}
	return false
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

// quantisedTally sums up how far a quantised model is from its reference.
type quantisedTally struct {
	pairs, sure, flips int
	distance           float64
}

func (t *quantisedTally) add(got, want nli.Logits) error {
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

func (t *quantisedTally) check() error {
	if t.pairs == 0 {
		return nil
	}
	mean := t.distance / float64(t.pairs)
	if mean > quantisedMean || float64(t.flips) > quantisedFlips*float64(t.sure) {
		return fmt.Errorf("the quantised model differs from its reference by %.3f in probability on average over %d pairs (at most %.2f) and changes the class of %d of %d sure ones (at most %.0f %%); the model is refused",
			mean, t.pairs, quantisedMean, t.flips, t.sure, 100*quantisedFlips)
	}
	return nil
}

func diff(a, b float32) float64 { return math.Abs(float64(a) - float64(b)) }
