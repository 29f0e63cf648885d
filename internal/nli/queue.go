package nli

// queue holds the pairs that wait for a lane: by length, and in order of
// arrival. So the pairs nearest in length to the oldest are found without
// sorting, and any pair is taken out in constant time, however many wait.
//
// It is not safe for concurrent use. The zero value is an empty queue.
type queue struct {
	byLen  []line // one line a length, in order of arrival
	oldest *entry
	newest *entry
	n      int
}

// line is the pairs of one length, linked through entry.sameNext.
type line struct{ first, last *entry }

// push adds e as the newest. e must be in no queue.
func (q *queue) push(e *entry) {
	if n := e.enc.Len(); n >= len(q.byLen) {
		q.byLen = append(q.byLen, make([]line, n+1-len(q.byLen))...)
	}
	l := &q.byLen[e.enc.Len()]
	e.samePrev, e.sameNext = l.last, nil
	if l.last == nil {
		l.first = e
	} else {
		l.last.sameNext = e
	}
	l.last = e
	e.prev, e.next = q.newest, nil
	if q.newest == nil {
		q.oldest = e
	} else {
		q.newest.next = e
	}
	q.newest = e
	e.queued = true
	q.n++
}

// remove takes e out; an entry that is not in the queue is left alone.
func (q *queue) remove(e *entry) {
	if !e.queued {
		return
	}
	l := &q.byLen[e.enc.Len()]
	if e.samePrev == nil {
		l.first = e.sameNext
	} else {
		e.samePrev.sameNext = e.sameNext
	}
	if e.sameNext == nil {
		l.last = e.samePrev
	} else {
		e.sameNext.samePrev = e.samePrev
	}
	if e.prev == nil {
		q.oldest = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		q.newest = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next, e.samePrev, e.sameNext = nil, nil, nil, nil
	e.queued = false
	q.n--
}

// len is how many pairs wait.
func (q *queue) len() int { return q.n }

// at returns the oldest pair of a length, or nil.
func (q *queue) at(length int) *entry {
	if length < 0 || length >= len(q.byLen) {
		return nil
	}
	return q.byLen[length].first
}
