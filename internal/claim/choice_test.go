package claim_test

import (
	"testing"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stretchr/testify/require"
)

func TestChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, answer, chosen, other string }{
		{"Who died earlier, Orrin Vale or Ida Moor?", "Ida Moor", "Ida Moor", "Orrin Vale"},
		{"Who is older Orrin Vale or Ida Moor?", "Orrin Vale", "Orrin Vale", "Ida Moor"},
		{"Which film came out first, Salt or Sand?", "Sand.", "Sand", "Salt"},
		{"Who died earlier, Orrin Vale or Ida Moor?", "Corin Hale", "", ""},
		{"Where was Orrin Vale born?", "Hull", "", ""},
		{"", "Hull", "", ""},
	} {
		chosen, other, ok := claim.Choice(c.question, c.answer)
		require.Equal(t, c.chosen != "", ok, c.question)
		require.Equal(t, c.chosen, chosen, c.question)
		require.Equal(t, c.other, other, c.question)
	}
}
