package runlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
)

func label(run, rollout string, index int) *schema.Label {
	return &schema.Label{Run: run, Rollout: rollout, Index: index, Digest: strings.Repeat("a", 64), Label: schema.GapNone, Repair: schema.RepairNone, Stage: schema.StageLocal}
}

func reward(run, rollout string) *schema.Reward {
	v := 0.2
	return &schema.Reward{Run: run, Rollout: rollout, Process: &v, Steps: []schema.StepReward{{Index: 1, Label: schema.GapNone, Repair: schema.RepairNone}}}
}

func TestEachGivesRewardsInTheirOrderWithTheirLabels(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{})
	put := func(subject string, m any) {
		var body []byte
		var err error
		switch v := m.(type) {
		case *schema.Label:
			body, err = schema.Encode(v)
		case *schema.Reward:
			body, err = schema.Encode(v)
		}
		require.NoError(t, err)
		stands, err := bus.PublishOnce(t.Context(), conn.JS, bus.Message(subject, body))
		require.NoError(t, err)
		require.True(t, stands)
	}
	for _, rollout := range []string{"c", "a", "b"} {
		id := schema.RolloutID{Run: "r", Rollout: rollout}
		put(id.Step(1).Subject(schema.PrefixLabels), label("r", rollout, 1))
		put(id.Step(2).Subject(schema.PrefixLabels), label("r", rollout, 2))
		put(id.Subject(schema.PrefixRewards), reward("r", rollout))
	}
	other := schema.RolloutID{Run: "other", Rollout: "x"}
	put(other.Subject(schema.PrefixRewards), reward("other", "x"))

	var seen []string
	require.NoError(t, runlog.Each(t.Context(), conn.JS, "r", func(r *runlog.Rollout) error {
		seen = append(seen, r.Reward.Rollout)
		require.Len(t, r.Labels, 2)
		require.False(t, r.At.IsZero())
		return nil
	}))
	require.Equal(t, []string{"c", "a", "b"}, seen)
	stop := errors.New("stop")
	require.ErrorIs(t, runlog.Each(t.Context(), conn.JS, "r", func(*runlog.Rollout) error { return stop }), stop)
	require.ErrorIs(t, runlog.Each(t.Context(), conn.JS, "nobody", func(*runlog.Rollout) error { return nil }), runlog.ErrNothing)
}

func TestReadTakesWhatWatchPrints(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	enc := json.NewEncoder(&file)
	for _, v := range []any{reward("r", "a"), label("r", "a", 1), label("r", "b", 1), reward("r", "b"), label("r", "b", 2), reward("s", "a")} {
		require.NoError(t, enc.Encode(v))
	}
	got := map[schema.RolloutID]int{}
	var order []string
	require.NoError(t, runlog.Read(&file, func(r *runlog.Rollout) error {
		got[r.ID()] = len(r.Labels)
		order = append(order, r.ID().Run+r.ID().Rollout)
		return nil
	}))
	require.Equal(t, map[schema.RolloutID]int{{Run: "r", Rollout: "a"}: 1, {Run: "r", Rollout: "b"}: 2, {Run: "s", Rollout: "a"}: 0}, got)
	require.Equal(t, []string{"ra", "rb", "sa"}, order)
}

// A watch that is begun again prints all that stands once more.
func TestReadCountsWhatWasPrintedTwiceOnce(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	enc := json.NewEncoder(&file)
	for range 2 {
		for _, v := range []any{label("r", "a", 1), reward("r", "a"), reward("r", "b")} {
			require.NoError(t, enc.Encode(v))
		}
	}
	var order []string
	read := func() error {
		order = nil
		return runlog.Read(bytes.NewReader(file.Bytes()), func(r *runlog.Rollout) error {
			order = append(order, r.ID().Rollout)
			return nil
		})
	}
	require.NoError(t, read())
	require.Equal(t, []string{"a", "b"}, order)
	other := reward("r", "a")
	other.Answer += " or not"
	require.NoError(t, enc.Encode(other))
	require.ErrorContains(t, read(), "line 7: another reward of")
	require.Empty(t, order)
}

func TestReadNamesTheLineThatIsWrong(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(reward("r", "a"))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                                    "no reward stands",
		string(good) + "\n{":                  "line 2",
		string(good) + "\n\n[]":               "line 3",
		`{"index": 1}`:                        "neither a label nor a reward",
		`{"label": "none", "run": "r"}`:       "not a label",
		`{"outcome": {}, "run": "r"}`:         "not a reward",
		`{"outcome": {}, "process": "a lot"}`: "not a reward",
	} {
		require.ErrorContains(t, runlog.Read(strings.NewReader(text), func(*runlog.Rollout) error { return nil }), want, text)
	}
}
