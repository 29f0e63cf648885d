package entitycheck

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge/llm/stagetest"
	"github.com/stepgap/stepgap/pkg/schema"
)

// found is an earlier step that claimed something.
func found(index int, query, claim string) schema.Prior {
	return schema.Prior{Index: index, Query: query, Claim: claim}
}

// TestLLM_Real measures the judge on invented, so unknowable, cases.
func TestLLM_Real(t *testing.T) {
	setup := stagetest.RealSetup(t)
	j, err := NewLLM(setup)
	require.NoError(t, err)
	const (
		spouse   = "Who is the spouse of the author of The Glass Orchard?"
		films    = "Which film has the director who died earlier, Red Canal or The Ninth Lantern?"
		song     = "What nationality is the composer of the song Winter Tram?"
		founder  = "When did the founder of the Norvik Observatory die?"
		museums  = "Are the Brask Museum and the Pollen Gallery in the same country?"
		province = "What is the capital of the province where the river Osk rises?"
		older    = "Who is older, Mira Dahl or Peter Kast?"
	)
	author := found(1, "The Glass Orchard author", "The Glass Orchard was written by Nils Harrow.")
	elsa := found(1, "Norvik Observatory founder", "The Norvik Observatory was founded by Elsa Tveit.")
	osk := found(1, "source of the river Osk", "The river Osk rises in Tamar Province.")
	lenz := found(1, "Winter Tram composer", "Winter Tram was composed by Hugo Lenz.")
	redCanal := found(1, "Red Canal director", "Red Canal was directed by Paul Esker.")
	ages := []schema.Prior{found(1, "Mira Dahl born", "Mira Dahl was born in 1941."), found(2, "Peter Kast born", "Peter Kast was born in 1950.")}

	cases := []struct {
		name    string
		aligned bool
		in      Input
	}{
		{"first hop", true, Input{Question: spouse, Query: "The Glass Orchard author"}},
		{"second hop", true, Input{Question: spouse, Query: "Nils Harrow wife", Earlier: []schema.Prior{author}}},
		{"other branch", true, Input{Question: films, Query: "The Ninth Lantern director", Earlier: []schema.Prior{redCanal}}},
		{"first hop, claimed", true, Input{Question: song, Query: "Winter Tram song composer", Claim: "The composer of Winter Tram is Hugo Lenz."}},
		{"conclusion", true, Input{Question: founder, Kind: schema.KindConclusion, Claim: "The founder of the Norvik Observatory died in 1954.", Earlier: []schema.Prior{elsa, found(2, "Elsa Tveit death", "Elsa Tveit died in 1954.")}}},
		{"comparison branch", true, Input{Question: museums, Query: "Pollen Gallery location"}},
		{"broad query", true, Input{Question: province, Query: "Tamar Province", Earlier: []schema.Prior{osk}}},
		{"comparison concluded", true, Input{Question: older, Kind: schema.KindConclusion, Claim: "Mira Dahl is older than Peter Kast.", Earlier: ages}},
		{"right person, wrong relation", false, Input{Question: spouse, Query: "novels by Nils Harrow", Earlier: []schema.Prior{author}}},
		{"birth for death", false, Input{Question: founder, Query: "Elsa Tveit birthplace", Earlier: []schema.Prior{elsa}}},
		{"namesake", false, Input{Question: song, Query: "Hugo Lenz footballer transfer", Claim: "Hugo Lenz moved to the club Vard in 2019.", Earlier: []schema.Prior{lenz}}},
		{"side track", false, Input{Question: province, Query: "length of the river Osk", Earlier: []schema.Prior{osk}}},
		{"conclusion on another thing", false, Input{Question: spouse, Kind: schema.KindConclusion, Claim: "The Glass Orchard was published in 1962.", Earlier: []schema.Prior{author}}},
		{"wrong attribute of a film", false, Input{Question: films, Query: "The Ninth Lantern box office", Earlier: []schema.Prior{redCanal}}},
		{"opening hours", false, Input{Question: museums, Query: "Brask Museum opening hours"}},
		{"another person", false, Input{Question: older, Query: "Anton Mirov age"}},
	}
	var items []stagetest.Item
	for _, tc := range cases {
		if tc.in.Kind == "" {
			tc.in.Kind = schema.KindSearch
		}
		want := word(tc.aligned)
		items = append(items, stagetest.Item{Name: tc.name, Want: want, Ask: func(ctx context.Context) (stagetest.Answer, error) {
			got, err := j.Align(ctx, tc.in)
			return stagetest.Answer{Got: word(got.Aligned), Right: got.Aligned == tc.aligned, Meta: got.Meta}, err
		}})
	}
	stagetest.Real(t, "entity-check", items)
}

func word(aligned bool) string {
	if aligned {
		return OutcomeAligned
	}
	return OutcomeMisaligned
}
