package audit

import "math"

// share is hit of of; false where there was nothing to count.
func (c count) share() (float64, bool) {
	if c.of == 0 {
		return 0, false
	}
	return float64(c.hit) / float64(c.of), true
}

// interval is Wilson's interval of a share at z standard deviations.
func (c count) interval(z float64) (low, high float64) {
	if c.of == 0 {
		return 0, 1
	}
	n, p := float64(c.of), float64(c.hit)/float64(c.of)
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}

// twoShares is the two-proportion z-test: how likely two shares so far apart are
// (or farther) if nothing changed, both sides counted. 1 where one can't be told.
func twoShares(a, b count) float64 {
	if a.of == 0 || b.of == 0 {
		return 1
	}
	na, nb := float64(a.of), float64(b.of)
	pooled := float64(a.hit+b.hit) / (na + nb)
	spread := math.Sqrt(pooled * (1 - pooled) * (1/na + 1/nb))
	if spread == 0 {
		return 1
	}
	return bothSides((float64(b.hit)/nb - float64(a.hit)/na) / spread)
}

// mean sums up numbers.
type mean struct {
	n          int
	sum, above float64 // above is the sum of squared distances from the mean
}

// add is Welford's: it stays exact where numbers are large and alike.
func (m *mean) add(v float64) {
	before := 0.0
	if m.n > 0 {
		before = m.sum / float64(m.n)
	}
	m.n++
	m.sum += v
	m.above += (v - before) * (v - m.sum/float64(m.n))
}

func (m mean) value() (float64, bool) {
	if m.n == 0 {
		return 0, false
	}
	return m.sum / float64(m.n), true
}

// twoMeans is Welch's test with the normal distribution, as groups are large.
func twoMeans(a, b mean) float64 {
	if a.n < 2 || b.n < 2 {
		return 1
	}
	na, nb := float64(a.n), float64(b.n)
	spread := math.Sqrt(a.above/(na-1)/na + b.above/(nb-1)/nb)
	if spread == 0 {
		return 1
	}
	return bothSides((b.sum/nb - a.sum/na) / spread)
}

func bothSides(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }
