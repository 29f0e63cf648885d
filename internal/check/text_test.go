package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

func TestWindowsAndNearScoresAreShown(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("4f", 32)
	label := &schema.Label{Label: schema.GapNone, Stage: schema.StageLocal, Trail: []schema.TrailEntry{
		{Stage: schema.StageQuote, Outcome: "quoted"},
		{
			Stage: schema.StageLocal, Outcome: "entailment", Judge: "nli", Flags: []string{schema.FlagNearThreshold},
			Scores:  &schema.Scores{Entailment: 0.51, Neutral: 0.48, Contradiction: 0.01},
			Windows: []schema.Window{{Passage: digest, ByStep: 2, Start: 31, End: 67, Titled: true}},
		},
	}}
	r := &Result{Rollout: "r", Steps: []StepResult{
		stepResult(&schema.Step{Index: 1}, label, schema.StepReward{}, false),
		stepResult(&schema.Step{Index: 2}, &schema.Label{Label: schema.GapNone, Trail: label.Trail[:1]}, schema.StepReward{}, false),
	}}
	var text strings.Builder
	require.NoError(t, WriteText(&text, r, 100))
	require.Contains(t, text.String(), "window step 2, 4f4f4f4f 31-67 with its title")
	require.Contains(t, text.String(), "near   a score is near to its threshold (entailment 0.510, contradiction 0.010)")
	require.Equal(t, 1, strings.Count(text.String(), "window "))

	s := NewSummary()
	s.add(r)
	require.Equal(t, 1, s.Near)
	s.Merge(s)
	require.Equal(t, 2, s.Near)
	text.Reset()
	require.NoError(t, WriteSummary(&text, s))
	require.Contains(t, text.String(), "2 labels with a score near to its threshold")

	text.Reset()
	require.NoError(t, (&Page{Summary: s, Results: []*Result{r}}).Write(&text))
	require.Contains(t, text.String(), "step 2, 4f4f4f4f 31-67 with its title")
	require.Contains(t, text.String(), "near to its threshold (entailment 0.510")
}
