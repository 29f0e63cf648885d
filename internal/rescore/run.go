package rescore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// Report says what was written.
type Report struct {
	Run      string               `json:"run"`
	As       string               `json:"as"`
	Profile  string               `json:"profile"`
	Hash     string               `json:"profile_hash"`
	Was      nliworker.Thresholds `json:"thresholds_were"`
	Now      nliworker.Thresholds `json:"thresholds"`
	Rollouts int                  `json:"rollouts"`
	// Null counts rewards without a number.
	Null   int `json:"null_rewards"`
	Labels int `json:"labels"`
	// NotInTrail counts labels that the trail did not suffice for.
	NotInTrail int `json:"labels_not_in_trail"`
	// Changes counts labels by what they were and are.
	Changes map[string]int `json:"label_changes"`
}

// ErrStands says that the new run's id was used before, for something else.
var ErrStands = errors.New("something else stands under this run; rescore under a fresh run id")

// Run rescores every rollout of run that has its reward by now, and publishes
// labels and rewards of o.As. What stands there already and is the same is left,
// so that a rescoring that was cut off can be run again. progress may be nil.
func Run(ctx context.Context, conn *bus.Conn, run string, o Options, progress func(rollouts int)) (Report, error) {
	report := Report{Run: run, As: o.As, Was: o.Was, Now: o.Now, Changes: map[string]int{}}
	if err := o.Validate(run); err != nil {
		return report, err
	}
	report.Profile, report.Hash = o.Profile.Name, o.Profile.Hash()
	if err := pin(ctx, conn.JS, run, o); err != nil {
		return report, err
	}
	err := runlog.Each(ctx, conn.JS, run, func(r *runlog.Rollout) error {
		plan, err := Of(r, o)
		if err != nil {
			return fmt.Errorf("rescoring %s: %w", r.ID(), err)
		}
		if err := publish(ctx, conn.JS, plan); err != nil {
			return fmt.Errorf("rescoring %s: %w", r.ID(), err)
		}
		report.add(plan)
		if progress != nil {
			progress(report.Rollouts)
		}
		return nil
	})
	return report, err
}

func (r *Report) add(p *Plan) {
	r.Rollouts++
	if p.Reward.Process == nil {
		r.Null++
	}
	r.Labels += len(p.Labels)
	for _, c := range p.Changes {
		r.Changes[string(c.Was)+" -> "+string(c.Now)]++
		if c.Now == schema.GapUngraded {
			r.NotInTrail++
		}
	}
}

// publish writes labels first, as a pipeline does: a reward never stands without
// them.
func publish(ctx context.Context, js jetstream.JetStream, p *Plan) error {
	for _, l := range p.Labels {
		if err := l.Validate(); err != nil {
			return fmt.Errorf("label of step %d: %w", l.Index, err)
		}
		subject := schema.StepID{Run: l.Run, Rollout: l.Rollout, Index: l.Index}.Subject(schema.PrefixLabels)
		if err := once(ctx, js, bus.StreamLabels, subject, l); err != nil {
			return err
		}
	}
	if err := p.Reward.Validate(); err != nil {
		return fmt.Errorf("reward: %w", err)
	}
	return once(ctx, js, bus.StreamRewards, schema.RolloutID{Run: p.Reward.Run, Rollout: p.Reward.Rollout}.Subject(schema.PrefixRewards), &p.Reward)
}

func once[T schema.Label | schema.Reward](ctx context.Context, js jetstream.JetStream, stream, subject string, m *T) error {
	body, err := schema.Encode(m)
	if err != nil {
		return err
	}
	written, err := bus.PublishOnce(ctx, js, bus.Message(subject, body))
	if err != nil || written {
		return err
	}
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return fmt.Errorf("reading %s: %w", subject, err)
	}
	stands, err := s.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return fmt.Errorf("reading %s: %w", subject, err)
	}
	if !bytes.Equal(stands.Data, body) {
		return fmt.Errorf("%s: %w", subject, ErrStands)
	}
	return nil
}

// pin holds the new run to its configuration: the stages of the old run as they
// were pinned; D and E, where labels are read under other thresholds, to a hash
// that no worker has; the aggregator to the profile.
func pin(ctx context.Context, js jetstream.JetStream, run string, o Options) error {
	kv, err := js.KeyValue(ctx, bus.BucketRuns)
	if err != nil {
		return fmt.Errorf("opening bucket %s: %w", bus.BucketRuns, err)
	}
	for _, stage := range []schema.Stage{schema.StageEntity, schema.StageAbstain, schema.StageQuote, schema.StageLocal, schema.StageCross, schema.StageReward} {
		hash := ""
		entry, err := kv.Get(ctx, run+"."+string(stage))
		switch {
		case err == nil:
			hash = string(entry.Value())
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return fmt.Errorf("reading the configuration of run %s: %w", run, err)
		}
		switch {
		case stage == schema.StageReward:
			hash = o.Profile.Hash()
		case hash == "":
			continue // no step of the run came there
		case o.relabels() && (stage == schema.StageLocal || stage == schema.StageCross):
			if hash, err = rescored(run, hash, o); err != nil {
				return err
			}
		}
		if err := hold(ctx, kv, o.As+"."+string(stage), hash); err != nil {
			return err
		}
	}
	return nil
}

func rescored(run, pinned string, o Options) (string, error) {
	b, err := json.Marshal(struct {
		Run, Pinned string
		Was, Now    nliworker.Thresholds
	}{run, pinned, o.Was, o.Now})
	if err != nil {
		return "", fmt.Errorf("configuration of run %s: %w", o.As, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

func hold(ctx context.Context, kv jetstream.KeyValue, key, hash string) error {
	_, err := kv.Create(ctx, key, []byte(hash))
	if err == nil {
		return nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("pinning %s: %w", key, err)
	}
	entry, err := kv.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("reading pin %s: %w", key, err)
	}
	if string(entry.Value()) != hash {
		return fmt.Errorf("pin %s: %w", key, ErrStands)
	}
	return nil
}
