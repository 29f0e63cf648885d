package e2e

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// many is a transcript of ten searches.
func many(rollout string) *schema.Transcript {
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "<search>mill %d</search><information>Doc 1(Title: \"Mill %d\") Mill %d was built in %d.</information><think>Mill %d was built in %d.</think>", i, i, i, 1800+i, i, 1800+i)
	}
	return &schema.Transcript{Run: "r", Rollout: rollout, Question: "Which mill is the oldest?", Text: text.String() + "<answer>Mill 0</answer>"}
}

// The splitter is killed by SIGKILL again and again while it cuts transcripts:
// each ends as the same steps and the same end, once.
func TestPromise_P1_TranscriptsSurviveAKilledSplitter(t *testing.T) {
	url := natsServer(t)
	victim := role(t, url, string(app.RoleSplit))
	conn := dial(t, url)
	c, err := client.New(conn.NC)
	require.NoError(t, err)
	heard := make(chan struct{}, 1)
	var steps atomic.Int64
	sub, err := conn.NC.Subscribe(schema.PrefixSteps+".>", func(*nats.Msg) {
		steps.Add(1)
		select {
		case heard <- struct{}{}:
		default:
		}
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, sub.Unsubscribe()) }()
	const n, kills = 120, 8
	want := map[string]string{}
	for i := range n {
		source := many(fmt.Sprint("o", i))
		rollout, err := transcript.FromMessage(source)
		require.NoError(t, err)
		require.Len(t, rollout.Steps, 11)
		for k := range rollout.Steps {
			step := &rollout.Steps[k]
			step.Run, step.Rollout = source.Run, source.Rollout
			m, ref, err := client.StepMessage(step)
			require.NoError(t, err)
			want[m.Subject] = ref.Digest
		}
		require.NoError(t, c.PublishTranscript(t.Context(), source))
	}
	state := func(stream string) *jetstream.StreamInfo {
		s, err := conn.JS.Stream(t.Context(), stream)
		require.NoError(t, err)
		info, err := s.Info(t.Context(), jetstream.WithSubjectFilter(">"))
		require.NoError(t, err)
		return info
	}
	// Kills are spread over the work. What a killed splitter held comes back
	// after its AckWait, and then nothing moves for a while.
	for i := range kills {
		due := int64((i + 1) * len(want) / (kills + 1))
		for steps.Load() < due {
			select {
			case <-heard:
				continue
			case <-time.After(300 * time.Millisecond):
			}
			break
		}
		victim.kill()
		victim = role(t, url, string(app.RoleSplit))
	}
	require.Eventually(t, func() bool { return state(bus.StreamTranscripts).State.Msgs == 0 }, 2*time.Minute, 50*time.Millisecond)
	published := state(bus.StreamSteps).State.Subjects
	require.Len(t, published, len(want))
	stream, err := conn.JS.Stream(t.Context(), bus.StreamSteps)
	require.NoError(t, err)
	for subject, digest := range want {
		m, err := stream.GetLastMsgForSubject(t.Context(), subject)
		require.NoError(t, err, subject)
		require.Equal(t, digest, schema.Digest(m.Data), subject)
		require.EqualValues(t, 1, published[subject], "%s, within the window of duplicates", subject)
	}
	ends := state(bus.StreamEnds)
	require.Len(t, ends.State.Subjects, n)
	require.EqualValues(t, n, ends.State.Msgs)
	require.Zero(t, state(bus.StreamDead).State.Msgs)
}
