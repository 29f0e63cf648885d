package annotate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// twoHops is a rollout of three steps, with labels that no annotator may see.
func twoHops(id, question string) stepset.Rollout {
	return stepset.Rollout{
		ID: id, QuestionID: "q-" + question, Question: "Where was the composer of " + question + " born?", Source: "test",
		Answer: "Ribe", Gold: []string{"SECRET-GOLD"},
		Steps: []stepset.Step{
			{
				Kind: schema.KindSearch, Query: "composer of " + question, Claim: "It was composed by Ellen Brandt.", Text: "It was composed by Ellen Brandt. Now I look for her birth.",
				Passages: []stepset.Passage{{Title: "Opera", Text: "The opera is by Ellen Brandt.\nIt was first given in 1921."}},
				Label:    schema.GapNone, Quote: "The opera is by Ellen Brandt.", Why: "SECRET-WHY", Sure: 3,
			},
			{
				Kind: schema.KindSearch, Query: "Ellen Brandt born", Claim: "She was born in Aarhus.",
				Passages: []stepset.Passage{{Title: "Ellen Brandt", Text: "She was born in Ribe."}},
				Label:    schema.GapContradicted, Perturbation: "SECRET-PERTURBATION",
			},
			{Kind: schema.KindConclusion, Answer: "Ribe"},
		},
	}
}

func material(t *testing.T, rollouts ...stepset.Rollout) *Material {
	t.Helper()
	for i := range rollouts {
		for j := range rollouts[i].Steps {
			s := &rollouts[i].Steps[j]
			s.Label, s.Quote = "", ""
		}
	}
	m, err := FromSet(stepset.Set{Rollouts: rollouts})
	require.NoError(t, err)
	return m
}

func clock() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

// label lets a person choose, step by step; an empty choice leaves one out.
func label(t *testing.T, folder, name string, m *Material, choices map[string]Choice) {
	t.Helper()
	j, err := OpenJournal(folder, name, 1)
	require.NoError(t, err)
	for _, task := range m.Tasks() {
		if c := choices[task.Step]; c != "" {
			require.NoError(t, j.Add(Entry{At: clock(), Step: task.Step, Digest: task.Digest, Choice: c}))
		}
	}
	require.NoError(t, j.Close())
}

func rolloutsOf(list ...*transcript.Rollout) func(func(*transcript.Rollout, error) bool) {
	return func(yield func(*transcript.Rollout, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}
