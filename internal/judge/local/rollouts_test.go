package local

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/docblock/docblocktest"
	"github.com/stepgap/stepgap/internal/transcript"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
)

// TestFiguresOfAlignOnRollouts prints which steps of public rollouts stage A's
// rules call misaligned. Read by hand, real ones rarely are, so the rules must
// hardly ever speak.
func TestFiguresOfAlignOnRollouts(t *testing.T) {
	t.Parallel()
	rollouts, err := transcript.Open(dataFile(t, "rollouts/normalized.jsonl"), transcript.Options{})
	require.NoError(t, err)
	steps, off := 0, 0
	for r, err := range rollouts {
		if err != nil {
			continue // counted by the transcript package's own tests
		}
		for i := range r.Steps {
			s := &r.Steps[i]
			steps++
			v, err := New().Align(t.Context(), entitycheck.Input{
				Question: s.Question, Kind: s.Kind, Query: s.Query, Claim: strings.Join(claim.Read(s).Claims, " "), Earlier: s.History,
			})
			require.NoError(t, err)
			if !v.Aligned {
				off++
				t.Logf("OFF %s step %d | question %q | query %q | %s", r.ID, s.Index, s.Question, s.Query, v.Meta.Detail)
			}
		}
	}
	t.Logf("called misaligned: %d of %d steps", off, steps)
	docblocktest.Holds(t, page, "local-aim", fmt.Sprintf("- A calls misaligned: %d of %d\n", off, steps))
	require.LessOrEqual(t, off*200, steps, "more than one in 200")
}
