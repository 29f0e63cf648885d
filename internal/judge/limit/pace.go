package limit

// pacer spreads what a rate allows over time. The clock it keeps is the time up
// to which the rate is spoken for, in nanoseconds.
type pacer struct {
	// each is the time that one unit takes.
	each float64
	// burst is how much of a backlog may be sent at once.
	burst float64
}

// requestPacer sends one request after another: in no second more than rate.
func requestPacer(rate float64) pacer { return pacer{each: 1e9 / rate, burst: 1e9 / rate} }

// tokenPacer lets a tenth of a minute's tokens go at once and paces the rest by
// a little under nine tenths of the rate, so that no minute sees more than the
// rate, even where the pacing of requests sends them up to a horizon later.
func tokenPacer(perMinute int) pacer {
	each := 60e9 / (0.88 * float64(perMinute))
	return pacer{each: each, burst: 0.1 * float64(perMinute) * each}
}

// book speaks for amount units from now on: the clock after it, and when they
// may be sent.
func (p pacer) book(clock, now int64, amount int) (next, at int64) {
	next = max(clock, now) + int64(p.each*float64(amount))
	return next, max(now, next-int64(p.burst))
}

// refund gives back amount units that were booked and not used.
func (p pacer) refund(clock int64, amount int) int64 { return clock - int64(p.each*float64(amount)) }
