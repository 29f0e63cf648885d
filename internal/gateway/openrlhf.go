package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stepgap/stepgap/pkg/schema"
)

// RLHFRequest is what OpenRLHF posts to its remote reward URL. It sends one
// rollout a request; where several URLs are set, the others get empty lists.
type RLHFRequest struct {
	Query   []string    `json:"query" doc:"prompt and completion together, special tokens included"`
	Prompts []string    `json:"prompts,omitempty" doc:"the prompts alone"`
	Labels  []RLHFLabel `json:"labels,omitempty" doc:"the accepted answers: a string, a list of strings, such a list written as JSON in a string, or null"`
}

// RLHFLabel is a dataset's label: the accepted answers.
type RLHFLabel []string

// UnmarshalJSON reads a string, a list of strings, {"target": either}, a number
// or null. OpenRLHF's labels are strings, so a list may be written into one.
func (l *RLHFLabel) UnmarshalJSON(b []byte) error {
	var wrapped struct {
		Target *RLHFLabel `json:"target"`
	}
	var s string
	var list []string
	var number json.Number
	switch {
	case string(b) == "null":
		*l = nil
	case json.Unmarshal(b, &s) == nil:
		*l = nil
		if strings.HasPrefix(strings.TrimSpace(s), "[") && json.Unmarshal([]byte(s), &list) == nil {
			*l = list
		} else if s != "" {
			*l = RLHFLabel{s}
		}
	case json.Unmarshal(b, &list) == nil:
		*l = list
	case json.Unmarshal(b, &number) == nil:
		*l = RLHFLabel{number.String()}
	case json.Unmarshal(b, &wrapped) == nil && wrapped.Target != nil:
		*l = *wrapped.Target
	default:
		return invalid("labels", "", "a label is a string, a list of strings, {\"target\": ...}, a number or null")
	}
	return nil
}

// RLHFAnswer is what OpenRLHF reads. Rewards and Scores are null where the one
// rollout of a request has none, which OpenRLHF takes as it takes a reward URL
// that can't be reached; in a request of several, the list holds a null. The
// extra logs hold counts and are numbers always, since OpenRLHF makes tensors of
// them.
type RLHFAnswer struct {
	Rewards   []*float64           `json:"rewards"`
	Scores    []*float64           `json:"scores"`
	ExtraLogs map[string][]float64 `json:"extra_logs"`
}

// rlhfWait is when an answer is due where the URL doesn't say: OpenRLHF gives a
// try up after 180 s.
const rlhfWait = 150 * time.Second

// rlhfShare is the part of the wait after which missing labels are given up, so
// that the reward of what was graded comes in time.
const rlhfShare = 0.9

// rlhfOptions are what a reward URL says beside its path.
type rlhfOptions struct {
	run     string
	wait    time.Duration
	outcome string
	weight  float64
}

func (s *Server) rlhfOptions(c *call) (o rlhfOptions, err error) {
	q, err := query(c.r, "run", "wait", "outcome", "weight")
	if err != nil {
		return o, err
	}
	if o.wait, err = s.wait(q, rlhfWait); err != nil {
		return o, err
	}
	if o.run = q.Get("run"); o.run == "" {
		o.run = s.o.Run
	}
	if err := schema.CheckID("run", o.run); err != nil {
		return o, err
	}
	if p := c.allowed(o.run); p != nil {
		return o, p
	}
	return o, o.mixing(q)
}

// mixing reads how the outcome is added to the process reward: not at all,
// unless the URL says so.
func (o *rlhfOptions) mixing(q url.Values) error {
	o.weight = 1
	switch o.outcome = q.Get("outcome"); o.outcome {
	case "", "em", "f1", "cover_em":
	default:
		return invalid("outcome", "use em, f1 or cover_em, or leave it out for the process reward alone", "%.40q is no outcome", o.outcome)
	}
	if text := q.Get("weight"); text != "" {
		weight, err := strconv.ParseFloat(text, 64)
		if err != nil || !(weight > -1e6 && weight < 1e6) {
			return invalid("weight", "", "%.40q is no number", text)
		}
		if o.outcome == "" {
			return invalid("weight", "say outcome=em, f1 or cover_em as well", "there is no outcome to weigh")
		}
		o.weight = weight
	}
	return nil
}

