package judgebench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/examples"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// twins are groups of two rollouts that are the project's examples.
func twins(t *testing.T) []Group {
	t.Helper()
	text, err := examples.Open("rollouts.jsonl")
	require.NoError(t, err)
	var groups []Group
	for r, err := range transcript.Decode(strings.NewReader(text), "examples", transcript.Options{}) {
		require.NoError(t, err)
		groups = append(groups, Group{r.Question, []*transcript.Rollout{r, r}})
	}
	return groups
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	search := func(query, text, claim string) *transcript.Rollout {
		return &transcript.Rollout{Steps: []schema.Step{{Query: query, Claim: claim, Passages: []schema.Passage{{Text: text}}}}}
	}
	rates, err := Measure([]Group{{"q", []*transcript.Rollout{
		search("a", "x", "1"), search("a", "x", "1"), search("a", "x", "2"), search("b", "x", "1"),
		{Steps: []schema.Step{{Claim: "no search"}}},
	}}})
	require.NoError(t, err)
	require.Equal(t, Rates{Questions: 1, Rollouts: 5, Steps: 5, Pairs: 6, SameQuery: 0.5, SamePassages: 1, SameClaim: 1. / 3}, rates)
	_, err = Measure([]Group{{"q", []*transcript.Rollout{search("a", "x", "1"), search("b", "x", "1")}}})
	require.Error(t, err, "a rate of no pairs is no number")
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	base := twins(t)
	rates := Rates{SameQuery: 0.7, SamePassages: 1, SameClaim: 0.9}
	var many []Group
	for seed := range uint64(20) {
		groups := Generate(base, rates, 100, seed)
		require.Equal(t, groups, Generate(base, rates, 100, seed), "nothing but the arguments decides")
		many = append(many, groups...)
		for _, g := range groups {
			require.Len(t, g.Rollouts, GroupSize)
			seen := map[string]string{}
			for _, r := range g.Rollouts {
				for _, s := range r.Steps[1:] {
					if s.Query == "" && s.Claim == "" {
						continue // a conclusion that claims nothing: its history differs
					}
					key := fmt.Sprintf("%d %q %q", s.Index, s.Query, s.Claim)
					require.Empty(t, seen[key], "step %s is in %s and in %s", key, seen[key], r.ID)
					seen[key] = r.ID
				}
			}
		}
	}
	got, err := Measure(many)
	require.NoError(t, err)
	require.InDelta(t, rates.SameQuery, got.SameQuery, 0.03)
	require.InDelta(t, rates.SameClaim, got.SameClaim, 0.03)
}

func TestNaiveClientAsksAllThreeAboutEveryStep(t *testing.T) {
	t.Parallel()
	endpoint, err := StartEndpoint(0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, endpoint.Close()) })
	cfg := llm.DefaultConfig()
	cfg.BaseURL, cfg.Model = endpoint.URL, "rules"
	client, err := llm.New(cfg)
	require.NoError(t, err)
	end := tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{}), nil
	})
	naive, err := NewNaive(llm.Setup{Completer: client, Fencer: llm.NewFencer(llm.NewSecret("bench"))}, end, end)
	require.NoError(t, err)
	groups := twins(t)
	first, err := naive.Run(t.Context(), groups, 4)
	require.NoError(t, err)
	steps := 0
	for _, g := range groups {
		for _, r := range g.Rollouts {
			steps += len(r.Steps)
		}
	}
	require.Equal(t, 3*steps, endpoint.Calls())
	again, err := naive.Run(t.Context(), groups, 4)
	require.NoError(t, err)
	require.Equal(t, first, again, "the endpoint is deterministic")
	require.Equal(t, 6*steps, endpoint.Calls())
}

func TestRealGroups(t *testing.T) {
	t.Parallel()
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set: the data set is not part of the project")
	}
	rollouts, err := transcript.Open(filepath.Join(data, "rollouts", "normalized.jsonl"), transcript.Options{})
	require.NoError(t, err)
	groups, err := Groups(rollouts)
	require.NoError(t, err)
	rates, err := Measure(groups)
	require.NoError(t, err)
	t.Logf("%+v", rates)
}
