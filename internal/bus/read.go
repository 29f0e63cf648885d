package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/schema"
)

// LabelsOf reads every label that stands for a rollout, by index: all of them,
// or it fails.
func LabelsOf(ctx context.Context, js jetstream.JetStream, id schema.RolloutID) (map[int]*schema.Label, error) {
	labels := map[int]*schema.Label{}
	err := eachLast(ctx, js, StreamLabels, id.Subject(schema.PrefixLabels)+".*", func(subject string, body []byte) error {
		label, err := decodeLabel(subject, body)
		if err != nil {
			return err
		}
		labels[label.Index] = label
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the labels of %s: %w", id, err)
	}
	return labels, nil
}

// LabelOf reads one label; nil without an error if none stands.
func LabelOf(ctx context.Context, js jetstream.JetStream, id schema.StepID) (*schema.Label, error) {
	body, err := lastBody(ctx, js, StreamLabels, id.Subject(schema.PrefixLabels))
	if err != nil || body == nil {
		return nil, err
	}
	return decodeLabel(id.Subject(schema.PrefixLabels), body)
}

// RewardOf reads a rollout's reward; nil without an error if none stands.
func RewardOf(ctx context.Context, js jetstream.JetStream, id schema.RolloutID) (*schema.Reward, error) {
	body, err := lastBody(ctx, js, StreamRewards, id.Subject(schema.PrefixRewards))
	if err != nil || body == nil {
		return nil, err
	}
	return decodeReward(id.Subject(schema.PrefixRewards), body)
}

func lastBody(ctx context.Context, js jetstream.JetStream, stream, subject string) ([]byte, error) {
	var found []byte
	err := eachLast(ctx, js, stream, subject, func(_ string, body []byte) error {
		found = body
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", subject, err)
	}
	return found, nil
}

func decodeLabel(subject string, body []byte) (*schema.Label, error) {
	id, err := schema.ParseStep(schema.PrefixLabels, subject)
	if err != nil {
		return nil, fmt.Errorf("reading a label: %w", err)
	}
	var label schema.Label
	if err := schema.Decode(body, &label); err != nil {
		return nil, fmt.Errorf("reading the label of %s: %w", id, err)
	}
	label.Run, label.Rollout, label.Index = id.Run, id.Rollout, id.Index
	return &label, nil
}

func decodeReward(subject string, body []byte) (*schema.Reward, error) {
	id, err := schema.ParseRollout(schema.PrefixRewards, subject)
	if err != nil {
		return nil, fmt.Errorf("reading a reward: %w", err)
	}
	var reward schema.Reward
	if err := schema.Decode(body, &reward); err != nil {
		return nil, fmt.Errorf("reading the reward of %s: %w", id, err)
	}
	reward.Run, reward.Rollout = id.Run, id.Rollout
	return &reward, nil
}
