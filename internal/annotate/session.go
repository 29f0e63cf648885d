package annotate

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Session is one annotator at work. Its methods may be called at once.
type Session struct {
	mu      sync.Mutex
	journal *Journal
	tasks   []Task
	at      map[string]int
	now     func() time.Time
}

// NewSession lets the journal's annotator label tasks, in an order of their own.
func NewSession(m *Material, journal *Journal, now func() time.Time) *Session {
	s := &Session{journal: journal, tasks: Shuffled(m.Tasks(), journal.Annotator, journal.Seed), at: map[string]int{}, now: now}
	for i, t := range s.tasks {
		s.at[t.Step] = i
	}
	return s
}

// View is a task as the page shows it.
type View struct {
	// At is the task's place, from 0; Total is how many there are, Done how many
	// are decided. Where all are, and none was asked for, At is Total and Task
	// is null.
	At        int    `json:"at"`
	Total     int    `json:"total"`
	Done      int    `json:"done"`
	Annotator string `json:"annotator"`
	Task      *Task  `json:"task"`
	// Choice and Quote are what this annotator decided before.
	Choice Choice `json:"choice,omitempty"`
	Quote  string `json:"quote,omitempty"`
}

// Decision is what the page sends.
type Decision struct {
	Step   string `json:"step"`
	Digest string `json:"digest"`
	Choice Choice `json:"choice"`
	Quote  string `json:"quote,omitempty"`
}

// Refused is the error of a decision that can't be taken.
type Refused struct{ What string }

func (e *Refused) Error() string { return e.What }

// errNoTask says that there is no task at a place.
var errNoTask = errors.New("there is no step at this place")

// View returns the task at a place; a negative one stands for the first that is
// not decided.
func (s *Session) View(at int) (View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view(at)
}

func (s *Session) view(at int) (View, error) {
	v := View{Total: len(s.tasks), Annotator: s.journal.Annotator}
	first := len(s.tasks)
	for i := range s.tasks {
		if _, ok := s.decided(i); ok {
			v.Done++
		} else if i < first {
			first = i
		}
	}
	if v.At = at; at < 0 {
		v.At = first
	}
	if v.At > v.Total || (v.At == v.Total && at >= 0) {
		return View{}, errNoTask
	}
	if v.At < v.Total {
		v.Task = &s.tasks[v.At]
		e, _ := s.decided(v.At)
		v.Choice, v.Quote = e.Choice, e.Quote
	}
	return v, nil
}

// decided is the decision on the content as it is now.
func (s *Session) decided(i int) (Entry, bool) {
	e, ok := s.journal.Decisions()[s.tasks[i].Step]
	if !ok || e.Digest != s.tasks[i].Digest {
		return Entry{}, false
	}
	return e, true
}

// Decide notes a decision and returns the first task that is still open.
func (s *Session) Decide(d Decision) (View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[d.Step]
	switch {
	case !ok:
		return View{}, &Refused{fmt.Sprintf("step %.80q is none of those to be labelled", d.Step)}
	case d.Digest != s.tasks[i].Digest:
		return View{}, &Refused{fmt.Sprintf("step %.80q has other content now; load the page again", d.Step)}
	case !d.Choice.Valid():
		return View{}, &Refused{fmt.Sprintf("%.40q is no choice", string(d.Choice))}
	case d.Quote != "" && !quotes(&s.tasks[i], d.Quote):
		return View{}, &Refused{"the quote does not stand in a passage of this step as it was marked; mark it within one passage"}
	}
	e := Entry{At: s.now().UTC(), Step: d.Step, Digest: d.Digest, Choice: d.Choice, Quote: d.Quote}
	if err := s.journal.Add(e); err != nil {
		return View{}, err
	}
	return s.view(-1)
}

func quotes(t *Task, quote string) bool {
	for _, p := range t.Passages {
		if strings.Contains(p.Text, quote) {
			return true
		}
	}
	return false
}
