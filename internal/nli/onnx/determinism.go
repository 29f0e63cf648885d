package onnx

import "fmt"

// Deterministic says what is done where a pair's scores depend on the batch.
type Deterministic string

// The ways.
const (
	// DeterministicAuto runs pairs one at a time, each in its own shape, if the
	// model is quantised, or a batch was seen to move a logit by more than a
	// thousandth.
	DeterministicAuto Deterministic = "auto"
	// DeterministicOn does so where a batch would change a single bit, and
	// refuses a model whose pairs change even alone.
	DeterministicOn Deterministic = "on"
	// DeterministicOff batches every model.
	DeterministicOff Deterministic = "off"
)

// ParseDeterministic reads auto, on or off. The empty string is auto.
func ParseDeterministic(s string) (Deterministic, error) {
	switch d := Deterministic(s); d {
	case "":
		return DeterministicAuto, nil
	case DeterministicAuto, DeterministicOn, DeterministicOff:
		return d, nil
	default:
		return "", fmt.Errorf("deterministic %q is none of auto, on, off", s)
	}
}

// alone tells whether pairs must run one at a time, given the model's precision
// and how its logits were seen to drift.
func (d Deterministic) alone(precision string, seen drift) (bool, error) {
	// It may drift by more than the few pairs that were tried show.
	quantised := precision == precisionInt8
	switch d {
	case DeterministicOff:
		return false, nil
	case DeterministicOn:
		if seen.byRun != 0 {
			return false, fmt.Errorf("deterministic scores were demanded, but the same pair run twice differs by %g in a logit on this device", seen.byRun)
		}
		return quantised || seen.byBatch != 0, nil
	default:
		return quantised || seen.byBatch > logitTolerance, nil
	}
}
