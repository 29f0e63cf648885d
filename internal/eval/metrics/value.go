package metrics

import (
	"encoding/json"
	"fmt"
)

// Undefined is a typed reason for a metric that has no number.
type Undefined string

// The reasons.
const (
	// Empty: there are no steps.
	Empty Undefined = "empty"
	// OneClass: the gold labels hold one class alone, so there is nothing to
	// tell apart.
	OneClass Undefined = "one_class"
	// NotInGold: no step truly has the label.
	NotInGold Undefined = "not_in_gold"
	// NeverPredicted: no step is said to have the label.
	NeverPredicted Undefined = "never_predicted"
	// Absent: the label stands neither in the gold labels nor in predictions.
	Absent Undefined = "absent"
	// UnknownMetric: there is no metric of this name.
	UnknownMetric Undefined = "unknown_metric"
)

// Value is a metric's number, or the reason why there is none. The zero value
// has none, as there was nothing to measure.
type Value struct {
	number  float64
	reason  Undefined
	defined bool
}

// Number makes a Value of x, which must be finite.
func Number(x float64) Value { return Value{number: x, defined: true} }

func undefined(reason Undefined) Value { return Value{reason: reason} }

func share(n, of int) Value { return Number(float64(n) / float64(of)) }

// Get returns the number; false where there is none.
func (v Value) Get() (float64, bool) { return v.number, v.defined }

// Reason says why there is no number; empty where there is one.
func (v Value) Reason() Undefined {
	if !v.defined && v.reason == "" {
		return Empty
	}
	return v.reason
}

type wireValue struct {
	Value  *float64  `json:"value"`
	Reason Undefined `json:"reason,omitempty"`
}

// MarshalJSON writes {"value": 0.5}, or {"value": null, "reason": "empty"}.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.defined {
		return json.Marshal(wireValue{Reason: v.Reason()})
	}
	return json.Marshal(wireValue{Value: &v.number})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	var w wireValue
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("reading a metric: %w", err)
	}
	if w.Value == nil {
		*v = undefined(w.Reason)
	} else {
		*v = Number(*w.Value)
	}
	return nil
}
