package e2e

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestPromise_P5_SixProcessesSayWhatOneSays(t *testing.T) {
	file := input(t)
	want := results(t, "check", "--judge", "local", "--json", file)
	require.NotEmpty(t, want)

	url := natsServer(t)
	for _, r := range app.Roles() {
		role(t, url, string(r))
	}
	got := results(t, "publish", "--nats", url, "--wait", "--json", file)
	requireEqual(t, want, got)
	requireNothingLeft(t, url, want)
}

func TestPromise_P1_PublishedTwiceAndKilledTenTimes(t *testing.T) {
	file, limit := input(t), 0
	if os.Getenv("STEPGAP_DATA") != "" {
		limit = 120 // of the 585, for each role
	}
	want := results(t, "check", "--judge", "local", "--json", "--limit", strconv.Itoa(limit), file)
	for _, victim := range app.Roles() {
		if victim == app.RoleSplit {
			continue // steps don't pass it; its own test is beside this one
		}
		t.Run(string(victim), func(t *testing.T) { killedTenTimes(t, string(victim), file, limit, want) })
	}
}

func killedTenTimes(t *testing.T, victim, file string, limit int, want map[string]*check.Result) {
	url := natsServer(t)
	roles := map[string]*process{}
	for _, r := range app.Roles() {
		roles[string(r)] = role(t, url, string(r))
	}
	conn := dial(t, url)
	heard := make(chan struct{}, 1)
	var labels atomic.Int64
	sub, err := conn.NC.Subscribe(schema.PrefixLabels+".>", func(*nats.Msg) {
		labels.Add(1)
		select {
		case heard <- struct{}{}:
		default:
		}
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, sub.Unsubscribe()) }()

	const run = "twice"
	published := make(chan map[string]*check.Result, 1)
	go func() {
		published <- results(t, "publish", "--nats", url, "--run", run, "--wait", "--json", "--limit", strconv.Itoa(limit), file)
	}()
	again := make(chan error, 1)
	go func() { again <- publishRaw(t.Context(), conn, run, file, limit) }()

	steps := 0
	for _, r := range want {
		steps += len(r.Steps)
	}
	const kills = 10
	for i := range kills {
		// Spread over the run: a kill each time another eleventh is labelled,
		// or when nothing moves because the victim has just come back.
		due := int64((i + 1) * steps / (kills + 1))
		for labels.Load() < due {
			select {
			case <-heard:
				continue
			case <-time.After(300 * time.Millisecond):
			}
			break
		}
		roles[victim].kill()
		roles[victim] = role(t, url, victim)
	}
	var got map[string]*check.Result
	select {
	case got = <-published:
	case <-time.After(8 * time.Minute):
		require.FailNow(t, "the rollouts did not complete")
	}
	require.NoError(t, <-again)
	requireEqual(t, want, got)
	requireNothingLeft(t, url, want)
}

// publishRaw publishes every step and end a second time, without the message id
// by which the server would recognise them.
func publishRaw(ctx context.Context, conn *bus.Conn, run, file string, limit int) error {
	rollouts, err := transcript.Open(file, transcript.Options{})
	if err != nil {
		return err
	}
	n := 0
	for rollout, err := range rollouts {
		if err != nil {
			return err
		}
		if n++; limit > 0 && n > limit {
			return nil
		}
		id := schema.RolloutID{Run: run, Rollout: transcript.SafeID(rollout.ID)}
		end := check.NewEnd(rollout, id, check.Options{})
		end.Run, end.Rollout = "", ""
		for i := range rollout.Steps {
			s := rollout.Steps[i]
			s.Run, s.Rollout = id.Run, id.Rollout
			body, err := client.EncodeStep(&s)
			if err != nil {
				return err
			}
			m := bus.Message(id.Step(s.Index).Subject(schema.PrefixSteps), body)
			m.Header.Set(schema.HeaderDeadline, "0s")
			if _, err := bus.Publish(ctx, conn.JS, m); err != nil {
				return err
			}
			end.Steps = append(end.Steps, schema.StepRef{Index: s.Index, Digest: schema.Digest(body)})
		}
		body, err := schema.Encode(end)
		if err != nil {
			return err
		}
		if _, err := bus.Publish(ctx, conn.JS, bus.Message(id.Subject(schema.PrefixEnds), body)); err != nil {
			return err
		}
	}
	return nil
}

// requireNothingLeft holds the streams against the results: one label a step,
// one reward a rollout, empty queues, no dead letters.
func requireNothingLeft(t *testing.T, url string, want map[string]*check.Result) {
	t.Helper()
	conn := dial(t, url)
	steps := 0
	for _, r := range want {
		steps += len(r.Steps)
	}
	count := func(stream string) uint64 {
		s, err := conn.JS.Stream(t.Context(), stream)
		require.NoError(t, err)
		return s.CachedInfo().State.Msgs
	}
	for _, queue := range []string{bus.StreamSteps, bus.StreamAbstain, bus.StreamQuote, bus.StreamLocal, bus.StreamCross, bus.StreamEnds} {
		require.Eventually(t, func() bool { return count(queue) == 0 }, 2*time.Minute, 50*time.Millisecond, "%s is empty", queue)
	}
	require.EqualValues(t, steps, count(bus.StreamLabels), "one label a step")
	require.EqualValues(t, len(want), count(bus.StreamRewards), "one reward a rollout")
	require.Zero(t, count(bus.StreamDead), "no dead letters")
}

func dial(t *testing.T, url string) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Config{URL: url, Name: t.Name()})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}
