package runlog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Rollout is one rollout that got its reward.
type Rollout struct {
	Reward *schema.Reward
	// Labels are those that stand, by step index.
	Labels map[int]*schema.Label
	// At is when the reward came, by the server's clock; zero from a file.
	At time.Time
}

// ID names the rollout.
func (r *Rollout) ID() schema.RolloutID {
	return schema.RolloutID{Run: r.Reward.Run, Rollout: r.Reward.Rollout}
}

// ErrNothing says that a run, or a file, holds no reward.
var ErrNothing = errors.New("no reward stands")

// Each calls f with every rollout of a run that has its reward by now, in the
// order in which the rewards came. It holds one of them at a time.
func Each(ctx context.Context, js jetstream.JetStream, run string, f func(*Rollout) error) error {
	n := 0
	err := bus.EachReward(ctx, js, run, func(reward *schema.Reward, at time.Time) error {
		n++
		r := &Rollout{Reward: reward, At: at}
		var err error
		if r.Labels, err = bus.LabelsOf(ctx, js, r.ID()); err != nil {
			return err
		}
		return f(r)
	})
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("run %s: %w; is it the right id, and has a rollout ended?", run, ErrNothing)
	}
	return nil
}

// maxLine bounds a line of a file, in bytes.
const maxLine = 2 * schema.MaxMessage

// Read calls f with every rollout in a file of labels and rewards, one JSON
// object a line as `stepgap watch --json` prints them, in the order of the
// rewards. Labels may stand before or after their reward, so the file is held
// whole. What was printed twice, by a watch that was begun again, counts once;
// two different rewards of one rollout are an error.
func Read(file io.Reader, f func(*Rollout) error) error {
	labels := map[schema.RolloutID]map[int]*schema.Label{}
	var rewards []*schema.Reward
	have := map[schema.RolloutID]*schema.Reward{}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		label, reward, err := parse(lines.Bytes())
		switch {
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		case reward != nil:
			id := schema.RolloutID{Run: reward.Run, Rollout: reward.Rollout}
			switch before := have[id]; {
			case before == nil:
				have[id] = reward
				rewards = append(rewards, reward)
			case !reflect.DeepEqual(before, reward):
				return fmt.Errorf("line %d: another reward of %s stands before; these are lines of two servers", n, id)
			}
		default:
			id := schema.RolloutID{Run: label.Run, Rollout: label.Rollout}
			if labels[id] == nil {
				labels[id] = map[int]*schema.Label{}
			}
			labels[id][label.Index] = label
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading labels and rewards: %w", err)
	}
	if len(rewards) == 0 {
		return fmt.Errorf("%w in the file; write it with `stepgap watch rewards --json` and `stepgap watch labels --json`", ErrNothing)
	}
	for _, reward := range rewards {
		r := &Rollout{Reward: reward}
		if r.Labels = labels[r.ID()]; r.Labels == nil {
			r.Labels = map[int]*schema.Label{}
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// parse tells the two kinds of lines apart by a key that only one of them has.
func parse(line []byte) (*schema.Label, *schema.Reward, error) {
	var kind struct {
		Label   *schema.Gap `json:"label"`
		Outcome *struct{}   `json:"outcome"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return nil, nil, fmt.Errorf("not a JSON object: %w", err)
	}
	switch {
	case kind.Outcome != nil:
		var r schema.Reward
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, nil, fmt.Errorf("not a reward: %w", err)
		}
		if err := r.Validate(); err != nil {
			return nil, nil, fmt.Errorf("not a reward: %w", err)
		}
		return nil, &r, nil
	case kind.Label != nil:
		var l schema.Label
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, nil, fmt.Errorf("not a label: %w", err)
		}
		if err := l.Validate(); err != nil {
			return nil, nil, fmt.Errorf("not a label: %w", err)
		}
		return &l, nil, nil
	}
	return nil, nil, errors.New("neither a label nor a reward, as `stepgap watch --json` prints them")
}
