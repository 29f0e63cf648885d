package llm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// tok is a token and the probabilities of what else might have stood there.
func tok(text string, alternatives map[string]float64) Token {
	top := map[string]float64{text: 0}
	for alt, p := range alternatives {
		top[alt] = math.Log(p)
	}
	return Token{Text: text, Top: top}
}

func TestConfidence(t *testing.T) {
	t.Parallel()
	yesNo := []string{"yes", "no"}
	for name, tc := range map[string]struct {
		tokens []Token
		given  string
		legal  []string
		want   float64 // negative: none
	}{
		"a token of its own": {
			[]Token{tok(`{"`, nil), tok(`stated`, nil), tok(`":"`, nil), tok(`yes`, map[string]float64{"yes": 0.6, "no": 0.2}), tok(`"}`, nil)},
			"yes", yesNo, 0.75,
		},
		"illegal tokens hold a share": {
			[]Token{tok(`{"stated": "`, nil), tok(`no`, map[string]float64{"no": 0.1, "Yes": 0.5, "maybe": 0.2, "yes": 0.1}), tok(`"}`, nil)},
			"no", yesNo, 0.5,
		},
		"the quote mark is in the token": {
			[]Token{tok(`{"stated":`, nil), tok(` "yes`, map[string]float64{` "yes`: 0.3, ` "no`: 0.1, ` yes`: 0.5}), tok(`"}`, nil)},
			"yes", yesNo, 0.75,
		},
		"pieces of a word": {
			[]Token{tok(`{"stated":"`, nil), tok(`mis`, map[string]float64{"mis": 0.2, "al": 0.7, "align": 0.1}), tok(`aligned`, nil), tok(`"}`, nil)},
			"misaligned", []string{"aligned", "misaligned"}, 0.2,
		},
		"the closing quote is in the token": {
			[]Token{tok(`{"stated":"`, nil), tok(`yes"`, map[string]float64{`yes"`: 0.8, `no"}`: 0.2}), tok(`}`, nil)},
			"yes", yesNo, 0.8,
		},
		"earlier text holds the same word": {
			[]Token{tok(`{"quote":"yes","stated":"`, nil), tok(`yes`, map[string]float64{"yes": 0.9, "no": 0.1}), tok(`"}`, nil)},
			"yes", yesNo, 0.9,
		},
		"no log probabilities": {nil, "yes", yesNo, -1},
		"values that part later": {
			[]Token{tok(`{"stated":"`, nil), tok(`no`, map[string]float64{"no": 0.9}), tok(`ne"}`, nil)},
			"none", []string{"none", "nothing"}, -1,
		},
		"other text than the answer": {[]Token{tok(`hello`, nil)}, "yes", yesNo, -1},
		"the field twice": {
			[]Token{tok(`{"stated":"yes"} {"stated":"yes"}`, nil)}, "yes", yesNo, -1,
		},
		"NaN": {
			[]Token{tok(`{"stated":"`, nil), {Text: "yes", Top: map[string]float64{"yes": math.NaN()}}, tok(`"}`, nil)},
			"yes", yesNo, -1,
		},
		"positive log probability": {
			[]Token{tok(`{"stated":"`, nil), {Text: "yes", Top: map[string]float64{"yes": 5}}, tok(`"}`, nil)},
			"yes", yesNo, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := confidence(tc.tokens, "stated", tc.given, tc.legal)
			if tc.want < 0 {
				require.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			require.InDelta(t, tc.want, *got, 1e-9)
		})
	}
}
