package compare

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/pkg/schema"
)

// file has 30 questions of two steps; pred says what is predicted of a gap.
func file(system string, pred func(question int) schema.Gap) *predict.File {
	f := &predict.File{Head: predict.Head{Kind: predict.Kind, Set: "own", System: system}}
	for q := range 30 {
		id := fmt.Sprintf("r%02d", q)
		f.Rollouts = append(f.Rollouts, predict.Rollout{Rollout: id, Question: id, Steps: []predict.Step{
			{Step: id + "#1", Gold: schema.GapNone, Pred: schema.GapNone},
			{Step: id + "#2", Gold: schema.GapIrrelevant, Pred: pred(q), Detail: system + " says so", Group: "off_topic"},
			{Step: id + "#3", Pred: schema.GapNone},
		}})
	}
	return f
}

func TestCompare(t *testing.T) {
	t.Parallel()
	a := file("first", func(q int) schema.Gap {
		return []schema.Gap{schema.GapIrrelevant, schema.GapNone, schema.GapUngraded}[q%3]
	})
	b := file("second", func(q int) schema.Gap {
		return []schema.Gap{schema.GapIrrelevant, schema.GapIrrelevant, schema.GapNone}[q%3]
	})
	r, err := Of(t.Context(), a, b, interval.Options{Draws: 1000})
	require.NoError(t, err)
	require.Equal(t, []int{60, 40, 0, 10, 10}, []int{r.N, r.Both, r.OnlyA, r.OnlyB, r.Neither})
	require.Len(t, r.Differences, 20)
	require.InDelta(t, 0.8-0.5, *r.Rows[0].Delta.Value, 1e-12)
	require.True(t, r.Rows[0].Delta.Above(0))

	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text, true))
	require.Contains(t, text.String(), "+30.0 (")
	require.Contains(t, text.String(), "r01#2 gold IE: first OK, second IE (off_topic)\n  first: first says so")
	var object bytes.Buffer
	require.NoError(t, r.WriteJSON(&object))
	require.Contains(t, object.String(), `"only_b_right": 10`)

	_, err = Of(t.Context(), a, &predict.File{}, interval.Options{})
	require.ErrorContains(t, err, "can't be compared")

	self, err := Of(t.Context(), a, a, interval.Options{Draws: 100})
	require.NoError(t, err)
	require.Equal(t, "first (1)", self.A)
	require.Empty(t, self.Differences)
}
