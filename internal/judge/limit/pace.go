package limit

import "math"

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

// usualCall is more tokens than a call of ours takes, as a rule: so many may go
// at once even under a small limit, at the price of what is left for later.
const usualCall = 4000

// tokenPacer lets some of a minute's tokens go at once and paces the rest, so
// that no minute sees more than perMinute, even where the pacing of requests
// sends them up to a horizon later.
func tokenPacer(perMinute int) pacer {
	all := float64(perMinute)
	burst := max(0.1*all, min(usualCall, 0.5*all))
	each := 60e9 / (0.98 * (all - burst))
	return pacer{each: each, burst: burst * each}
}

func (p pacer) time(amount int) int64 { return int64(math.Ceil(p.each * float64(amount))) }

// at is when amount units may be sent at the earliest. What is more than a burst
// waits until all before it is paid for and its own time has passed as well, or
// it would come on top of a burst.
func (p pacer) at(clock, now int64, amount int) int64 {
	own := p.time(amount)
	if float64(own) > math.Ceil(p.burst) {
		return max(now, clock+own)
	}
	return max(now, max(clock, now)+own-int64(p.burst))
}

// sent is the clock after amount units that are sent at that time.
func (p pacer) sent(clock, at int64, amount int) int64 { return max(clock, at) + p.time(amount) }

// refund gives back amount units that were booked and not used.
func (p pacer) refund(clock int64, amount int) int64 { return clock - int64(p.each*float64(amount)) }
