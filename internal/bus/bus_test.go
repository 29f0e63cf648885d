package bus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/bus/embedded"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestAMessageThatTheServerTakesFromNoOneIsSaidToBe(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	m := bus.Message("stepgap.transcripts.r.o", make([]byte, embedded.MaxPayload+1))
	_, err := bus.Publish(t.Context(), conn.JS, m)
	var wrong *schema.FieldError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, schema.ReasonTooLarge, wrong.Reason)
	require.ErrorContains(t, err, "max_payload")
}

func TestEnsureIsIdempotentAndReportsDrift(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	ctx := t.Context()
	want := bus.NewTopology(bus.Options{})

	drift, err := bus.Inspect(ctx, conn.JS, want)
	require.NoError(t, err)
	require.Empty(t, drift, "what Ensure created is what it wants")

	// Someone shortens the labels' age and gives a consumer a delivery limit.
	stream, err := conn.JS.Stream(ctx, bus.StreamLabels)
	require.NoError(t, err)
	config := stream.CachedInfo().Config
	config.MaxAge = time.Hour
	_, err = conn.JS.UpdateStream(ctx, config)
	require.NoError(t, err)
	consumer, err := conn.JS.Consumer(ctx, bus.StreamSteps, string(schema.StageEntity))
	require.NoError(t, err)
	cc := consumer.CachedInfo().Config
	cc.MaxDeliver = 5
	_, err = conn.JS.UpdateConsumer(ctx, bus.StreamSteps, cc)
	require.NoError(t, err)

	drift, err = bus.Inspect(ctx, conn.JS, want)
	require.NoError(t, err)
	require.Len(t, drift, 2)
	require.Equal(t, "max age", drift[0].Field)
	require.Equal(t, "max deliver", drift[1].Field)

	drift, err = bus.Ensure(ctx, conn.JS, want)
	require.NoError(t, err)
	require.Len(t, drift, 2)
	require.True(t, drift[0].Mended && drift[1].Mended)
	drift, err = bus.Inspect(ctx, conn.JS, want)
	require.NoError(t, err)
	require.Empty(t, drift)
}

func TestEnsureSaysWhatItCannotMend(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	// Storage can't be changed on a live stream.
	drift, err := bus.Ensure(t.Context(), conn.JS, bus.NewTopology(bus.Options{Memory: true}))
	require.Error(t, err)
	require.NotEmpty(t, drift)
	require.ErrorContains(t, err, "storage")
}

func TestInspectOnAnEmptyServerListsWhatIsMissing(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	conn := bustest.Connect(t, server)
	topology := bus.NewTopology(bus.Options{})
	drift, err := bus.Inspect(t.Context(), conn.JS, topology)
	require.NoError(t, err)
	require.Len(t, drift, len(topology.Streams)+len(topology.Consumers)+len(topology.Buckets))
}

func TestPromise_P1_FirstWriterOfALabelWins(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	ctx := t.Context()
	subject := schema.StepID{Run: "r", Rollout: "o", Index: 1}.Subject(schema.PrefixLabels)
	const writers = 16
	won := make(chan bool, writers)
	for range writers {
		go func() {
			ok, err := bus.PublishOnce(context.WithoutCancel(ctx), conn.JS, bus.Message(subject, []byte("x")))
			won <- ok && err == nil
		}()
	}
	winners := 0
	for range writers {
		if <-won {
			winners++
		}
	}
	require.Equal(t, 1, winners)
	// Without the expectation, the stream's own guard refuses too.
	_, err := conn.JS.PublishMsg(ctx, bus.Message(subject, []byte("y")))
	require.ErrorContains(t, err, "maximum messages per subject")
}

func TestPromise_P4_AFullStreamPushesBack(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{WorkMsgs: 2})
	ctx := t.Context()
	publish := func(i int) error {
		_, err := bus.Publish(ctx, conn.JS, bus.Message(schema.StepID{Run: "r", Rollout: "o", Index: i}.Subject(schema.PrefixSteps), []byte("x")))
		return err
	}
	require.NoError(t, publish(1))
	require.NoError(t, publish(2))
	require.ErrorIs(t, publish(3), bus.ErrFull)
	stream, err := conn.JS.Stream(ctx, bus.StreamSteps)
	require.NoError(t, err)
	require.EqualValues(t, 2, stream.CachedInfo().State.Msgs, "what was accepted is still there")
}

func TestAFullLabelStreamIsNotTakenForAnExistingLabel(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{LabelBytes: 4096})
	ctx := t.Context()
	var err error
	wrote := 0
	for i := 1; i <= 100 && err == nil; i++ {
		var ok bool
		ok, err = bus.PublishOnce(ctx, conn.JS, bus.Message(schema.StepID{Run: "r", Rollout: "o", Index: i}.Subject(schema.PrefixLabels), make([]byte, 512)))
		if err == nil {
			require.True(t, ok, "a new subject is never 'already there'")
			wrote++
		}
	}
	require.ErrorIs(t, err, bus.ErrFull)
	require.Positive(t, wrote)
}

func TestLabelsOfReadsARolloutInOneRequest(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	ctx := t.Context()
	id := schema.RolloutID{Run: "r", Rollout: "o"}
	labels, err := bus.LabelsOf(ctx, conn.JS, id)
	require.NoError(t, err)
	require.Empty(t, labels)
	for _, i := range []int{1, 2, schema.MaxIndex} {
		body, err := schema.Encode(&schema.Label{Label: schema.GapNone, Repair: schema.RepairNone})
		require.NoError(t, err)
		_, err = bus.PublishOnce(ctx, conn.JS, bus.Message(id.Step(i).Subject(schema.PrefixLabels), body))
		require.NoError(t, err)
	}
	labels, err = bus.LabelsOf(ctx, conn.JS, id)
	require.NoError(t, err)
	require.Len(t, labels, 3)
	require.Equal(t, schema.MaxIndex, labels[schema.MaxIndex].Index)
	label, err := bus.LabelOf(ctx, conn.JS, id.Step(2))
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, label.Label)
	label, err = bus.LabelOf(ctx, conn.JS, id.Step(3))
	require.NoError(t, err)
	require.Nil(t, label)
}

// The server ends an answer at its max_pending, 64 MB; a label that it did not
// send must not count as missing.
func TestLabelsOfReadsMoreThanTheServerSendsAtOnce(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	ctx := t.Context()
	id := schema.RolloutID{Run: "r", Rollout: "o"}
	const labels = 40
	body, err := schema.Encode(&schema.Label{Label: schema.GapNone, Repair: schema.RepairNone, Detail: strings.Repeat("x", 3<<20)})
	require.NoError(t, err)
	for i := 1; i <= labels; i++ {
		_, err = bus.PublishOnce(ctx, conn.JS, bus.Message(id.Step(i).Subject(schema.PrefixLabels), body))
		require.NoError(t, err)
	}
	got, err := bus.LabelsOf(ctx, conn.JS, id)
	require.NoError(t, err)
	require.Len(t, got, labels)
}

func TestConnectSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := bus.Connect(t.Context(), bus.Config{URL: "nats://127.0.0.1:1"})
	require.ErrorContains(t, err, "nats://127.0.0.1:1")
	_, err = bus.Connect(t.Context(), bus.Config{URL: "nats://127.0.0.1:1", NKey: "/no/such/seed"})
	require.ErrorContains(t, err, "/no/such/seed")
}
