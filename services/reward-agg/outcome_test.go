package rewardagg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNormalizeAsSearchR1(t *testing.T) {
	t.Parallel()
	// What Python gives for the four steps: lower case, ASCII punctuation,
	// articles, white space.
	for in, want := range map[string]string{
		"The  Beatles!":             "beatles",
		"A man, a plan":             "man plan",
		"an apple a day":            "apple day",
		"U.S.A.":                    "usa",
		"O'Brien-Smith":             "obriensmith",
		"theatre":                   "theatre",
		"a_b":                       "ab",
		"The-The":                   "thethe",
		"  ":                        "",
		"İstanbul":                  "i̇stanbul",
		"½a a½":                     "½a a½",
		"٣a":                        "٣a",
		"a":                         "",
		"vitamin A":                 "vitamin",
		"Élan\u00a0vital":           "élan vital",
		"l\u2019an 2000":            "l\u2019 2000", // a curly quote is no ASCII punctuation, and it bounds a word
		"北京 the 市":                  "北京 市",
		"thé":                       "thé",
		"the\u0301":                 "\u0301",    // a combining mark bounds a word in Python's re
		"ΟΔΟΣ":                      "οδο\u03c2", // a final sigma, as str.lower writes it
		"1,000.5$":                  "10005",
		"tab\tand\nline\x1cbreaks":  "tab and line breaks",
		"\u201cquoted\u201d, plain": "\u201cquoted\u201d plain",
	} {
		require.Equal(t, want, Normalize(in), "%q", in)
	}
}

func TestScoreAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer        string
		gold          []string
		em, f1, cover *float64
	}{
		"no gold":                    {"Paris", nil, nil, nil, nil},
		"blank gold":                 {"Paris", []string{" "}, nil, nil, nil},
		"equal":                      {"The Paris.", []string{"paris"}, ptr(1), ptr(1), ptr(1)},
		"covers":                     {"It is Paris", []string{"Paris"}, ptr(0), ptr(0.5), ptr(1)},
		"best of several":            {"NYC", []string{"New York", "NYC"}, ptr(1), ptr(1), ptr(1)},
		"partial":                    {"New York", []string{"New York City"}, ptr(0), ptr(0.8), ptr(0)},
		"wrong":                      {"Rome", []string{"Paris"}, ptr(0), ptr(0), ptr(0)},
		"no answer is a wrong one":   {"", []string{"Paris"}, ptr(0), ptr(0), ptr(0)},
		"repeated tokens count once": {"no no no", []string{"no"}, ptr(0), ptr(0.5), ptr(1)},
		"gold of articles alone":     {"Rome", []string{"The The"}, ptr(0), ptr(0), ptr(0)},
		"nothing against articles":   {"", []string{"The The"}, ptr(0), ptr(0), ptr(0)},
		"articles against articles":  {"a", []string{"A"}, ptr(1), ptr(1), ptr(1)},
		"abstention is wrong":        {"cannot be determined", []string{"Paris"}, ptr(0), ptr(0), ptr(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ScoreAnswer(c.answer, c.gold)
			require.Equal(t, c.em, got.EM)
			require.Equal(t, c.cover, got.CoverEM)
			if c.f1 == nil {
				require.Nil(t, got.F1)
				return
			}
			require.InDelta(t, *c.f1, *got.F1, 1e-12)
		})
	}
}
