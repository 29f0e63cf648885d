package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Pending says that a reward is not there yet. It holds no number that could be
// taken for one.
type Pending struct {
	Run     string `json:"run"`
	Rollout string `json:"rollout"`
	State   string `json:"state" doc:"pending"`
	Labels  *int   `json:"labels,omitempty" doc:"how many steps are labelled by now; absent where that could not be read"`
}

// Labels are those of a rollout that stand by now.
type Labels struct {
	Run     string          `json:"run"`
	Rollout string          `json:"rollout"`
	Labels  []*schema.Label `json:"labels"`
}

const statePending = "pending"

func (s *Server) getReward(c *call) error {
	q, err := query(c.r, "wait")
	if err != nil {
		return err
	}
	wait, err := s.wait(q, 0)
	if err != nil {
		return err
	}
	id, err := rolloutID(c)
	if err != nil {
		return err
	}
	return s.answer(c, id, wait)
}

func (s *Server) score(c *call) error {
	q, err := query(c.r, "wait")
	if err != nil {
		return err
	}
	wait, err := s.wait(q, defaultWait)
	if err != nil {
		return err
	}
	accepted, err := s.take(c)
	if err != nil {
		return err
	}
	c.read()
	c.w.Header().Set("Location", "/v1/rewards/"+accepted.Run+"/"+accepted.Rollout)
	return s.answer(c, schema.RolloutID{Run: accepted.Run, Rollout: accepted.Rollout}, wait)
}

// answer waits for a reward and writes it, or says that it is not there yet.
func (s *Server) answer(c *call, id schema.RolloutID, wait time.Duration) error {
	release := s.waits.take()
	if release == nil {
		return busy("waiting on")
	}
	defer release()
	reward, err := s.reward(c.r.Context(), id, wait)
	if err != nil {
		return err
	}
	if reward != nil {
		writeJSON(c.w, http.StatusOK, "application/json", reward)
		return nil
	}
	pending := Pending{Run: id.Run, Rollout: id.Rollout, State: statePending}
	ctx, cancel := context.WithTimeout(c.r.Context(), readTimeout)
	defer cancel()
	if labels, err := s.o.Pipeline.Labels(ctx, id); err == nil {
		n := len(labels)
		pending.Labels = &n
	}
	c.w.Header().Set("Retry-After", strconv.Itoa(seconds(time.Second)))
	writeJSON(c.w, http.StatusAccepted, "application/json", pending)
	return nil
}

// reward waits for a reward; nil if it is not there when the wait ends, or the
// gateway is being stopped.
func (s *Server) reward(ctx context.Context, id schema.RolloutID, wait time.Duration) (*schema.Reward, error) {
	if wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		defer context.AfterFunc(s.stopping, cancel)()
		reward, err := s.o.Pipeline.WaitReward(waiting, id)
		if err == nil || waiting.Err() == nil {
			return reward, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err() // the caller has gone
		}
	}
	// What stands when the wait is over: what announced it can have been lost.
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return s.o.Pipeline.Reward(reading, id)
}

func (s *Server) getLabels(c *call) error {
	if _, err := query(c.r); err != nil {
		return err
	}
	id, err := rolloutID(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), readTimeout)
	defer cancel()
	standing, err := s.o.Pipeline.Labels(ctx, id)
	if err != nil {
		return err
	}
	out := Labels{Run: id.Run, Rollout: id.Rollout, Labels: make([]*schema.Label, 0, len(standing))}
	for _, l := range standing {
		out.Labels = append(out.Labels, l)
	}
	slices.SortFunc(out.Labels, func(a, b *schema.Label) int { return a.Index - b.Index })
	writeJSON(c.w, http.StatusOK, "application/json", out)
	return nil
}
