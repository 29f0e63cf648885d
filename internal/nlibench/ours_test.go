package nlibench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stretchr/testify/require"
)

// lengthModel's logits say how long a pair is.
type lengthModel struct{}

func (lengthModel) Info() nli.Info                       { return nli.Info{Name: "length", Hash: "h", MaxTokens: 512} }
func (lengthModel) CountTokens(text string) (int, error) { return len(text), nil }
func (lengthModel) Encode(p nli.Pair) (nli.Encoding, error) {
	n := len(p.Premise) + len(p.Hypothesis)
	return nli.Encoding{IDs: make([]int64, n), TypeIDs: make([]int64, n)}, nil
}

func (lengthModel) Run(_ context.Context, batch []nli.Encoding) ([]nli.Logits, error) {
	out := make([]nli.Logits, len(batch))
	for i, e := range batch {
		out[i] = nli.Logits{Entailment: float32(e.Len())}
	}
	return out, nil
}

func requests(n int) [][]nli.Pair {
	var out [][]nli.Pair
	for i := range n {
		out = append(out, []nli.Pair{{Premise: fmt.Sprintf("%0*d", i%9+1, i), Hypothesis: "x"}, {Premise: fmt.Sprint("p", i), Hypothesis: "y"}})
	}
	return out
}

// Each way of sending must answer every pair, in the load's order: a peer that
// answers fewer, or others, computes something else than it is credited with.
func TestOursAnswersEveryPairInOrder(t *testing.T) {
	t.Parallel()
	o := &Ours{Load: NewLoad(requests(40), 1), Model: lengthModel{}, Batch: nli.BatcherOptions{CacheSize: -1, NoJoin: true}}
	yard, err := o.Logits(t.Context(), 40)
	require.NoError(t, err)
	saturated, err := o.Saturate(t.Context(), 40, 8)
	require.NoError(t, err)
	arrived, err := o.Arrive(t.Context(), 40, 10_000)
	require.NoError(t, err)
	for _, out := range []Outcome{saturated, arrived} {
		require.Equal(t, len(yard), out.Pairs)
		require.Equal(t, out.Pairs, out.Computed, "cache and joining are off")
		require.Len(t, out.LatencyMS, 40)
		for _, ms := range out.LatencyMS {
			require.GreaterOrEqual(t, ms, 0.0, "no request is answered before it is due")
		}
		b := &bench{report: &Report{}, yard: yard}
		at := &Peer{}
		require.NoError(t, b.check(&peer{name: ours}, at, out))
		require.Zero(t, at.MaxDifference)
		out.Scores[3][0] += 0.01
		require.ErrorContains(t, b.check(&peer{name: ours}, at, out), "computes something else")
		require.ErrorContains(t, b.check(&peer{name: ours}, at, Outcome{Scores: out.Scores[1:]}), "answered")
	}
}

// slowModel answers only once it is let go, and says when it was asked.
type slowModel struct {
	lengthModel
	asked, free chan struct{}
}

func (m slowModel) Run(ctx context.Context, batch []nli.Encoding) ([]nli.Logits, error) {
	m.asked <- struct{}{}
	<-m.free
	return m.lengthModel.Run(ctx, batch)
}

// Requests that are under way when a measurement is stopped still write their
// answers, so it waits for them (the race detector sees where it does not).
func TestArriveThatIsStoppedWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	m := slowModel{asked: make(chan struct{}, 100), free: make(chan struct{})}
	go func() {
		<-m.asked
		stop()
		close(m.free)
	}()
	load := NewLoad(requests(3), 1)
	load.Gaps[1], load.Gaps[2] = 1e6, 1e6 // hours after the first
	o := &Ours{Load: load, Model: m, Batch: nli.BatcherOptions{CacheSize: -1, NoJoin: true}}
	_, err := o.Arrive(ctx, 3, 100)
	require.ErrorIs(t, err, context.Canceled)
}

func TestServeTalksUntilItsInputEnds(t *testing.T) {
	t.Parallel()
	again := filepath.Join(t.TempDir(), "again.json")
	twice := &Load{}
	twice.add(append(requests(5), requests(5)...))
	require.NoError(t, twice.Write(again))
	o := &Ours{Load: NewLoad(requests(5), 1), Model: lengthModel{}, Batch: nli.BatcherOptions{CacheSize: -1, NoJoin: true}}
	in, commands := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- o.Serve(t.Context(), in, out, map[string]string{"stepgap": "test"}) }()
	read := json.NewDecoder(answers)
	var hello Hello
	require.NoError(t, read.Decode(&hello))
	require.True(t, hello.Ready)
	ask := func(c Command) (got Outcome) {
		require.NoError(t, json.NewEncoder(commands).Encode(c))
		require.NoError(t, read.Decode(&got))
		return got
	}
	require.Equal(t, 10, ask(Command{Do: "saturate", Requests: 5, Clients: 2}).Pairs)
	require.Len(t, ask(Command{Do: "logits", Requests: 2}).Logits, 4)
	require.Equal(t, 20, ask(Command{Do: "repeats", Load: again, Clients: 2}).Computed)
	require.Equal(t, 10, ask(Command{Do: "repeats", Load: again, Clients: 2, Remember: true}).Computed)
	require.Contains(t, ask(Command{Do: "saturate", Requests: 6}).Error, "has 5 requests")
	require.Contains(t, ask(Command{Do: "sing"}).Error, "none of")
	require.NoError(t, commands.Close())
	require.NoError(t, <-ended)
}
