package nlibench

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/padding"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

// told are rollouts of one step, whose passage says what the step claims.
func told() []*transcript.Rollout {
	var out []*transcript.Rollout
	for i, f := range padding.Facts() {
		p := schema.Passage{Title: f.Title, Text: f.Text(), ByStep: 1}
		p.Digest = schema.PassageDigest(p.Title, p.Text)
		out = append(out, &transcript.Rollout{ID: f.Title, Line: i + 1, Question: f.Question, Steps: []schema.Step{{
			Index: 1, Kind: schema.KindSearch, Question: f.Question, Query: f.Query, Claim: f.Entailed, Passages: []schema.Passage{p},
		}}})
	}
	return out
}

// failingScorer fails every pair.
type failingScorer struct {
	nli.Scorer
	err error
}

func (s failingScorer) Score(context.Context, []nli.Pair) ([]schema.Scores, error) { return nil, s.err }

func scorer(t *testing.T) *nli.Batcher {
	t.Helper()
	b := nli.NewBatcher(lengthModel{}, nli.BatcherOptions{})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func TestRecordNotesWhatIsAskedAndEndsWhereTheModelFails(t *testing.T) {
	t.Parallel()
	requests, err := Record(t.Context(), told(), scorer(t), 0)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(requests), 8, "most of the steps reach the model")
	broken := errors.New("the model is broken")
	_, err = Record(t.Context(), told(), failingScorer{scorer(t), broken}, 0)
	require.ErrorIs(t, err, broken)
}

// A measurement without anything to measure says so, instead of figures.
func TestNothingToMeasureIsAnError(t *testing.T) {
	t.Parallel()
	var marked []*transcript.Rollout
	for _, r := range told() {
		step := r.Steps[0]
		step.Passages[0].Title += " [SEP]"
		step.Passages[0].Text += " It is marked [SEP] so."
		step.Claim = "[SEP] " + step.Claim
		step.Passages[0].Digest = schema.PassageDigest(step.Passages[0].Title, step.Passages[0].Text)
		r.Steps[0] = step
		marked = append(marked, r)
	}
	_, err := Run(t.Context(), marked, scorer(t), Options{Pairs: 10, Progress: io.Discard})
	require.ErrorIs(t, err, errNothingAsked)
}

// Groups that ask the model nothing have no repeats to measure.
func TestRepeatsOfNothingAreMissing(t *testing.T) {
	t.Parallel()
	r := told()[0]
	r.Steps[0].Claim = ""
	b := &bench{Options: Options{Progress: io.Discard, Groups: 2}, report: &Report{Missing: map[string]string{}}, dir: t.TempDir()}
	require.NoError(t, b.repeats(t.Context(), []*transcript.Rollout{r, r}, scorer(t)))
	require.Empty(t, b.report.Repeats)
	require.Equal(t, errNothingAsked.Error(), b.report.Missing["repeats, real groups"])
	require.Len(t, b.report.Missing, 2)
}
