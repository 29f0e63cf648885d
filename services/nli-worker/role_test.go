package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSwapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		premise, claim string
		want           bool
	}{
		{"Orrin Vale was the grandfather of Corin Hale.", "Corin Hale was the grandfather of Orrin Vale.", true},
		{"Orrin Vale was the grandfather of Corin Hale.", "Orrin Vale's grandfather was Corin Hale.", true},
		{"Corin Hale's grandfather was Orrin Vale.", "Corin Hale was the grandfather of Orrin Vale.", true},
		{"Orrin Vale, the eldest son of Corin Hale, was a miller.", "The son of Orrin Vale is Corin Hale.", true},
		{"Vale was the teacher of Ida Moor.", "Ida Moor was a teacher of Orrin Vale.", true},
		// The same way round, however it is written.
		{"Orrin Vale was the grandfather of Corin Hale.", "Corin Hale's grandfather was Orrin Vale.", false},
		{"The father of Orrin Vale was Abel Vale.", "Abel Vale was Orrin Vale's father.", false},
		{"Orrin Vale was the father of Abel Vale. Abel Vale was the father of Orrin Vale.", "Abel Vale was the father of Orrin Vale.", false},
		// Another role, another person, a role that goes both ways, a denial.
		{"Orrin Vale was the father of Corin Hale.", "Corin Hale was the son of Orrin Vale.", false},
		{"Orrin Vale was the father of Corin Hale.", "Corin Hale was the father of Ida Moor.", false},
		{"Orrin Vale was the brother of Corin Hale.", "Corin Hale was the brother of Orrin Vale.", false},
		{"Orrin Vale was not the father of Corin Hale.", "Corin Hale was the father of Orrin Vale.", false},
		{"Orrin Vale was the father of Vale.", "Vale was the father of Orrin Vale.", false},
		{"Orrin Vale was a miller.", "Corin Hale was the father of Orrin Vale.", false},
	} {
		require.Equal(t, c.want, swapped(c.premise, c.claim) != "", "%q => %q", c.premise, c.claim)
	}
}