func (s *Server) openRLHF(c *call) error {
	start := time.Now()
	o, err := s.rlhfOptions(c)
	if err != nil {
		return err
	}
	b, err := s.body(c)
	if err != nil {
		return err
	}
	var r RLHFRequest
	if err := decode(b, &r, false); err != nil {
		return err
	}
	n := len(r.Query)
	for name, k := range map[string]int{"prompts": len(r.Prompts), "labels": len(r.Labels)} {
		if k != n && k != 0 {
			return invalid(name, "send as many, or none", "%d queries and %d %s", n, k, name)
		}
	}
	if n > s.o.MaxBatch {
		return problem(http.StatusRequestEntityTooLarge, codeTooLarge, "send fewer", "%d queries, the limit is %d", n, s.o.MaxBatch)
	}
	if p := s.charge(c, max(n-1, 0)); p != nil {
		return p
	}
	rollouts := r.rollouts(o)
	release := s.waits.take()
	if release == nil {
		return busy("waiting on")
	}
	defer release()
	if err := s.publishEach(c.r.Context(), c, rollouts); err != nil {
		return err
	}
	c.read()
	// The wait is that of the whole answer, publishing included.
	rewards := s.each(c, rollouts, start.Add(o.wait))
	if err := c.r.Context().Err(); err != nil {
		return err
	}
	writeJSON(c.w, http.StatusOK, "application/json", rlhfAnswer(rewards, o))
	return nil
}

// rollouts are those of a request. Their ids are made of what they hold, so that
// OpenRLHF's five tries are one rollout.
func (r *RLHFRequest) rollouts(o rlhfOptions) []*Rollout {
	deadline := max(int64(rlhfShare*float64(o.wait.Milliseconds())), 1)
	out := make([]*Rollout, len(r.Query))
	same := map[string]int{}
	for i, text := range r.Query {
		one := &Rollout{Run: o.run, Text: text, StepDeadlineMS: deadline, DeadlineMS: deadline}
		if len(r.Labels) > 0 {
			one.Gold = r.Labels[i]
		}
		if len(r.Prompts) > 0 {
			prompt := r.Prompts[i]
			sum := sha256.Sum256([]byte(prompt))
			one.Group = hex.EncodeToString(sum[:8])
			if at := strings.Index(text, prompt); prompt != "" && at >= 0 && at <= firstTokens {
				one.Prompt, one.Text = prompt, text[at+len(prompt):]
			} else if question := strings.TrimSpace(prompt); len(question) <= shortPrompt && !strings.Contains(question, "<") {
				one.Question = question
			}
		}
		id := digest(one)
		same[id]++
		if k := same[id]; k > 1 {
			id += "-" + strconv.Itoa(k)
		}
		one.Rollout = id
		out[i] = one
	}
	return out
}

// firstTokens is how many bytes a tokenizer may put before the prompt, such as
// "<|begin_of_text|>".
const firstTokens = 64

// shortPrompt is how many bytes a prompt has at most that may be the question
// itself.
const shortPrompt = 1000

