package interval

import (
	"math"
	"slices"

	"github.com/stepgap/stepgap/internal/eval/metrics"
)

// maxUndefined is the greatest share of draws without a value that an interval
// may leave out.
const maxUndefined = 0.05

// estimate makes an interval of a value, its draws and its values with a
// question left out. NaN stands for undefined in both lists, and nowhere else.
// draws is sorted in place.
func estimate(value metrics.Value, draws, left []float64, level float64) Estimate {
	v, ok := value.Get()
	if !ok {
		return Estimate{Reason: value.Reason()}
	}
	e := Estimate{Value: &v}
	if len(left) < 2 {
		e.Reason = OneQuestion
		return e
	}
	all := len(draws)
	draws = slices.DeleteFunc(draws, math.IsNaN)
	e.Undefined = all - len(draws)
	if float64(e.Undefined) > maxUndefined*float64(all) || len(draws) == 0 {
		e.Reason = UndefinedDraws
		return e
	}
	slices.Sort(draws)
	tail := (1 - level) / 2
	low, high, why := corrected(v, draws, left, tail)
	if e.Method = BCa; why != "" {
		e.Method, e.Fallback, low, high = Percentile, why, tail, 1-tail
	}
	l, h := quantile(draws, low), quantile(draws, high)
	e.Low, e.High = &l, &h
	return e
}

// corrected gives the shares of the sorted draws that BCa takes for the ends of
// an interval, or why it has none.
func corrected(value float64, draws, left []float64, tail float64) (low, high float64, why Fallback) {
	if draws[0] == draws[len(draws)-1] {
		return 0, 0, Constant
	}
	bias := normalQuantile(below(draws, value))
	if math.IsInf(bias, 0) {
		return 0, 0, OneSided
	}
	a, ok := acceleration(left)
	if !ok {
		return 0, 0, Jackknife
	}
	end := func(tail float64) (float64, bool) {
		z := bias + normalQuantile(tail)
		if 1-a*z <= 0 {
			return 0, false
		}
		return normal(bias + z/(1-a*z)), true
	}
	low, lowOK := end(tail)
	high, highOK := end(1 - tail)
	if !lowOK || !highOK {
		return 0, 0, Extreme
	}
	return low, high, ""
}

// below is the share of draws below v, draws equal to it counting half.
func below(sorted []float64, v float64) float64 {
	less, _ := slices.BinarySearch(sorted, v)
	most := less
	for most < len(sorted) && sorted[most] == v {
		most++
	}
	return float64(less+most) / float64(2*len(sorted))
}

// acceleration is the skewness of the jackknife over six; false where it has
// none.
func acceleration(left []float64) (float64, bool) {
	mean := 0.0
	for _, v := range left {
		mean += v
	}
	mean /= float64(len(left))
	squares, cubes := 0.0, 0.0
	for _, v := range left {
		d := mean - v
		squares += d * d
		cubes += d * d * d
	}
	a := cubes / math.Pow(squares, 1.5) / 6
	return a, !math.IsNaN(a) && !math.IsInf(a, 0)
}

// quantile is the value at a share of sorted draws, linear between neighbours.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (sorted[next]-sorted[i])*(at-float64(i))
}

// normal is the standard normal distribution function.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// normalQuantile is its inverse, infinite at 0 and 1.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
