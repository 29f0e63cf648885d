package rescore_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/examples"
	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/rescore"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

func profile(t testing.TB, name string) *rewardagg.Profile {
	t.Helper()
	p, err := rewardagg.LoadProfile(name)
	require.NoError(t, err)
	return p
}

var defaults = nliworker.ThresholdsOf(nliworker.Defaults())

// start runs the whole pipeline with the local judge and the real NLI model.
func start(t *testing.T, th nliworker.Thresholds) *pipeline.Pipeline {
	t.Helper()
	cfg, err := app.LoadConfig(nil, os.Environ)
	require.NoError(t, err)
	if cfg.NLIModel == "" || cfg.ORTLib == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	cfg.Judge, cfg.Budget, cfg.Profile = "local", 10*time.Minute, rewardagg.DefaultProfile
	cfg.NLIEntailment, cfg.NLIContradiction = th.Entailment, th.Contradiction
	pipe, err := pipeline.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pipe.Stop()) })
	return pipe
}

func label(t *testing.T, pipe *pipeline.Pipeline, run string, rollouts iter.Seq2[*transcript.Rollout, error]) {
	t.Helper()
	_, err := check.Run(t.Context(), pipe.Client, rollouts, check.Options{Run: run, Window: 6}, func(*check.Result) error { return nil })
	require.NoError(t, err)
}

func ours(t *testing.T) iter.Seq2[*transcript.Rollout, error] {
	t.Helper()
	text, err := examples.Open("rollouts.jsonl")
	require.NoError(t, err)
	return transcript.Decode(strings.NewReader(text), "rollouts.jsonl", transcript.Options{})
}

// read is all of a run, by rollout.
func read(t *testing.T, conn *bus.Conn, run string) map[string]*runlog.Rollout {
	t.Helper()
	all := map[string]*runlog.Rollout{}
	require.NoError(t, runlog.Each(context.Background(), conn.JS, run, func(r *runlog.Rollout) error {
		all[r.Reward.Rollout] = r
		return nil
	}))
	return all
}

// asRun is a reward as if it were of that run.
func asRun(r schema.Reward, run string) schema.Reward {
	r.Run = run
	return r
}

func TestRescoringUnderTheSameProfileGivesEqualRewards(t *testing.T) {
	t.Parallel()
	pipe := start(t, defaults)
	label(t, pipe, "first", ours(t))
	before := read(t, pipe.Conn, "first")
	o := rescore.Options{As: "second", Profile: profile(t, rewardagg.DefaultProfile), Was: defaults, Now: defaults}
	report, err := rescore.Run(t.Context(), pipe.Conn, "first", o, nil)
	require.NoError(t, err)
	require.Equal(t, len(before), report.Rollouts)
	require.Empty(t, report.Changes)
	after := read(t, pipe.Conn, "second")
	require.Len(t, after, len(before))
	for name, r := range before {
		require.Equal(t, asRun(*r.Reward, "second"), *after[name].Reward, name)
		for i, l := range r.Labels {
			got := after[name].Labels[i]
			require.Equal(t, l.Label, got.Label)
			require.Equal(t, l.Digest, got.Digest)
			require.Equal(t, l.Facts, got.Facts)
			for _, e := range got.Trail {
				require.Zero(t, e.Calls, "what a verdict cost was spent for the first run")
			}
		}
	}
	require.Equal(t, before, read(t, pipe.Conn, "first"), "the run itself is as it was")

	// Once more, as after a cut: nothing changes, and nothing fails.
	again, err := rescore.Run(t.Context(), pipe.Conn, "first", o, nil)
	require.NoError(t, err)
	require.Equal(t, report, again)
	require.Equal(t, after, read(t, pipe.Conn, "second"))

	// The same run for something else.
	o.Profile = profile(t, "paper")
	_, err = rescore.Run(t.Context(), pipe.Conn, "first", o, nil)
	require.ErrorIs(t, err, rescore.ErrStands)

	o.As = "third"
	_, err = rescore.Run(t.Context(), pipe.Conn, "first", o, nil)
	require.NoError(t, err)
	for name, r := range read(t, pipe.Conn, "third") {
		require.Equal(t, "paper", r.Reward.Profile)
		require.Equal(t, o.Profile.Hash(), r.Reward.ProfileHash)
		require.Equal(t, before[name].Reward.Outcome, r.Reward.Outcome)
		require.Equal(t, before[name].Reward.EndDigest, r.Reward.EndDigest)
	}
	require.Equal(t, pin(t, pipe.Conn, "first", schema.StageLocal), pin(t, pipe.Conn, "third", schema.StageLocal))
	require.Equal(t, o.Profile.Hash(), pin(t, pipe.Conn, "third", schema.StageReward))
}

func pin(t *testing.T, conn *bus.Conn, run string, stage schema.Stage) string {
	t.Helper()
	kv, err := conn.JS.KeyValue(t.Context(), bus.BucketRuns)
	require.NoError(t, err)
	e, err := kv.Get(t.Context(), run+"."+string(stage))
	require.NoError(t, err)
	return string(e.Value())
}

func TestRescoringUnderOtherThresholdsIsAFreshRunWhereTheTrailSuffices(t *testing.T) {
	t.Parallel()
	agrees(t, func() iter.Seq2[*transcript.Rollout, error] { return ours(t) })
}

