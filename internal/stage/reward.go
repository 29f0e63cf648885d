package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// AskFunc answers what a profile asks an NLI model. A question that can't be
// answered is left out; an error may pass.
type AskFunc func(context.Context, []rewardagg.Question) (map[rewardagg.Question]schema.Scores, error)

// RewardOptions configure the aggregator.
type RewardOptions struct {
	Conn    *bus.Conn
	Profile *rewardagg.Profile
	// Ask is needed by a profile whose mode of retraction is nli.
	Ask   AskFunc
	Pins  *Pins
	Waker *Waker
	// Deadline is how long after an end missing labels are waited for, where
	// the end doesn't say; default 30 minutes.
	Deadline time.Duration
	// LabelsAge is that of the topology: an older end has lost its labels.
	LabelsAge time.Duration
	Log       *slog.Logger
	Metrics   *Metrics
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// rewardHandler is the aggregator. It holds no state: an end that is not
// acknowledged is the task, and the labels are the state.
type rewardHandler struct {
	o RewardOptions
	settler
}

// NewRewardHandler returns the aggregator's handler.
func NewRewardHandler(o RewardOptions) (Handler, error) {
	if o.Profile == nil || o.Waker == nil {
		return nil, errors.New("the aggregator needs a profile and a waker")
	}
	if o.Profile.Retraction.Mode == rewardagg.RetractByNLI && o.Ask == nil {
		return nil, fmt.Errorf("profile %s asks an NLI model about retractions, and the aggregator was given none", o.Profile.Name)
	}
	if o.Deadline == 0 {
		o.Deadline = 30 * time.Minute
	}
	if o.LabelsAge == 0 {
		o.LabelsAge = 7 * 24 * time.Hour
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("stage", string(schema.StageReward))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &rewardHandler{o: o, settler: settler{o.Conn.JS, schema.StageReward, o.Log, o.Metrics}}, nil
}

func (h *rewardHandler) Handle(ctx context.Context, m *Message) Result {
	id, err := schema.ParseRollout(schema.PrefixEnds, m.Subject())
	if err != nil {
		return h.nowhere(ctx, m, schema.ReasonOf(err), err)
	}
	if v := m.Header(schema.HeaderSchema); v != "" && v != schema.Version {
		return h.unreadable(ctx, m, id, schema.ReasonUnsupportedWire, fmt.Sprintf("schema version %.20q, this program reads %s", v, schema.Version))
	}
	end := &schema.RolloutEnd{}
	if err := schema.Decode(m.Data(), end); err != nil {
		return h.unreadable(ctx, m, id, schema.ReasonOf(err), err.Error())
	}
	if err := end.BindRollout(id); err != nil {
		return h.unreadable(ctx, m, id, schema.ReasonOf(err), err.Error())
	}
	if err := end.Validate(); err != nil {
		return h.unreadable(ctx, m, id, schema.ReasonOf(err), err.Error())
	}
	if h.o.Pins != nil {
		if err := h.o.Pins.Check(ctx, id.Run); err != nil {
			return h.mismatch(ctx, m, id, end, err)
		}
	}
	return h.aggregate(ctx, m, id, end)
}

// mismatch leaves an end for an aggregator with the run's own profile. If none
// has taken it long after its deadline, none will, and the rollout still gets
// its one reward: null.
func (h *rewardHandler) mismatch(ctx context.Context, m *Message, id schema.RolloutID, end *schema.RolloutEnd, err error) Result {
	var mismatch *PinMismatch
	if !errors.As(err, &mismatch) {
		return h.retry(m, err)
	}
	if waited, most := h.o.Now().Sub(m.Time), 2*h.deadline(end); waited > most {
		return h.publish(ctx, m, id, rewardagg.Null(end, h.o.Profile, schema.ReasonConfigMismatch,
			fmt.Sprintf("no aggregator with the run's profile took the end within %s: %v", most, mismatch)))
	}
	h.o.Log.Error("leaving an end of a run with another profile", "error", err)
	return Again(h.o.Pins.refusalDelay(), "config_mismatch")
}

// longest is what a deadline counts for at most, so that none overflows: far
// beyond the age of labels.
const longest = 365 * 24 * time.Hour

func (h *rewardHandler) deadline(end *schema.RolloutEnd) time.Duration {
	if end.DeadlineMS > 0 {
		return time.Duration(min(end.DeadlineMS, longest.Milliseconds())) * time.Millisecond
	}
	return h.o.Deadline
}

// Abandon gives a null reward without ever decoding the end.
func (h *rewardHandler) Abandon(ctx context.Context, m *Message) Result {
	id, err := schema.ParseRollout(schema.PrefixEnds, m.Subject())
	if err != nil {
		return h.nowhere(ctx, m, schema.ReasonCrash, err)
	}
	return h.unreadable(ctx, m, id, schema.ReasonCrash, fmt.Sprintf("handling this end ended its worker more than %d times", maxAttempts))
}

func (h *rewardHandler) aggregate(ctx context.Context, m *Message, id schema.RolloutID, end *schema.RolloutEnd) Result {
	age := h.o.Now().Sub(m.Time)
	if age > h.o.LabelsAge {
		return h.publish(ctx, m, id, rewardagg.Null(end, h.o.Profile, schema.ReasonLabelsExpired,
			fmt.Sprintf("the end is %s old, labels are kept for %s", age.Round(time.Second), h.o.LabelsAge)))
	}
	if end.Aborted || len(end.Steps) == 0 {
		return h.publish(ctx, m, id, rewardagg.Compute(end, nil, h.o.Profile))
	}
	indices := make([]int, 0, len(end.Steps))
	for _, s := range end.Steps {
		indices = append(indices, s.Index)
	}
	arm, got, drop := h.o.Waker.Expect(id, indices)
	labels, err := bus.LabelsOf(ctx, h.o.Conn.JS, id)
	if err != nil {
		drop()
		return h.retry(m, err)
	}
	for i := range labels {
		got(i)
	}
	missing := rewardagg.Missing(end, labels)
	if len(missing) > 0 {
		if left := h.deadline(end) - age; left > 0 {
			result := Again(min(backoff(m.Delivered+3), left+10*time.Millisecond), "wait")
			result.Wake = arm
			return result
		}
		drop()
		if labels, err = h.seal(ctx, id, end, missing); err != nil {
			return h.retry(m, err)
		}
	} else {
		drop()
	}
	answers, err := h.ask(ctx, end, labels)
	if err != nil {
		if age < h.deadline(end) {
			return h.retry(m, err)
		}
		// A model that stays away takes the number of a retraction with it, not
		// the rollout's reward.
		h.o.Log.Error("giving retractions no number", "run", id.Run, "rollout", id.Rollout, "error", err)
	}
	return h.publish(ctx, m, id, rewardagg.ComputeWith(end, labels, h.o.Profile, answers))
}

// ask answers what the profile needs an NLI model for.
func (h *rewardHandler) ask(ctx context.Context, end *schema.RolloutEnd, labels map[int]*schema.Label) (map[rewardagg.Question]schema.Scores, error) {
	questions := rewardagg.Questions(end, labels, h.o.Profile)
	if len(questions) == 0 {
		return nil, nil
	}
	return h.o.Ask(ctx, questions)
}

// seal writes ungraded(missing) under each absent label's subject, and reads
// again: a verdict that was faster stands, one that comes later is refused.
func (h *rewardHandler) seal(ctx context.Context, id schema.RolloutID, end *schema.RolloutEnd, missing []int) (map[int]*schema.Label, error) {
	digests := map[int]string{}
	for _, s := range end.Steps {
		digests[s.Index] = s.Digest
	}
	for _, index := range missing {
		l := rewardagg.Seal(end, index)
		l.Run, l.Rollout, l.Index, l.Digest = id.Run, id.Rollout, index, digests[index]
		if err := l.Validate(); err != nil {
			return nil, fmt.Errorf("sealing %s: %w", id.Step(index), err)
		}
		body, err := schema.Encode(l)
		if err != nil {
			return nil, fmt.Errorf("sealing %s: %w", id.Step(index), err)
		}
		stands, err := bus.PublishOnce(ctx, h.o.Conn.JS, bus.Message(id.Step(index).Subject(schema.PrefixLabels), body))
		if err != nil {
			return nil, fmt.Errorf("sealing %s: %w", id.Step(index), err)
		}
		if stands {
			h.metrics.label(l)
			h.o.Log.Warn("sealed a step whose label never came", "run", id.Run, "rollout", id.Rollout, "step", index)
		}
	}
	labels, err := bus.LabelsOf(ctx, h.o.Conn.JS, id)
	if err != nil {
		return nil, err
	}
	if still := rewardagg.Missing(end, labels); len(still) > 0 {
		// A replica that lags behind must not make a label that stands count
		// as missing.
		return nil, fmt.Errorf("sealing %s: the labels of steps %v stand and were not read", id, still)
	}
	return labels, nil
}

// publish writes the reward, once.
func (h *rewardHandler) publish(ctx context.Context, m *Message, id schema.RolloutID, reward schema.Reward) Result {
	reward.Run, reward.Rollout = id.Run, id.Rollout
	reward.EndDigest = schema.Digest(m.Data())
	if err := reward.Validate(); err != nil {
		h.o.Log.Error("a reward failed its own checks", "run", id.Run, "rollout", id.Rollout, "error", err)
		reward = schema.Reward{Run: id.Run, Rollout: id.Rollout, Group: reward.Group, GroupSize: reward.GroupSize,
			EndDigest: reward.EndDigest, Reason: schema.ReasonInternal, Detail: err.Error()}
	}
	body, err := schema.Encode(&reward)
	if err != nil {
		return h.retry(m, fmt.Errorf("encoding the reward of %s: %w", id, err))
	}
	stands, err := bus.PublishOnce(ctx, h.o.Conn.JS, bus.Message(id.Subject(schema.PrefixRewards), body))
	if err != nil {
		return h.retry(m, err)
	}
	if stands {
		if reward.Process == nil {
			return Done("null_" + string(reward.Reason))
		}
		return Done("reward")
	}
	standing, err := bus.RewardOf(ctx, h.o.Conn.JS, id)
	switch {
	case err != nil:
		return h.retry(m, err)
	case standing == nil:
		return h.retry(m, fmt.Errorf("the reward of %s was there and is gone", id))
	case standing.EndDigest != reward.EndDigest:
		return h.dead(ctx, m, id.Step(0), schema.ReasonIDReused, "another end was published under the same run and rollout, and its reward stands; use a fresh run id for each start", m.Data(), "id_reused")
	}
	return Done("duplicate")
}

// unreadable gives a null reward for an end that can't be read, then the dead
// letter.
func (h *rewardHandler) unreadable(ctx context.Context, m *Message, id schema.RolloutID, reason schema.Reason, detail string) Result {
	result := h.publish(ctx, m, id, schema.Reward{Reason: reason, Detail: clip(detail, 4<<10), Profile: h.o.Profile.Name, ProfileHash: h.o.Profile.Hash()})
	if result.Again {
		return result
	}
	return h.dead(ctx, m, id.Step(0), reason, detail, m.Data(), string(reason))
}
