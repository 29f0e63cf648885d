package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ claim, answer, first, second string }{
		{"Otter Hill was on a long railway that linked Hull to York.", "York", "Otter Hill was on N.", "N linked Hull to York."},
		{"The regatta took place at the harbour which was built in 1812.", "1812", "The regatta took place at N.", "N was built in 1812."},
		{"Salt is a song by Ida Moor and a choir that originated at Hull University.", "Hull University", "Salt is a song by Ida Moor and N.", "N originated at Hull University."},
		// The answer before the clause, no head, no clause.
		{"Ida Moor lived in a house that was built in 1812.", "Ida Moor", "", ""},
		{"The mill that was built in 1812 is in Hull.", "Hull", "", ""},
		{"Otter Hill is in York.", "York", "", ""},
		{"The year in which the mill was built is 1812.", "1812", "", ""},
	} {
		got, ok := tailOf(c.claim, c.answer)
		require.Equal(t, c.first != "", ok, c.claim)
		if ok {
			first, second := got.parts("N")
			require.Equal(t, c.first, first)
			require.Equal(t, c.second, second)
		}
	}
}
