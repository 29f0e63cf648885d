package interval

import "github.com/stepgap/stepgap/internal/eval/metrics"

// Method is how an interval was made.
type Method string

// The methods.
const (
	BCa        Method = "bca"
	Percentile Method = "percentile"
)

// Fallback is why an interval is not BCa.
type Fallback string

// The reasons.
const (
	// Constant: every draw has the same value, so the interval has no width.
	// That does not mean that the value is certain.
	Constant Fallback = "constant"
	// OneSided: all draws lie on one side of the value.
	OneSided Fallback = "one_sided"
	// Jackknife: with some question left out the metric is undefined, or it is
	// the same whichever is left out.
	Jackknife Fallback = "jackknife"
	// Extreme: the acceleration is too great for BCa's formula.
	Extreme Fallback = "extreme"
)

// Reasons for an Estimate without a value or an interval, beyond those of the
// metric.
const (
	// OneQuestion: there is nothing to draw from.
	OneQuestion metrics.Undefined = "one_question"
	// UndefinedDraws: the metric is undefined on more than maxUndefined of the
	// draws, as some class is too rare.
	UndefinedDraws metrics.Undefined = "undefined_draws"
)

// Estimate is a value with its interval. What there is no number for is null,
// and Reason says why.
type Estimate struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// Method is empty where there is no interval.
	Method Method `json:"method,omitempty"`
	// Fallback says why the method is not BCa.
	Fallback Fallback `json:"fallback,omitempty"`
	// Reason says why there is no value, or no interval.
	Reason metrics.Undefined `json:"reason,omitempty"`
	// Undefined is how many draws had no value; they are left out.
	Undefined int `json:"undefined_draws,omitempty"`
}

// Above reports whether the whole interval lies above x; false where there is
// none.
func (e Estimate) Above(x float64) bool { return e.Low != nil && *e.Low > x }

// Below reports whether the whole interval lies below x; false where there is
// none.
func (e Estimate) Below(x float64) bool { return e.High != nil && *e.High < x }
