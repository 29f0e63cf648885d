package nliworker

import (
	"testing"

	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

func TestClaimSentences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim string
		want  []string
	}{
		{"Orrin Vale founded the mill.", []string{"Orrin Vale founded the mill."}},
		{"Orrin Vale was born in Hull, and he was buried in York.", []string{"Orrin Vale was born in Hull.", "Orrin Vale was buried in York."}},
		{"Orrin Vale was born in Hull; his wife was a painter.", []string{"Orrin Vale was born in Hull.", "Orrin Vale's wife was a painter."}},
		{"The Grey Heron was released in 1971, while The Red Kite was released in 1969.", []string{"The Grey Heron was released in 1971.", "The Red Kite was released in 1969."}},
		// No second subject or verb: one statement.
		{"Orrin Vale was a miller and a baker.", []string{"Orrin Vale was a miller and a baker."}},
		{"Orrin Vale and Ida Moor were millers.", []string{"Orrin Vale and Ida Moor were millers."}},
		{`She wrote "He was King, and She was Queen" in 1920.`, []string{`She wrote "He was King, and She was Queen" in 1920.`}},
		{"Orrin Vale and Ida Moor are both English.", []string{"Orrin Vale is English.", "Ida Moor is English."}},
		{"Both Orrin Vale and Ida Moor were born in Hull.", []string{"Orrin Vale was born in Hull.", "Ida Moor was born in Hull."}},
		{"Orrin Vale and Ida Moor are not both English.", []string{"Orrin Vale and Ida Moor are not both English."}},
		{"Orrin Vale and Ida Moor both have the same trade.", []string{"Orrin Vale and Ida Moor both have the same trade."}},
		{"Salt and Sand and Ida Moor are both English.", []string{"Salt and Sand and Ida Moor are both English."}},
		{"Orrin Vale was born in Hull. Ida Moor was born in York.", []string{"Orrin Vale was born in Hull.", "Ida Moor was born in York."}},
	} {
		got := claimSentences(&schema.Step{Kind: schema.KindSearch, Claim: c.claim})
		require.Equal(t, c.want, got, c.claim)
	}
	require.Empty(t, claimSentences(&schema.Step{Kind: schema.KindSearch}))
	require.Equal(t, []string{"Probably Hull."}, claimSentences(&schema.Step{Kind: schema.KindSearch, Claim: "Probably Hull"}), "a given claim is never dropped")
}