func TestRescoringRealRolloutsUnderOtherThresholdsIsAFreshRun(t *testing.T) {
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set: the data set is not part of the project")
	}
	const every = 12 // of 585
	agrees(t, func() iter.Seq2[*transcript.Rollout, error] {
		records, err := transcript.Open(filepath.Join(data, "rollouts", "normalized.jsonl"), transcript.Options{})
		require.NoError(t, err)
		return func(yield func(*transcript.Rollout, error) bool) {
			n := 0
			for r, err := range records {
				if n++; (err != nil || n%every == 0) && !yield(r, err) {
					return
				}
			}
		}
	})
}

// agrees rescores rollouts under several thresholds, and holds every label that a
// trail suffices for against a fresh run.
func agrees(t *testing.T, rollouts func() iter.Seq2[*transcript.Rollout, error]) {
	t.Helper()
	pipe := start(t, defaults)
	label(t, pipe, "first", rollouts())
	for i, now := range []nliworker.Thresholds{{Entailment: 0.7, Contradiction: 0.5}, {Entailment: 0.5, Contradiction: 0.8}, {Entailment: 0.3, Contradiction: 0.3}} {
		run := fmt.Sprintf("as-%d", i)
		report, err := rescore.Run(t.Context(), pipe.Conn, "first", rescore.Options{As: run, Profile: profile(t, rewardagg.DefaultProfile), Was: defaults, Now: now}, nil)
		require.NoError(t, err)
		require.NotEqual(t, pin(t, pipe.Conn, "first", schema.StageLocal), pin(t, pipe.Conn, run, schema.StageLocal), "no worker may label more steps of it")
		fresh := start(t, now)
		label(t, fresh, "fresh", rollouts())
		want := read(t, fresh.Conn, "fresh")
		same, whole := 0, 0
		for name, r := range read(t, pipe.Conn, run) {
			complete := true
			for index, l := range r.Labels {
				if l.Reason == schema.ReasonNotInTrail {
					complete = false
					continue
				}
				require.Equal(t, want[name].Labels[index].Label, l.Label, "%s step %d under %+v", name, index, now)
				same++
			}
			if complete && want[name].Reward.Process != nil {
				require.NotNil(t, r.Reward.Process)
				require.InDelta(t, *want[name].Reward.Process, *r.Reward.Process, 1e-12, name)
				whole++
			}
		}
		t.Logf("%+v: %d of %d labels known and those of a fresh run, %d of %d rollouts whole; %v", now, same, report.Labels, whole, report.Rollouts, report.Changes)
		require.Positive(t, same)
	}
}

func TestRescoreRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	p := profile(t, rewardagg.DefaultProfile)
	ok := rescore.Options{As: "b", Profile: p, Was: defaults, Now: defaults}
	require.NoError(t, ok.Validate("a"))
	for want, change := range map[string]func(*rescore.Options){
		"can't be rescored as itself": func(o *rescore.Options) { o.As = "a" },
		"profile":                     func(o *rescore.Options) { o.Profile = nil },
		"entailment":                  func(o *rescore.Options) { o.Now.Entailment = 1.5 },
		"contradiction":               func(o *rescore.Options) { o.Was.Contradiction = 0 },
		"run":                         func(o *rescore.Options) { o.As = "b c" },
	} {
		o := ok
		change(&o)
		require.ErrorContains(t, o.Validate("a"), want)
	}
}

// What was wrong with a rollout before its labels counted stays so.
func TestNullRewardsStayNullForTheirReason(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	for _, reason := range []schema.Reason{schema.ReasonMalformed, schema.ReasonLabelsExpired, schema.ReasonConfigMismatch, schema.ReasonAborted, schema.ReasonNoSteps} {
		standing := schema.Reward{Run: "r", Rollout: "o", Reason: reason, Detail: "why", Profile: "stepgap", ProfileHash: "x", EndDigest: strings.Repeat("d", 64)}
		if reason == schema.ReasonAborted {
			standing.Steps = []schema.StepReward{{Index: 1, Label: schema.GapUngraded, Reason: schema.ReasonMissing}}
		}
		plan, err := rescore.Of(&runlog.Rollout{Reward: &standing}, rescore.Options{As: "r2", Profile: p, Was: defaults, Now: defaults})
		require.NoError(t, err)
		require.Nil(t, plan.Reward.Process)
		require.Equal(t, reason, plan.Reward.Reason)
		require.Equal(t, "paper", plan.Reward.Profile)
		require.Equal(t, p.Hash(), plan.Reward.ProfileHash)
		require.Equal(t, "r2", plan.Reward.Run)
	}
	// A label that has expired since leaves no number behind.
	gone := schema.Reward{Run: "r", Rollout: "o", Process: new(float64), Steps: []schema.StepReward{{Index: 1, Label: schema.GapNone}}}
	plan, err := rescore.Of(&runlog.Rollout{Reward: &gone}, rescore.Options{As: "r2", Profile: p, Was: defaults, Now: defaults})
	require.NoError(t, err)
	require.Nil(t, plan.Reward.Process)
	require.Equal(t, schema.ReasonLabelsExpired, plan.Reward.Reason)
}
