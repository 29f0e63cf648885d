package nliworker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPremiseOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, text, want string }{
		{"", "He was born in Hull.", "He was born in Hull."},
		{"Orrin Vale", "He was born in Hull.", "Orrin Vale was born in Hull."},
		{"Orrin Vale", "His mill stood in Hull.", "Orrin Vale's mill stood in Hull."},
		{"The Apple Thief (play)", "It was written by Mads Holm.", "The Apple Thief was written by Mads Holm."},
		{"The Apple Thief", "It is believed that Mads Holm wrote little.", "The Apple Thief: It is believed that Mads Holm wrote little."},
		{"Orrin Vale", "The mill stood in Hull.", "Orrin Vale: The mill stood in Hull."},
		{"Orrin Vale", "Orrin Vale was a miller.", "Orrin Vale was a miller."},
		{"Orrin Vale", "Orrin Vale Orrin Vale was a miller.", "Orrin Vale was a miller."},
		{"Orrin Vale", "Heron Hall stood in Hull.", "Orrin Vale: Heron Hall stood in Hull."},
		{"Orrin Vale", "He sold what Orrin had built, said Vale.", "He sold what Orrin had built, said Vale."},
	} {
		got, titled := premiseOf(c.title, c.text)
		require.Equal(t, c.want, got)
		require.Equal(t, len(c.want) > len(c.text), titled, c.text)
	}
}