func digest(r *Rollout) string {
	h := sha256.New()
	for _, part := range append([]string{r.Prompt, r.Text}, r.Gold...) {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	return "o-" + hex.EncodeToString(h.Sum(nil)[:20])
}

// publishEach publishes what can be. A rollout that no reader makes sense of has
// no reward, which is no fault of the request; a pipeline that takes nothing is
// one, and OpenRLHF tries again.
func (s *Server) publishEach(ctx context.Context, c *call, rollouts []*Rollout) error {
	var first error
	var mu sync.Mutex
	room := make(slots, together)
	var working sync.WaitGroup
	for i := range rollouts {
		room <- struct{}{}
		working.Go(func() {
			defer func() { <-room }()
			err := s.publishRLHF(ctx, rollouts[i])
			if err == nil {
				return
			}
			p := problemOf(err)
			s.o.Log.Info("no reward for OpenRLHF: not published", "request", c.id, "code", p.Code, "field", p.Field, "detail", p.Detail, "cause", p.cause)
			mu.Lock()
			defer mu.Unlock()
			rollouts[i].Rollout = "" // nothing to wait for
			if p.Status >= http.StatusInternalServerError && first == nil {
				first = p
			}
		})
	}
	working.Wait()
	return first
}

func (s *Server) publishRLHF(ctx context.Context, r *Rollout) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("reading a rollout panicked: %v", v)
		}
	}()
	t, err := r.check()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	return s.o.Pipeline.PublishTranscript(ctx, t)
}

// each waits for every reward until the given time; nil where there is none.
func (s *Server) each(c *call, rollouts []*Rollout, until time.Time) []*schema.Reward {
	out := make([]*schema.Reward, len(rollouts))
	var waiting sync.WaitGroup
	for i, r := range rollouts {
		if r.Rollout == "" {
			continue
		}
		waiting.Go(func() {
			reward, err := s.reward(c.r.Context(), schema.RolloutID{Run: r.Run, Rollout: r.Rollout}, max(time.Until(until), 0))
			if err != nil {
				s.o.Log.Warn("no reward for OpenRLHF: it could not be read", "request", c.id, "run", r.Run, "rollout", r.Rollout, "error", err)
				return
			}
			out[i] = reward
		})
	}
	waiting.Wait()
	return out
}

// rlhfAnswer writes rewards as OpenRLHF reads them.
func rlhfAnswer(rewards []*schema.Reward, o rlhfOptions) *RLHFAnswer {
	n := len(rewards)
	a := &RLHFAnswer{Rewards: make([]*float64, n), Scores: make([]*float64, n), ExtraLogs: map[string][]float64{}}
	for i, r := range rewards {
		a.Rewards[i] = o.number(r)
		if a.Rewards[i] != nil {
			a.Scores[i] = a.Rewards[i]
			if r.Outcome.EM != nil {
				a.Scores[i] = r.Outcome.EM
			}
		}
		for name, count := range counts(r, a.Rewards[i] != nil) {
			a.ExtraLogs[name] = append(a.ExtraLogs[name], float64(count))
		}
	}
	if n == 1 && a.Rewards[0] == nil {
		// A list that holds a null would be made a tensor of, which fails.
		a.Rewards, a.Scores = nil, nil
	}
	return a
}

// number is what OpenRLHF trains on, or nil.
func (o rlhfOptions) number(r *schema.Reward) *float64 {
	if r == nil || r.Process == nil {
		return nil
	}
	sum := *r.Process
	var outcome *float64
	switch o.outcome {
	case "em":
		outcome = r.Outcome.EM
	case "f1":
		outcome = r.Outcome.F1
	case "cover_em":
		outcome = r.Outcome.CoverEM
	default:
		return &sum
	}
	if outcome == nil {
		return nil // asked for, and there is no gold answer
	}
	sum += o.weight * *outcome
	return &sum
}

// counts are the extra logs: of labels by kind, and of rollouts with a reward.
// The names are the same in each answer, since OpenRLHF joins them into batches.
func counts(r *schema.Reward, valid bool) map[string]int {
	out := map[string]int{"stepgap_valid": 0}
	if valid {
		out["stepgap_valid"] = 1
	}
	for _, g := range schema.Gaps() {
		out["stepgap_"+string(g)] = 0
	}
	if r != nil {
		for _, s := range r.Steps {
			out["stepgap_"+string(s.Label)]++
		}
	}
	return out
}
