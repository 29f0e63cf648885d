package nliworker

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDescriptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim, question, answer string
		want                    []string
	}{
		{"The play on which the film The Quiet Orchard is based was written by Mads Holm.", "Who wrote the play on which the film The Quiet Orchard is based?", "Mads Holm",
			[]string{"The play on which the film The Quiet Orchard is based"}},
		{"The maker of Brisk is headquartered in Hull.", "In what town is the maker of Brisk headquartered?", "Hull", []string{"The maker of Brisk"}},
		{"Orrin Vale's father was born in Hull.", "Where was Orrin Vale's father born?", "Hull", []string{"Orrin Vale's father"}},
		{"Work began on the second longest road tunnel in the world in the year 1992.", "In what year did work begin on the second longest road tunnel in the world?", "1992",
			[]string{"the second longest road tunnel in the world", "the second longest road tunnel"}},
		{"The last book written by the author of Salt was Sand.", "What was the last book written by the author of Salt?", "Sand",
			[]string{"the author of Salt", "The last book"}},
		{"Otter Hill was on a long railway that linked Hull to York.", "Otter Hill was on a long railway that linked Hull to what city?", "York", nil},
		{"The year the tallest mill was built is 1812.", "In what year was the tallest mill built?", "1812", []string{"the tallest mill"}},
		{"The 12th regatta took place at Otter Hill in 1812.", "When did the 12th regatta take place at Otter Hill?", "1812", nil},
		{"The year in which the town that is the oldest in Norvik was founded is 1812.", "In what year was the town that is the oldest in Norvik founded?", "1812", []string{"the town that is the oldest in Norvik", "the oldest in Norvik"}},
		{"The Halden Bridge in Norvik was designed by Signe Dahl.", "Who designed the Halden Bridge in Norvik?", "Signe Dahl", nil},
		{"The motto of Hull is Light upon the hill.", "What is the motto of Hull?", "Light upon the hill", nil},
		// The answer within, or no description at all.
		{"Orrin Vale was born in Hull.", "Where was Orrin Vale born?", "Hull", nil},
		{"The founder of Brisk is Ida Moor.", "Who is it?", "Ida Moor", nil},
	} {
		var got []string
		for _, d := range descriptions(c.claim, c.question, c.answer) {
			got = append(got, d.In(c.claim))
		}
		require.Equal(t, c.want, got, c.claim)
	}
}

func TestDescriptionFits(t *testing.T) {
	t.Parallel()
	const claim = "The firm that made Brisk is in Hull."
	ds := descriptions(claim, "Where is the firm that made Brisk?", "Hull")
	require.NotEmpty(t, ds)
	require.Equal(t, "Harrow Mill is in Hull.", ds[0].replaced(claim, "Harrow Mill"))
	require.Equal(t, []string{"Harrow Mill is the firm that made Brisk.", "Harrow Mill made Brisk."}, ds[0].fits(claim, "Harrow Mill"))
}

func TestHostileClaimIsCheap(t *testing.T) {
	t.Parallel()
	claim := strings.Repeat("the first mill of the man who was in ", 60) + "Hull."
	start := time.Now()
	_ = unsupported("Nothing of the kind.", claim, claim)
	_ = descriptions(claim, claim, "Hull")
	require.Less(t, time.Since(start), 5*time.Second)
}
