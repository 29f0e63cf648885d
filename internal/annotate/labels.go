package annotate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Set is the material as a set without labels, for a pipeline to label.
func (m *Material) Set() stepset.Set {
	return stepset.Set{Name: "annotated", Mapping: mapping, Rollouts: m.Rollouts}
}

// ReadLabels reads what stepgap check --json printed.
func ReadLabels(r io.Reader) (Labels, error) {
	out := Labels{}
	dec := json.NewDecoder(r)
	for n := 1; ; n++ {
		var result struct {
			Source string `json:"source"`
			Steps  []struct {
				Index int        `json:"index"`
				Label schema.Gap `json:"label"`
			} `json:"steps"`
		}
		if err := dec.Decode(&result); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("rollout %d of the labels: %w", n, err)
		}
		if result.Source == "" {
			return nil, fmt.Errorf("rollout %d of the labels names no source; give what stepgap check --json prints", n)
		}
		for _, s := range result.Steps {
			if !s.Label.Valid() {
				return nil, fmt.Errorf("rollout %d of the labels: %.40q is no label", n, string(s.Label))
			}
			out[StepID(result.Source, s.Index)] = s.Label
		}
	}
}

// StepID is the id of a step: that of stepset.Rollout.StepID.
func StepID(rollout string, index int) string {
	r := stepset.Rollout{ID: rollout}
	return r.StepID(index)
}
