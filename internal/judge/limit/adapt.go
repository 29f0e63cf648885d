package limit

// Adaptive is the limit on calls at once, and what is known about it.
type Adaptive struct {
	// Limit is how many calls may be under way.
	Limit int `json:"limit"`
	// Good is the highest limit that has served a round without a 429; 0 if
	// none has since the last fall.
	Good int `json:"good,omitempty"`
	// Ceiling is the lowest limit that has met a 429; 0 if none is known.
	Ceiling int `json:"ceiling,omitempty"`
	// Served counts calls that succeeded since the last change.
	Served int `json:"served,omitempty"`
	// Need is how many must succeed before Ceiling is tried again.
	Need int `json:"need,omitempty"`
	// Epoch counts changes. A call reports the epoch it was sent in, so that
	// many 429s of one overload lower the limit once.
	Epoch uint64 `json:"epoch,omitempty"`
	// Strikes counts the 429s in a row that met a limit of one call.
	Strikes int `json:"strikes,omitempty"`
}

const (
	// round successes a slot show that a limit holds.
	round = 2
	// firstNeed successes a slot pass before a ceiling is tried again; it
	// doubles with each failure up to lastNeed. A try costs about one 429, so
	// their share stays below one in a hundred from the first try on.
	firstNeed, lastNeed = 50, 1600
	// minNeed is the least for small limits.
	minNeed = 150
)

// served counts n successes. The limit rises only while calls wait for it
// (pressed), and never above most.
func (a Adaptive) served(n int, pressed bool, most int) Adaptive {
	if n <= 0 {
		return a
	}
	a.Served += n
	a.Strikes = 0
	if a.Served >= round*a.Limit {
		a.Good = a.Limit
	}
	if a.Ceiling > 0 && a.Limit >= a.Ceiling && a.Served >= 4*round*a.Limit {
		a.Ceiling = 0 // the endpoint allows more than it did
	}
	if !pressed || a.Limit >= most {
		return a
	}
	need, next := round*a.Limit, 0
	switch {
	case a.Ceiling == 0 && a.Need == 0:
		next = 2 * a.Limit // nothing is known yet
	case a.Ceiling == 0 || a.Limit >= a.Ceiling:
		next = a.Limit + 1
	case a.Limit+1 < a.Ceiling:
		next = max(a.Limit+1, (a.Limit+a.Ceiling)/2)
	default:
		need, next = a.Need, a.Limit+1
	}
	if a.Served < need {
		return a
	}
	a.Limit, a.Served = min(next, most), 0
	a.Epoch++
	return a
}

// limited takes a 429 that a call sent in epoch has met.
func (a Adaptive) limited(epoch uint64) Adaptive {
	if epoch < a.Epoch {
		return a // of an overload that has been answered already
	}
	need := max(minNeed, firstNeed*a.Limit)
	if a.Ceiling == a.Limit {
		need = min(2*a.Need, lastNeed*a.Limit)
	}
	a.Need, a.Ceiling, a.Served = max(need, minNeed), a.Limit, 0
	if a.Limit == 1 {
		a.Strikes++
	}
	if a.Good > 0 && a.Good < a.Limit {
		a.Limit = a.Good
	} else {
		a.Limit, a.Good = max(1, a.Limit*3/4), 0
	}
	a.Epoch++
	return a
}
