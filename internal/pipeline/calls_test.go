package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

const patience = time.Minute

// sensible answers the questions of A, B and C.
func sensible(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
	var format struct {
		JSONSchema struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	}
	_ = json.Unmarshal(c.Fields["response_format"], &format)
	answer := `{"about":"yes","sentences":[1]}`
	switch {
	case strings.HasPrefix(format.JSONSchema.Name, "entity"):
		answer = `{"needed":"the father","aim":"aligned"}`
	case strings.HasPrefix(format.JSONSchema.Name, "abstain"):
		answer = `{"answer":"not given","stated":"no","quote":""}`
	}
	llmtest.Text(answer)(w, r, c)
}

// started is a pipeline whose A, B and C ask srv; D and E cost nothing.
func started(t *testing.T, url string, change ...func(*app.Config)) *Pipeline {
	t.Helper()
	cfg, err := app.LoadConfig(nil, func() []string { return nil })
	require.NoError(t, err)
	cfg.LLMURL, cfg.LLMModel, cfg.JudgeNLI, cfg.Secret = url, "scripted", "free", "of the test"
	for _, c := range change {
		c(&cfg)
	}
	p, err := Start(t.Context(), cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	return p
}

// publish sends rollouts of four steps each until there are n steps, and their
// ends.
func publish(t *testing.T, p *Pipeline, n int, question func(step int) string, deadline time.Duration) []schema.StepID {
	t.Helper()
	var all []schema.StepID
	for len(all) < n {
		end := &schema.RolloutEnd{Run: "r", Rollout: fmt.Sprintf("o%03d", len(all)/4), Question: "Q?", Answer: "x", Gold: []string{"x"}, DeadlineMS: (10 * time.Minute).Milliseconds()}
		for i := 1; i <= 4 && len(all) < n; i++ {
			s := &schema.Step{
				Run: end.Run, Rollout: end.Rollout, Index: i, Kind: schema.KindSearch,
				Question: question(len(all)), Query: fmt.Sprintf("father of person %d", len(all)),
				Text: "His father was John Ames.", Claim: fmt.Sprintf("The father of person %d was John Ames.", len(all)),
				Passages: []schema.Passage{{Title: "Ames", ByStep: i, Text: fmt.Sprintf("The father of person %d was John Ames.", len(all))}},
			}
			for k := 1; k < i; k++ {
				s.History = append(s.History, schema.Prior{Index: k, Query: fmt.Sprint("query ", k)})
			}
			ref, err := p.Client.PublishStep(t.Context(), s, client.Deadline(deadline))
			require.NoError(t, err)
			end.Steps = append(end.Steps, ref)
			all = append(all, schema.StepID{Run: s.Run, Rollout: s.Rollout, Index: i})
		}
		require.NoError(t, p.Client.PublishEnd(t.Context(), end))
	}
	return all
}

func (p *Pipeline) count(t *testing.T, stream string) int {
	t.Helper()
	s, err := p.Conn.JS.Stream(t.Context(), stream)
	require.NoError(t, err)
	return int(s.CachedInfo().State.Msgs)
}

func (p *Pipeline) label(t *testing.T, id schema.StepID) *schema.Label {
	t.Helper()
	l, err := bus.LabelOf(t.Context(), p.Conn.JS, id)
	require.NoError(t, err)
	require.NotNil(t, l, "no label of %s", id)
	return l
}

// gauge reads a metric of the process, -1 if there is none.
func (p *Pipeline) gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := p.process.Registry().Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

func TestPromise_P3_OneHungCallOf512DelaysOnlyItsOwnStep(t *testing.T) {
	t.Parallel()
	const n, hung, budget = 512, 200, 40 * time.Second
	srv := llmtest.New(t)
	hang := srv.Hang()
	srv.Then(func(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
		if strings.Contains(string(c.Body), "Never answered?") {
			hang(w, r, c)
			return
		}
		sensible(w, r, c)
	})
	p := started(t, srv.URL, func(c *app.Config) { c.Budget, c.LLMCallTimeout = budget, time.Minute })
	began := time.Now()
	all := publish(t, p, n, func(i int) string {
		if i == hung {
			return "Never answered?"
		}
		return "Who was the father?"
	}, 30*time.Minute)
	require.Eventually(t, func() bool { return p.count(t, bus.StreamLabels) == n-1 }, patience, 20*time.Millisecond)
	t.Logf("511 labels after %s", time.Since(began))
	require.Less(t, time.Since(began), budget, "511 are there before the hung one has had its time")
	for i, id := range all {
		if i != hung {
			require.Equal(t, schema.GapNone, p.label(t, id).Label, "%s", id)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := p.Client.WaitReward(ctx, all[hung].RolloutID())
	require.NoError(t, err)
	l := p.label(t, all[hung])
	require.Equal(t, schema.GapUngraded, l.Label)
	require.Equal(t, schema.ReasonJudgeTimeout, l.Reason)
	require.Equal(t, schema.StageEntity, l.Stage, "the stage that hung is named")
	last := l.Trail[len(l.Trail)-1]
	require.InDelta(t, budget.Seconds(), float64(last.LatencyUS)/1e6, 5)
	require.Equal(t, 1, last.Calls)
	require.Equal(t, 1, p.count(t, bus.StreamDead))
}

// outage is a server that can be cut off: connections are refused, and those
// that are open are dropped.
type outage struct {
	down    atomic.Bool
	refused atomic.Int64
}

func (o *outage) answer(w http.ResponseWriter, r *http.Request, c llmtest.Call) {
	if o.down.Load() {
		if o.refused.Add(1)%2 == 0 {
			llmtest.Status(502, "bad gateway")(w, r, c)
			return
		}
		panic(http.ErrAbortHandler)
	}
	time.Sleep(5 * time.Millisecond) // a model takes its time; a run must last into the outage
	sensible(w, r, c)
}

func TestAnEndpointThatIsDownForAWhileCostsTimeAndNothingElse(t *testing.T) {
	t.Parallel()
	const n, length = 600, 6 * time.Second
	o := &outage{}
	srv := llmtest.New(t, o.answer)
	p := started(t, srv.URL, func(c *app.Config) { c.LLMConcurrency = 16 })
	var publishing sync.WaitGroup
	var all []schema.StepID
	publishing.Go(func() { all = publish(t, p, n, func(int) string { return "Who was the father?" }, 5*time.Minute) })
	require.Eventually(t, func() bool { return p.count(t, bus.StreamLabels) >= n/10 }, patience, 5*time.Millisecond)
	o.down.Store(true)
	require.Eventually(t, func() bool { return p.gauge(t, "stepgap_judge_breaker_state") >= 1 }, patience, 10*time.Millisecond)
	publishing.Wait()
	up := time.After(length)
	before := p.count(t, bus.StreamLabels)
	require.Less(t, before, n-100, "the outage was in mid-run")
	<-up
	require.Equal(t, n, p.count(t, bus.StreamSteps)+p.count(t, bus.StreamQuote)+p.count(t, bus.StreamLocal)+p.count(t, bus.StreamLabels), "nothing is lost")
	require.Less(t, o.refused.Load(), int64(400), "nobody hammers what is down")
	o.down.Store(false)

	// The run goes on by itself.
	require.Eventually(t, func() bool { return p.count(t, bus.StreamLabels) == n }, patience, 20*time.Millisecond)
	for _, id := range all {
		require.Equal(t, schema.GapNone, p.label(t, id).Label, "%s", id)
	}
	require.Zero(t, p.count(t, bus.StreamDead))
	require.Zero(t, p.gauge(t, "stepgap_judge_breaker_state"))
	kv, err := p.Conn.JS.KeyValue(t.Context(), bus.BucketAttempts)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kv.Keys(t.Context())
		return err == jetstream.ErrNoKeysFound
	}, patience, 50*time.Millisecond, "no attempt is counted")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := 0; i < n; i += 4 {
		reward, err := p.Client.WaitReward(ctx, all[i].RolloutID())
		require.NoError(t, err)
		require.True(t, reward.Complete)
	}
}

func TestAStepWithoutADeadlineIsNotTriedForEver(t *testing.T) {
	t.Parallel()
	const n, giveUp = 200, 4 * time.Second
	for name, reply := range map[string]llmtest.Reply{
		"down":         llmtest.Status(503, "down"),
		"always a 429": llmtest.Status(429, "slow"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, reply)
			p := started(t, srv.URL, func(c *app.Config) { c.GiveUpAfter = giveUp })
			steps := n
			if name != "down" {
				steps = 40 // most wait for their turn
			}
			all := publish(t, p, steps, func(int) string { return "Who was the father?" }, 0)
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			for i := 0; i < steps; i += 4 {
				_, err := p.Client.WaitReward(ctx, all[i].RolloutID())
				require.NoError(t, err)
			}
			for _, id := range all {
				l := p.label(t, id)
				require.Equal(t, schema.GapUngraded, l.Label)
				require.Equal(t, schema.ReasonJudgeError, l.Reason)
				require.Contains(t, l.Detail, "has failed for")
			}
			require.Eventually(t, func() bool { return p.count(t, bus.StreamDead) == steps }, patience, 20*time.Millisecond)
		})
	}
}
