package limit

import (
	"maps"
	"slices"
	"time"
)

// Limits are what a deployment allows itself at one endpoint; 0 means no bound.
type Limits struct {
	// Concurrent bounds calls at once. Without it the limit is found out: it
	// starts low, and rises until the endpoint says 429.
	Concurrent int
	// PerSecond bounds requests a second.
	PerSecond float64
	// TokensPerMinute bounds tokens, input and output together.
	TokensPerMinute int
	// Lease is how long a process that was killed keeps its slots; default
	// 10 s. It renews every third of it.
	Lease time.Duration
}

const (
	// startConcurrent is tried first where no limit is given.
	startConcurrent = 8
	// mostConcurrent is as far as a limit rises by itself.
	mostConcurrent = 4096
	// turnLength is how long a process may keep a slot that another lacks.
	turnLength = time.Second
	// horizon is how far ahead sends are booked; a killed process loses no
	// more than that.
	horizon = time.Second
	// firstHold doubles with each 429 that meets a single call, to lastHold.
	firstHold, lastHold = 250 * time.Millisecond, 30 * time.Second
)

func (l Limits) most() int {
	if l.Concurrent > 0 {
		return l.Concurrent
	}
	return mostConcurrent
}

// State is the document that processes share. Times are the server's, in Unix
// nanoseconds.
type State struct {
	Adaptive Adaptive          `json:"adaptive"`
	Members  map[string]Member `json:"members,omitempty"`
	// Requests and Tokens are the times up to which the rates are spoken for.
	Requests int64 `json:"requests,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
	// Hold is the time before which nothing is sent.
	Hold int64 `json:"hold,omitempty"`
}

// Member is one process.
type Member struct {
	Slots int   `json:"slots"`
	Want  int   `json:"want"`
	Until int64 `json:"until"`
}

// Turn is what a process reports, and asks for, when it writes the document.
type Turn struct {
	ID string
	// Busy calls are under way or about to be; Want would be if they might.
	Busy, Want int
	// Served calls succeeded since the last turn.
	Served int
	// Limited says that a call sent in LimitedEpoch met a 429, which asked to
	// be left alone for RetryAfter.
	Limited      bool
	LimitedEpoch uint64
	RetryAfter   time.Duration
	// Costs are the tokens of calls that wait for a time to be sent at.
	Costs []int
	// Refund are tokens that were booked and not used.
	Refund int
	// Leave gives the lease up.
	Leave bool
}

// Grant is what the process may do until its next turn.
type Grant struct {
	// Slots is how many calls may be under way. More are, where the limit fell:
	// they end, and none takes their place.
	Slots int
	// Held is what the document says: those that have not ended included.
	Held  int
	Limit int
	Epoch uint64
	// Sends are the times at which the first of Costs may be sent; the rest
	// ask again at Later, if it is set.
	Sends []int64
	Later int64
	Hold  int64
}

// Next applies a turn at time now. The slots of all members together never
// grow past the limit; they are above it only while calls that were under way
// when it fell have not ended.
func (s State) Next(l Limits, now int64, t Turn) (State, Grant) {
	members := make(map[string]Member, len(s.Members)+1)
	for id, m := range s.Members {
		if id == t.ID || m.Until > now {
			members[id] = m
		}
	}
	s.Members = members
	s.adapt(l, now, t)
	if t.Leave {
		delete(s.Members, t.ID)
		return s, Grant{}
	}
	mine := s.Members[t.ID]
	held := min(mine.Slots, t.Busy) // what is in use can't be returned
	mine.Want = min(t.Want, s.Adaptive.Limit+1)
	mine.Until = now + int64(l.Lease)
	s.Members[t.ID] = mine
	room := s.Adaptive.Limit
	for id, m := range s.Members {
		if id != t.ID {
			room -= m.Slots
		}
	}
	slots := max(0, min(s.target(t.ID, now), room))
	mine.Slots = max(held, slots)
	s.Members[t.ID] = mine

	g := Grant{Slots: slots, Held: mine.Slots, Limit: s.Adaptive.Limit, Epoch: s.Adaptive.Epoch, Hold: s.Hold}
	s.book(l, now, t.Costs, &g)
	return s, g
}

// adapt moves the limit by what the process has seen.
func (s *State) adapt(l Limits, now int64, t Turn) {
	a := s.Adaptive
	if a.Limit == 0 {
		a.Limit = min(startConcurrent, l.most())
		if l.Concurrent > 0 {
			a.Limit = l.Concurrent
		}
	}
	if a.Limit > l.most() {
		a.Limit = l.most()
		a.Epoch++
	}
	before := a.Epoch
	if t.Limited {
		a = a.limited(t.LimitedEpoch)
	}
	if t.Limited && a.Epoch != before && a.Strikes > 0 {
		// One call at a time is still too many: leave the endpoint alone.
		hold := min(firstHold<<min(a.Strikes-1, 10), lastHold)
		s.Hold = max(s.Hold, now+int64(max(hold, min(t.RetryAfter, lastHold))))
	}
	wanted := t.Want
	for id, m := range s.Members {
		if id != t.ID {
			wanted += m.Want
		}
	}
	if !t.Limited {
		a = a.served(t.Served, wanted > a.Limit, l.most())
	}
	s.Adaptive = a
	if l.TokensPerMinute > 0 && t.Refund != 0 {
		s.Tokens = tokenPacer(l.TokensPerMinute).refund(s.Tokens, t.Refund)
	}
}

// target is id's share of the limit.
func (s State) target(id string, now int64) int {
	ids := slices.Sorted(maps.Keys(s.Members))
	wants := make([]int, len(ids))
	for i, m := range ids {
		wants[i] = s.Members[m].Want
	}
	i := slices.Index(ids, id)
	return share(s.Adaptive.Limit, wants, now/int64(turnLength))[i]
}

// book gives the waiting calls their times, in order, as long as what is spoken
// for already is within the horizon.
func (s *State) book(l Limits, now int64, costs []int, g *Grant) {
	var requests, tokens pacer // by default without a rate: all may go at once
	if l.PerSecond > 0 {
		requests = requestPacer(l.PerSecond)
	}
	if l.TokensPerMinute > 0 {
		tokens = tokenPacer(l.TokensPerMinute)
	}
	for _, cost := range costs {
		if ahead := max(s.Requests, s.Tokens-int64(tokens.burst)); ahead > now+int64(horizon) {
			g.Later = ahead - int64(horizon)
			return
		}
		at := max(requests.at(s.Requests, now, 1), tokens.at(s.Tokens, now, cost))
		s.Requests, s.Tokens = requests.sent(s.Requests, at, 1), tokens.sent(s.Tokens, at, cost)
		g.Sends = append(g.Sends, at)
	}
}
