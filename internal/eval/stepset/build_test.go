package stepset_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

func built(t *testing.T, name string) stepset.Set {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a set from public data; left out with -short")
	}
	set, err := stepset.Build(data(t), name)
	require.NoError(t, err)
	return set
}

func TestEverySetGoesThroughThePipelinesReader(t *testing.T) {
	t.Parallel()
	for _, name := range stepset.Names() {
		set := built(t, name)
		require.NotEmpty(t, set.Mapping, name)
		for got, err := range set.Transcripts() {
			require.NoError(t, err, name)
			for i := range got.Steps {
				s := got.Steps[i]
				s.Run, s.Rollout = "r", "x"
				require.NoError(t, s.Validate(), "%s %s", name, got.ID)
			}
		}
	}
}

func TestBuildGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	one, two := built(t, "hotpotqa"), built(t, "hotpotqa")
	var a, b bytes.Buffer
	require.NoError(t, one.Write(&a))
	require.NoError(t, two.Write(&b))
	require.True(t, bytes.Equal(a.Bytes(), b.Bytes()))
}

func TestMuSiQueIsLargeVariedAndHard(t *testing.T) {
	t.Parallel()
	set := built(t, "musique")
	c := set.Count()
	require.GreaterOrEqual(t, c.Questions, 100)
	require.GreaterOrEqual(t, c.Steps, 600)
	for _, gap := range schema.Gaps()[:4] {
		require.GreaterOrEqual(t, c.Labels[gap], c.Steps/8, gap)
		hows := map[string]bool{}
		for it := range set.Items() {
			if it.Step.Label == gap {
				hows[it.Step.Perturbation] = true
			}
		}
		if gap != schema.GapMissingBridge {
			require.GreaterOrEqual(t, len(hows), 4, "%s: %v", gap, hows)
		} else {
			require.GreaterOrEqual(t, len(hows), 2, "%s: %v", gap, hows)
		}
	}
	for name, ba := range trivial(&set) {
		require.Less(t, ba, 67.0, name)
	}
}

func TestTrivialBaselinesDoNotCrackHotpotQA(t *testing.T) {
	t.Parallel()
	set := built(t, "hotpotqa")
	require.GreaterOrEqual(t, set.Count().Steps, 400)
	for name, ba := range trivial(&set) {
		require.Less(t, ba, 69.0, name)
	}
}

// By construction: a claim without its support must not find it elsewhere in
// view.
func TestMuSiQueKeepsItsPromises(t *testing.T) {
	t.Parallel()
	set := built(t, "musique")
	for it := range set.Items() {
		s := it.Step
		seen := it.Rollout.Seen(it.Index)
		switch s.Perturbation {
		case "search_miss":
			require.Empty(t, seen, it.ID)
		case "answer_dropped", "distractors", "abstain_justified", "abstain_irrelevant":
			require.NotEmpty(t, s.Passages, it.ID)
			require.Empty(t, s.Quote, it.ID)
		case "right", "same_passage_name", "near_number", "near_date", "abstain_unjustified":
			require.True(t, s.Kind == schema.KindConclusion || len(s.Passages) >= 2, it.ID)
		}
		if s.Abstains {
			require.Empty(t, s.Claim, it.ID)
			require.NotEmpty(t, s.Text, it.ID)
		} else {
			require.NotEmpty(t, s.Claim, it.ID)
			require.NotContains(t, s.Claim, ">>", it.ID)
			require.False(t, strings.HasPrefix(s.Claim, "The answer to"), it.ID)
		}
	}
}
