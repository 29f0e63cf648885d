package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Accepted says that a rollout is on its way.
type Accepted struct {
	Run      string    `json:"run"`
	Rollout  string    `json:"rollout"`
	State    string    `json:"state" doc:"accepted"`
	Warnings []Warning `json:"warnings,omitempty" doc:"what was odd about posted steps"`
}

// Batch is many rollouts.
type Batch struct {
	Rollouts []Rollout `json:"rollouts"`
}

// BatchResult says of each rollout of a batch, in its order, what became of it.
type BatchResult struct {
	Accepted int           `json:"accepted"`
	Refused  int           `json:"refused"`
	Results  []BatchMember `json:"results"`
}

// BatchMember is one rollout of a batch; either its ids or its problem is set.
type BatchMember struct {
	*Accepted
	Problem *Problem `json:"problem,omitempty"`
}

const stateAccepted = "accepted"

func (s *Server) postRollout(c *call) error {
	if _, err := query(c.r); err != nil {
		return err
	}
	accepted, err := s.take(c)
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", "/v1/rewards/"+accepted.Run+"/"+accepted.Rollout)
	writeJSON(c.w, http.StatusAccepted, "application/json", accepted)
	return nil
}

// take reads and publishes the one rollout of a request.
func (s *Server) take(c *call) (*Accepted, error) {
	b, err := s.body(c)
	if err != nil {
		return nil, err
	}
	r, err := readRollout(b)
	if err != nil {
		return nil, err
	}
	return s.publish(c, r)
}

func readRollout(b []byte) (*Rollout, error) {
	if err := checkNodes(b, schema.MaxNodes); err != nil {
		return nil, err
	}
	r := &Rollout{}
	return r, decode(b, r, true)
}

// publish sends a rollout on its way: a transcript in one message, steps as they
// were cut.
func (s *Server) publish(c *call, r *Rollout) (*Accepted, error) {
	if r.Run == "" {
		return nil, invalid("run", "name the training run, with a fresh id for each start", "field run is missing")
	}
	if r.Rollout == "" {
		r.Rollout = randomID(16)
	}
	if err := (schema.RolloutID{Run: r.Run, Rollout: r.Rollout}).Check(); err != nil {
		return nil, err
	}
	if p := c.allowed(r.Run); p != nil {
		return nil, p
	}
	accepted := &Accepted{Run: r.Run, Rollout: r.Rollout, State: stateAccepted}
	ctx, cancel := context.WithTimeout(c.r.Context(), publishTimeout)
	defer cancel()
	if len(r.Steps) == 0 {
		t, err := r.check()
		if err != nil {
			return nil, err
		}
		return accepted, s.o.Pipeline.PublishTranscript(ctx, t)
	}
	whole, err := r.cut()
	if err != nil {
		return nil, err
	}
	accepted.Warnings = whole.warnings
	var opts []client.StepOption
	if r.StepDeadlineMS > 0 {
		opts = append(opts, client.Deadline(time.Duration(r.StepDeadlineMS)*time.Millisecond))
	}
	for i := range whole.steps {
		ref, err := s.o.Pipeline.PublishStep(ctx, &whole.steps[i], opts...)
		if err != nil {
			return nil, err
		}
		whole.end.Steps = append(whole.end.Steps, ref)
	}
	return accepted, s.o.Pipeline.PublishEnd(ctx, whole.end)
}

// together is how many rollouts of a batch are published at once.
const together = 16

func (s *Server) postBatch(c *call) error {
	if _, err := query(c.r); err != nil {
		return err
	}
	b, err := s.body(c)
	if err != nil {
		return err
	}
	var batch struct {
		Rollouts []json.RawMessage `json:"rollouts"`
	}
	if err := decode(b, &batch, true); err != nil {
		return err
	}
	n := len(batch.Rollouts)
	switch {
	case n == 0:
		return invalid("rollouts", "post at least one", "there are no rollouts")
	case n > s.o.MaxBatch:
		p := problem(http.StatusRequestEntityTooLarge, codeTooLarge, "post several batches", "%d rollouts, the limit is %d", n, s.o.MaxBatch)
		p.Field = "rollouts"
		return p
	}
	if p := s.charge(c, n-1); p != nil { // one is charged for the request
		return p
	}
	result := BatchResult{Results: s.members(c, batch.Rollouts)}
	for i := range result.Results {
		if result.Results[i].Problem != nil {
			result.Refused++
		}
	}
	result.Accepted = n - result.Refused
	status := http.StatusAccepted
	if result.Refused > 0 {
		status = http.StatusMultiStatus
	}
	writeJSON(c.w, status, "application/json", result)
	return nil
}

// members reads and publishes each rollout of a batch by itself: what is wrong
// with one holds no other back.
func (s *Server) members(c *call, raw []json.RawMessage) []BatchMember {
	out := make([]BatchMember, len(raw))
	first := map[schema.RolloutID]int{}
	room := make(slots, together)
	var working sync.WaitGroup
	for i := range raw {
		r, err := readRollout(raw[i])
		if err == nil && r.Rollout != "" {
			id := schema.RolloutID{Run: r.Run, Rollout: r.Rollout}
			if k, twice := first[id]; twice {
				err = invalid("rollout", "give each rollout an id of its own", "%s stands in this batch already, as rollouts[%d]", id, k)
			} else {
				first[id] = i
			}
		}
		if err != nil {
			out[i].Problem = s.member(c, i, err)
			continue
		}
		room <- struct{}{}
		working.Go(func() {
			defer func() { <-room }()
			accepted, err := s.publishSafely(c, r)
			if err != nil {
				out[i].Problem = s.member(c, i, err)
				return
			}
			out[i].Accepted = accepted
		})
	}
	working.Wait()
	return out
}

// publishSafely keeps a panic over one rollout from ending the process: it is in
// no goroutine of net/http's.
func (s *Server) publishSafely(c *call, r *Rollout) (accepted *Accepted, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("reading a rollout panicked: %v", v)
		}
	}()
	return s.publish(c, r)
}

// member is the problem of one rollout of a batch.
func (s *Server) member(c *call, i int, err error) *Problem {
	p := problemOf(err)
	if at := fmt.Sprintf("rollouts[%d]", i); p.Field != "" {
		p.Field = at + "." + p.Field
	} else if p.Status < http.StatusInternalServerError {
		p.Field = at
	}
	p.Request = c.id
	if p.cause != nil && !errors.Is(p.cause, client.ErrBackpressure) {
		s.o.Log.Warn("refused a rollout of a batch", "request", c.id, "code", p.Code, "cause", p.cause)
	}
	return p
}
