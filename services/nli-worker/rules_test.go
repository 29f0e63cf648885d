package nliworker_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

func TestRules(t *testing.T) {
	t.Parallel()
	const entailed, contradicted, open = "entailed", "contradicted", "open"
	for _, c := range []struct{ name, premise, hypothesis, want string }{
		{"the same", "Orrin Vale was born in Hull.", "Orrin Vale was born in Hull.", entailed},
		{"within more", "Orrin Vale, a miller, was born in Hull in 1790 and kept bees.", "Orrin Vale was born in Hull.", entailed},
		{"nothing in common", "Flour is milled from wheat.", "Orrin Vale was born in Hull.", open},
		{"half of it", "Orrin Vale kept bees.", "Orrin Vale was born in Hull.", open},
		{"another year", "Orrin Vale was born in Hull in 1790.", "Orrin Vale was born in Hull in 1791.", contradicted},
		{"another number", "The mill has 12 windows.", "The mill has 14 windows.", contradicted},
		{"another day", "Orrin Vale was born on 4 May 1790.", "Orrin Vale was born on 6 June 1790.", contradicted},
		{"another place", "Orrin Vale was born in the town of Hull.", "Orrin Vale was born in the town of Leeds.", contradicted},
		{"the claim denies it", "Orrin Vale was a miller in Hull.", "Orrin Vale was not a miller in Hull.", contradicted},
		{"the evidence denies it", "Orrin Vale was never a miller in Hull.", "Orrin Vale was a miller in Hull.", contradicted},
		{"a number that isn't there", "Orrin Vale was born in Hull.", "Orrin Vale was born in Hull in 1790.", open},
		{"another subject", "Ida Moor was born in Leeds.", "Orrin Vale was born in Hull.", open},
		{"empty", "", "Orrin Vale was born in Hull.", open},
	} {
		scores, err := nliworker.NewRules().Score(t.Context(), []nli.Pair{{Premise: c.premise, Hypothesis: c.hypothesis}})
		require.NoError(t, err)
		got := open
		switch s := scores[0]; {
		case s.Contradiction >= 0.5:
			got = contradicted
		case s.Entailment >= 0.5:
			got = entailed
		}
		require.Equal(t, c.want, got, "%s: %+v", c.name, scores[0])
	}
}

func TestRulesScoresAreScores(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`([A-Z]?[a-z]{1,8}|not|[0-9]{1,4}|May|,|\.| ){0,30}`)
	rapid.Check(t, func(t *rapid.T) {
		p := nli.Pair{Premise: text.Draw(t, "premise"), Hypothesis: text.Draw(t, "hypothesis")}
		first, err := nliworker.NewRules().Score(context.Background(), []nli.Pair{p})
		require.NoError(t, err)
		again, err := nliworker.NewRules().Score(context.Background(), []nli.Pair{{}, p})
		require.NoError(t, err)
		require.Equal(t, first[0], again[1], "a pair's scores are its own")
		s := first[0]
		require.InDelta(t, 1, s.Entailment+s.Neutral+s.Contradiction, 1e-12)
		require.True(t, min(s.Entailment, s.Neutral, s.Contradiction) >= 0 && !math.IsNaN(s.Entailment))
	})
}

func TestRulesJudgeAStepInDsPlace(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. He was born in Hull. He kept bees in York.", 3)
	d, err := nliworker.NewLocal(nliworker.NewRules(), nliworker.Defaults())
	require.NoError(t, err)
	for claim, want := range map[string]schema.Gap{
		"Orrin Vale was born in Hull.":                 schema.GapNone,
		"Orrin Vale was born in Leeds.":                schema.GapContradicted,
		"Orrin Vale died of a fever in the infirmary.": schema.GapMissingBridge,
	} {
		got, err := d.Decide(t.Context(), &tree.Item{Step: step(claim, vale), Quotes: []schema.Quote{quoteOf(vale, "He was born in Hull.")}})
		require.NoError(t, err)
		require.Equal(t, want, got.Gap, "%s: %s", claim, got.Detail)
		require.Equal(t, "local", got.Entry.Judge)
		require.Equal(t, nliworker.RulesModel, got.Entry.Model)
		require.Zero(t, got.Entry.Calls, "nobody was asked")
	}
}
