package examples_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/examples"
	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Every example is read without a warning that it wasn't written for, and has
// a label for each of its steps; together they show every label, a justified
// and an unjustified abstention, a mixed turn, and a conclusion without any
// evidence.
func TestExamplesAreComplete(t *testing.T) {
	t.Parallel()
	labels, err := examples.Expected()
	require.NoError(t, err)
	seen := map[schema.Gap]int{}
	var abstained, mixed, memory, rollouts int
	for _, file := range examples.Files() {
		body, err := examples.Open(file)
		require.NoError(t, err)
		for r, err := range transcript.Decode(strings.NewReader(body), file, transcript.Options{}) {
			require.NoError(t, err)
			rollouts++
			want, ok := labels[r.ID]
			require.True(t, ok, "no labels for %s", r.ID)
			require.Len(t, want, len(r.Steps), r.ID)
			delete(labels, r.ID)
			for _, w := range r.Warnings {
				require.Equal(t, transcript.WarnNoEvidence, w.Code, "%s: %s", r.ID, w)
			}
			for i := range r.Steps {
				s := &r.Steps[i]
				require.True(t, want[i].Graded(), "%s step %d: %q", r.ID, i+1, want[i])
				seen[want[i]]++
				reading := claim.Read(s)
				switch {
				case reading.Abstains() && len(reading.Claims) > 0:
					mixed++
				case reading.Abstains():
					abstained++
				}
				if s.Kind == schema.KindConclusion && len(s.Passages) == 0 {
					memory++
				}
			}
		}
	}
	require.Empty(t, labels, "labels of rollouts that are not there")
	require.GreaterOrEqual(t, rollouts, 10)
	for _, gap := range []schema.Gap{schema.GapNone, schema.GapContradicted, schema.GapIrrelevant, schema.GapMissingBridge} {
		require.Positive(t, seen[gap], gap)
	}
	require.Positive(t, abstained)
	require.Positive(t, mixed)
	require.Positive(t, memory)
}
