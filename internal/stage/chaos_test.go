package stage_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// route decides by the step's id, so that every run of the tree must come to
// the same labels.
func route(s schema.Stage) tree.Decider {
	hops := map[schema.Stage][]tree.Hop{
		schema.StageEntity:  {tree.HopAbstain, tree.HopQuote, tree.HopCross, tree.HopDone},
		schema.StageAbstain: {tree.HopQuote, tree.HopDone},
		schema.StageQuote:   {tree.HopLocal, tree.HopCross, tree.HopDone},
	}
	return tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
		h := fnv.New32a()
		fmt.Fprint(h, s, item.Step.Rollout, item.Step.Index)
		n := int(h.Sum32() >> 3)
		if of := hops[s]; of != nil {
			if hop := of[n%len(of)]; hop != tree.HopDone {
				return tree.Forward(item, hop, schema.TrailEntry{Stage: s, Outcome: "passed"}), nil
			}
		}
		if s == schema.StageCross {
			if d, err := waitsForAll(nil).Decide(ctx, item); d.Wait || err != nil {
				return d, err
			}
		}
		gap := []schema.Gap{schema.GapNone, schema.GapContradicted, schema.GapIrrelevant, schema.GapMissingBridge}[n%4]
		return tree.Verdict(item, gap, "", "", schema.TrailEntry{Stage: s, Outcome: string(gap)}), nil
	})
}

// outcome is what a run of the whole tree came to.
type outcome struct {
	labels  map[schema.StepID]schema.Gap
	rewards map[schema.RolloutID]float64
}

// wholeTree runs rollouts through all stages and the aggregator. Every message
// is published copies times, in random order, and the processes are killed kills
// times each.
func wholeTree(t *testing.T, seed uint64, copies, kills int) outcome {
	t.Helper()
	const rollouts, steps = 12, 5
	w := newWorld(t, bus.Options{})
	rng := rand.New(rand.NewPCG(seed, 0))
	var messages []*nats.Msg
	for i := range rollouts {
		id := rolloutID(fmt.Sprintf("o%d", i))
		e := &schema.RolloutEnd{Question: "q", Answer: "a"}
		for n := 1; n <= steps; n++ {
			body := bodyOf(t, id.Step(n))
			e.Steps = append(e.Steps, schema.StepRef{Index: n, Digest: schema.Digest(body)})
			messages = append(messages, bus.Message(id.Step(n).Subject(schema.PrefixSteps), body))
		}
		body, err := schema.Encode(e)
		require.NoError(t, err)
		messages = append(messages, bus.Message(id.Subject(schema.PrefixEnds), body))
	}
	for range copies - 1 {
		messages = append(messages, messages[:rollouts*(steps+1)]...)
	}
	rng.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })

	slow := func(d tree.Decider, pause time.Duration) tree.Decider {
		return tree.DeciderFunc(func(ctx context.Context, item *tree.Item) (tree.Decision, error) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			return d.Decide(ctx, item)
		})
	}
	var start []func() *loop
	for _, s := range treeStages() {
		pause := time.Duration(rng.IntN(20)) * time.Millisecond
		start = append(start, func() *loop { return w.runStage(s, slow(route(s.stage), pause)) })
	}
	start = append(start, func() *loop { return w.runAggregator() })
	running := make([]*loop, len(start))
	for i := range start {
		running[i] = start[i]()
	}
	for i, m := range messages {
		w.publish(m)
		if every := len(messages) / (kills*len(start) + 1); i%every == every-1 && kills > 0 {
			victim := rng.IntN(len(running))
			running[victim].kill()
			running[victim] = start[victim]()
		}
	}
	o := outcome{map[schema.StepID]schema.Gap{}, map[schema.RolloutID]float64{}}
	for i := range rollouts {
		id := rolloutID(fmt.Sprintf("o%d", i))
		for n := 1; n <= steps; n++ {
			o.labels[id.Step(n)] = w.label(id.Step(n)).Label
		}
		r := w.reward(id)
		require.NotNil(t, r.Process, "%s: %s %s", id, r.Reason, r.Detail)
		o.rewards[id] = *r.Process
	}
	w.empty(bus.StreamSteps, bus.StreamAbstain, bus.StreamQuote, bus.StreamLocal, bus.StreamCross, bus.StreamEnds)
	w.exactly(bus.StreamLabels, rollouts*steps)
	w.exactly(bus.StreamRewards, rollouts)
	require.Zero(t, w.count(bus.StreamDead))
	return o
}

func TestPromise_P1_KilledDuplicatedReorderedAndStillTheSameLabelsAndRewards(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	calm := wholeTree(t, seed, 1, 0)
	require.Equal(t, calm, wholeTree(t, seed+1, 2, 3))
	seen := map[schema.Gap]bool{}
	for _, gap := range calm.labels {
		seen[gap] = true
	}
	require.Len(t, seen, 4)
}
