package nli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ThresholdsFile is the name of the file beside a model that holds its
// calibrated thresholds, by the model's hash: a folder may hold several model
// files, and a threshold means nothing for another model than its own.
const ThresholdsFile = "thresholds.json"

// ErrOtherModel says that the thresholds in a folder are those of other models.
var ErrOtherModel = errors.New("thresholds belong to another model")

// Thresholds are the least probabilities at which a class counts, in (0, 1].
type Thresholds struct {
	Contradiction float64 `json:"contradiction"`
	Entailment    float64 `json:"entailment"`
	// MeasuredOn says what they were calibrated on, for people.
	MeasuredOn string `json:"measured_on,omitempty"`
}

// ReadThresholds reads the thresholds of the model with this hash
// (Info.Hash) from its folder. found is false where the folder has no such
// file. A file without this model is an error (ErrOtherModel, wrapped), since
// the model was exchanged after it was calibrated.
func ReadThresholds(dir, hash string) (t Thresholds, found bool, err error) {
	path := filepath.Join(dir, ThresholdsFile)
	all, err := readAllThresholds(path)
	if err != nil || all == nil {
		return Thresholds{}, false, err
	}
	t, ok := all[hash]
	if !ok {
		return Thresholds{}, false, fmt.Errorf("%s has thresholds of %d models, and none of the model with the hash %s: calibrate this one, set both thresholds by hand, or remove the file: %w", path, len(all), hash, ErrOtherModel)
	}
	return t, true, nil
}

// WriteThresholds stores the thresholds of the model with this hash in its
// folder, beside those of other models.
func WriteThresholds(dir, hash string, t Thresholds) error {
	if err := t.validate(); err != nil {
		return err
	}
	path := filepath.Join(dir, ThresholdsFile)
	all, err := readAllThresholds(path)
	if err != nil {
		return err
	}
	if all == nil {
		all = make(map[string]Thresholds)
	}
	all[hash] = t
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	// A worker that starts meanwhile reads the old file or the new one.
	part := path + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing thresholds: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("writing thresholds: %w", err)
	}
	return nil
}

// readAllThresholds returns nil where there is no file.
func readAllThresholds(path string) (map[string]Thresholds, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading thresholds: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	all := map[string]Thresholds{}
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	for hash, t := range all {
		if err := t.validate(); err != nil {
			return nil, fmt.Errorf("reading %s, model %s: %w", path, hash, err)
		}
	}
	return all, nil
}

func (t Thresholds) validate() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"contradiction", t.Contradiction}, {"entailment", t.Entailment}} {
		if !(p.value > 0 && p.value <= 1) {
			return fmt.Errorf("threshold of %s is %v; it must be above 0 and at most 1", p.name, p.value)
		}
	}
	return nil
}
