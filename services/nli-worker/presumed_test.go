package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPresumed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ claim, question, answer, want string }{
		{"The Halden Bridge in Norvik was designed by Signe Dahl.", "Who designed the Halden Bridge in Norvik?", "Signe Dahl", "The Halden Bridge was designed by Signe Dahl."},
		{"The botanist Clara Voss went to school in Lund.", "Where did the botanist Clara Voss go to school?", "Lund", "Clara Voss went to school in Lund."},
		{"Clara Voss, the Danish botanist, was born in Lund.", "Where was Clara Voss, the Danish botanist, born?", "Lund", "Clara Voss was born in Lund."},
		{"William Baker (1743–1824) died in Lund.", "Where did William Baker (1743–1824) die?", "Lund", "William Baker died in Lund."},
		{`The author of the novel "Salt" is Ida Moor.`, `Who is the author of the novel "Salt"?`, "Ida Moor", `The author of "Salt" is Ida Moor.`},
		// Not in the question: to be proved.
		{"The Halden Bridge in Oslo was designed by Signe Dahl.", "Who designed the Halden Bridge in Norvik?", "Signe Dahl", "The Halden Bridge in Oslo was designed by Signe Dahl."},
		// The answer stays, even where the question holds it.
		{"The Halden Bridge in Norvik is in Norvik.", "Is the Halden Bridge in Norvik or in Oslo?", "Norvik", "The Halden Bridge in Norvik is in Norvik."},
		{"The painter Clara Voss was born in Lund.", "Was the painter or the botanist Clara Voss born in Lund?", "the painter Clara Voss", "The painter Clara Voss was born in Lund."},
		// What limits a common noun is the question itself.
		{"The mayor of Norvik is Signe Dahl.", "Who is the mayor of Norvik?", "Signe Dahl", "The mayor of Norvik is Signe Dahl."},
		{"Clara Voss was born in Norvik.", "Was Clara Voss born in Norvik?", "yes", "Clara Voss was born in Norvik."},
		{"The first Danish botanist was Clara Voss.", "Who was the first Danish botanist?", "Clara Voss", "The first Danish botanist was Clara Voss."},
		{"Clara Voss worked for the Lund garden in Norvik county.", "For whom did Clara Voss work in Norvik county?", "the Lund garden", "Clara Voss worked for the Lund garden in Norvik county."},
		{"Clara Voss was born in Lund.", "", "Lund", "Clara Voss was born in Lund."},
	} {
		require.Equal(t, c.want, presumed(c.claim, c.question, c.answer), c.claim)
	}
}

func TestLowered(t *testing.T) {
	t.Parallel()
	require.Equal(t, "work began in 1812.", lowered("Work began in 1812.", "When did work begin?"))
	require.Equal(t, "Hull was built in 1812.", lowered("Hull was built in 1812.", "When was Hull built?"))
}
