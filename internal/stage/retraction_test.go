package stage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// nliProfile is paper with retractions that an NLI model is asked about.
func nliProfile(t testing.TB) *rewardagg.Profile {
	t.Helper()
	src, err := rewardagg.ProfileYAML("paper")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "nli.yaml")
	mine := strings.Replace(string(src), "mode: pattern", "mode: nli\n  contradiction: {value: 0.5, source: test}", 1)
	require.NoError(t, os.WriteFile(path, []byte(mine), 0o600))
	p, err := rewardagg.LoadProfile(path)
	require.NoError(t, err)
	return p
}

// standRetraction gives a contradicted step and one that takes it back.
func (w *world) standRetraction(id schema.RolloutID) {
	w.t.Helper()
	for i, l := range []schema.Label{
		{Label: schema.GapContradicted, Facts: &schema.Facts{Kind: schema.KindSearch, Text: "She was born in 1820.", Claim: "She was born in 1820."}},
		{Label: schema.GapNone, Facts: &schema.Facts{Kind: schema.KindSearch, Text: "I was mistaken: she was born in 1815.", Claim: "She was born in 1815."}},
	} {
		l.Digest, l.Repair, l.Stage = digestOf(i+1), l.Label.Repair(), schema.StageLocal
		body, err := schema.Encode(&l)
		require.NoError(w.t, err)
		w.publish(bus.Message(id.Step(i+1).Subject(schema.PrefixLabels), body))
	}
}

func TestAnAggregatorAsksWhetherAClaimIsContradicted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	p := nliProfile(t)
	var failures atomic.Int32
	w.runAggregator(func(o *stage.RewardOptions) {
		o.Profile = p
		o.Ask = func(_ context.Context, questions []rewardagg.Question) (map[rewardagg.Question]schema.Scores, error) {
			if failures.Add(1) == 1 {
				return nil, errors.New("the model is away")
			}
			answers := map[rewardagg.Question]schema.Scores{}
			for _, q := range questions {
				answers[q] = schema.Scores{Contradiction: 0.9, Neutral: 0.1}
			}
			return answers, nil
		}
	})
	id := rolloutID("o")
	w.standRetraction(id)
	w.publishEnd(id, end(2))
	r := w.reward(id)
	require.Equal(t, schema.ShapeRetracted, r.Steps[0].ShapeReason, "asked again after the failure")
	require.NotNil(t, r.Steps[0].Shape)
}

func TestAModelThatStaysAwayTakesTheNumberNotTheReward(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	p := nliProfile(t)
	w.runAggregator(func(o *stage.RewardOptions) {
		o.Profile = p
		o.Ask = func(context.Context, []rewardagg.Question) (map[rewardagg.Question]schema.Scores, error) {
			return nil, errors.New("the model is away")
		}
	})
	id := rolloutID("o")
	w.standRetraction(id)
	w.publishEnd(id, end(2, deadlineMS(50*time.Millisecond)))
	r := w.reward(id)
	require.NotNil(t, r.Process)
	require.Nil(t, r.Steps[0].Shape)
	require.NotNil(t, r.Steps[0].Base)
}

func TestAProfileThatAsksNeedsSomeoneToAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Options{})
	_, err := stage.NewRewardHandler(stage.RewardOptions{Conn: w.conn, Profile: nliProfile(t), Waker: w.waker(w.conn)})
	require.ErrorContains(t, err, "NLI")
}
