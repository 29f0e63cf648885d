package client

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/pkg/schema"
)

// A plain subscriber hears of a label before the stream has stored it. Whoever
// reads then finds nothing, and must not wait for a second announcement.
func TestAwaitReadsAgainAfterAnAnnouncementThatCameTooEarly(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reads := 0
	got, err := await(ctx, conn.NC, "announced", func() (*int, error) {
		reads++
		switch {
		case reads == 1:
			return nil, conn.NC.Publish("announced", nil) // heard only after this read
		case reads < 5:
			return nil, nil // stored a little later
		}
		return &reads, nil
	})
	require.NoError(t, err)
	require.Equal(t, 5, *got)
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	c, err := New(conn.NC)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.WaitReward(ctx, schema.RolloutID{Run: "r", Rollout: "o"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "rollout o")
}

func TestWaitLabelNeverReturnsTheLabelOfOtherContent(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	c, err := New(conn.NC)
	require.NoError(t, err)
	id := schema.RolloutID{Run: "r", Rollout: "o"}
	body, err := schema.Encode(&schema.Label{Label: schema.GapNone, Repair: schema.RepairNone, Digest: "old"})
	require.NoError(t, err)
	_, err = bus.PublishOnce(t.Context(), conn.JS, bus.Message(id.Step(1).Subject(schema.PrefixLabels), body))
	require.NoError(t, err)
	label, err := c.WaitLabel(t.Context(), id, schema.StepRef{Index: 1, Digest: "old"})
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, label.Label)
	_, err = c.WaitLabel(t.Context(), id, schema.StepRef{Index: 1, Digest: "new"})
	require.ErrorIs(t, err, ErrIDReused)
}

func TestPromise_P4_AFullPipelineIsBackpressureAndAnInvalidStepNeverLeaves(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{WorkMsgs: 1})
	c, err := New(conn.NC)
	require.NoError(t, err)
	step := schema.Step{Run: "r", Rollout: "o", Index: 1, Kind: schema.KindSearch, Question: "Who?"}
	_, err = c.PublishStep(t.Context(), &step)
	require.NoError(t, err)
	step.Index = 2
	_, err = c.PublishStep(t.Context(), &step)
	require.ErrorIs(t, err, ErrBackpressure)
	step.Question = ""
	_, err = c.PublishStep(t.Context(), &step)
	var field *schema.FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, "question", field.Field)
	require.ErrorContains(t, err, "step 2")
}
