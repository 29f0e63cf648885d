package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/gateway"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestEveryFormOfARolloutIsScored(t *testing.T) {
	t.Parallel()
	s := alive(t)
	for name, body := range forms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.post("/v1/score?wait=60s", body)
			require.Equal(t, http.StatusOK, a.status, "%s", a.body)
			require.Equal(t, "/v1/rewards/r/"+name, a.header.Get("Location"))
			var reward schema.Reward
			a.into(t, &reward)
			require.NoError(t, reward.Validate())
			require.NotNil(t, reward.Process, "%s", a.body)
			require.Equal(t, "q12", reward.Group)
			require.Equal(t, 8, reward.GroupSize)
			require.Len(t, reward.Steps, 3)
			require.Equal(t, 1.0, *reward.Outcome.EM)
			for _, step := range reward.Steps {
				require.NotEqual(t, schema.GapUngraded, step.Label)
			}
			require.NotNil(t, reward.Steps[0].BaseAt, "the text's spans reach the reward")

			var labels gateway.Labels
			s.get("/v1/labels/r/"+name).into(t, &labels)
			require.Len(t, labels.Labels, 3)
			for i, l := range labels.Labels {
				require.Equal(t, i+1, l.Index)
				require.NotEmpty(t, l.Trail)
			}
			again := s.get("/v1/rewards/r/" + name)
			require.Equal(t, http.StatusOK, again.status)
			require.Equal(t, a.body, again.body, "what stands does not change")
		})
	}
}

// Labels are those that a check of the same rollout gives, by the real model.
func TestTheLoopWithTheNLIModel(t *testing.T) {
	t.Parallel()
	if os.Getenv("STEPGAP_NLI_MODEL") == "" {
		t.Skip("set STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB")
	}
	s := over(t, judged(t, func(c *app.Config) {
		c.NLIModel, c.ORTLib, c.NLILanes = os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB"), 1
	}), nil)
	good, wrong := rollout("good"), rollout("wrong")
	wrong["text"] = strings.ReplaceAll(text, "written by Mara Quill", "written by Tom Barrow")
	for _, r := range []object{good, wrong} {
		require.Equal(t, http.StatusAccepted, s.post("/v1/rollouts", r).status)
	}
	label := func(id string) schema.Gap {
		a := s.get("/v1/rewards/r/" + id + "?wait=60s")
		require.Equal(t, http.StatusOK, a.status, "%s", a.body)
		var reward schema.Reward
		a.into(t, &reward)
		require.NotNil(t, reward.Process)
		return reward.Steps[0].Label
	}
	require.Equal(t, schema.GapNone, label("good"))
	require.NotEqual(t, schema.GapNone, label("wrong"))
}

func TestFiftyWaitAtOnce(t *testing.T) {
	t.Parallel()
	s := alive(t)
	const n = 50
	answers := make(chan *answer, n)
	var waiting sync.WaitGroup
	for i := range n {
		waiting.Go(func() { answers <- s.get(fmt.Sprintf("/v1/rewards/r/o%d?wait=60s", i/2)) }) // two a rollout
	}
	batch := make([]object, n/2)
	for i := range batch {
		batch[i] = rollout(fmt.Sprint("o", i))
	}
	require.Equal(t, http.StatusAccepted, s.post("/v1/rollouts:batch", object{"rollouts": batch}).status)
	waiting.Wait()
	close(answers)
	for a := range answers {
		require.Equal(t, http.StatusOK, a.status, "%s", a.body)
		var reward schema.Reward
		a.into(t, &reward)
		require.NotNil(t, reward.Process)
	}
}

func TestOneBadRolloutOfABatchHoldsNoOtherBack(t *testing.T) {
	t.Parallel()
	s := alive(t)
	mixed := []any{
		rollout("a"), object{"run": "r", "rollout": "b", "texte": "x"}, rollout("a"), object{"rollout": "c", "text": text, "question": "?"},
		object{"run": "r", "rollout": "d", "text": text}, forms()["steps"], object{"run": "r", "rollout": "e", "text": 7}, nil, []int{1},
	}
	b := s.request(http.MethodPost, "/v1/rollouts:batch", marshal(t, object{"rollouts": mixed}))
	a := s.send(b)
	require.Equal(t, http.StatusMultiStatus, a.status, "%s", a.body)
	var result gateway.BatchResult
	a.into(t, &result)
	require.Equal(t, 2, result.Accepted)
	require.Equal(t, len(mixed)-2, result.Refused)
	require.Len(t, result.Results, len(mixed))
	for i, field := range []string{"", "rollouts[1].texte", "rollouts[2].rollout", "rollouts[3].run", "rollouts[4].question", "", "rollouts[6].text", "rollouts[7]", "rollouts[8]"} {
		p := result.Results[i].Problem
		if i == 0 || i == 5 {
			require.Nil(t, p, "%d", i)
			continue
		}
		require.NotNil(t, p, "%d", i)
		require.Equal(t, field, p.Field, "%d: %s", i, p.Detail)
	}
	for _, id := range []string{"a", "steps"} {
		require.Equal(t, http.StatusOK, s.get("/v1/rewards/r/"+id+"?wait=60s").status)
	}
}

// Posting again is safe: nothing is judged twice, and no second reward comes.
func TestPromise_P1_PostedTwiceIsScoredOnce(t *testing.T) {
	t.Parallel()
	s := alive(t)
	for _, form := range []string{"text", "steps"} {
		first := s.post("/v1/score?wait=60", forms()[form])
		second := s.post("/v1/score?wait=60", forms()[form])
		require.Equal(t, http.StatusOK, first.status, "%s", first.body)
		require.Equal(t, first.body, second.body)
	}
	require.Zero(t, count(t, s.conn, bus.StreamDead))
}

func TestPromise_P2_WhileThePipelineStandsNothingIsANumber(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	a := s.post("/v1/score?wait=150ms", rollout("o"))
	require.Equal(t, http.StatusAccepted, a.status, "%s", a.body)
	require.NotEmpty(t, a.header.Get("Retry-After"))
	var pending object
	a.into(t, &pending)
	require.Equal(t, object{"run": "r", "rollout": "o", "state": "pending", "labels": 0.0}, pending)
	for _, wait := range []string{"", "?wait=0", "?wait=50ms", "?wait=0.05"} {
		a := s.get("/v1/rewards/r/never-posted" + wait)
		require.Equal(t, http.StatusAccepted, a.status)
		require.NotContains(t, string(a.body), "process")
	}
	var labels gateway.Labels
	s.get("/v1/labels/r/o").into(t, &labels)
	require.Empty(t, labels.Labels)
}

// Whoever waits is answered when the gateway is stopped, not cut off.
func TestAStoppingGatewayAnswersWhoeverWaits(t *testing.T) {
	t.Parallel()
	s := stopped(t, bus.Options{})
	require.Equal(t, http.StatusAccepted, s.get("/v1/rewards/r/o").status)
	before := s.conn.NC.NumSubscriptions()
	arrived := make(chan *answer, 1)
	go func() { arrived <- s.get("/v1/rewards/r/o?wait=60s") }()
	require.Eventually(t, func() bool { return s.conn.NC.NumSubscriptions() > before }, patience, time.Millisecond)
	s.stop()
	select {
	case a := <-arrived:
		require.Equal(t, http.StatusAccepted, a.status)
	case <-time.After(patience):
		require.FailNow(t, "no answer")
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func count(t *testing.T, conn *bus.Conn, stream string) uint64 {
	t.Helper()
	s, err := conn.JS.Stream(t.Context(), stream)
	require.NoError(t, err)
	return s.CachedInfo().State.Msgs
}
