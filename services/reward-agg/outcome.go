package rewardagg

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/stepgap/stepgap/pkg/schema"
)

// ScoreAnswer scores a final answer against the accepted ones: exact match,
// token F1 and cover exact match (the answer holds a gold answer), each the
// best over gold, in [0, 1], after Normalize. Without a gold answer the numbers
// are nil. No answer at all is a wrong one.
func ScoreAnswer(answer string, gold []string) schema.Outcome {
	var em, f1, cover float64
	given, answered := false, strings.TrimSpace(answer) != ""
	a := Normalize(answer)
	for _, g := range gold {
		if strings.TrimSpace(g) == "" {
			continue
		}
		given = true
		n := Normalize(g)
		if !answered {
			continue
		}
		if a == n {
			em = 1
		}
		// A gold answer of articles alone ("The The") normalises to nothing,
		// which any answer would cover.
		if a == n || n != "" && strings.Contains(a, n) {
			cover = 1
		}
		f1 = max(f1, tokenF1(strings.Fields(a), strings.Fields(n)))
	}
	if !given {
		return schema.Outcome{}
	}
	return schema.Outcome{EM: &em, F1: &f1, CoverEM: &cover}
}

// Normalize is Search-R1's normalisation, step by step as in Python: lower
// case, ASCII punctuation dropped, the articles a, an and the dropped, white
// space collapsed.
func Normalize(s string) string {
	s = cases.Lower(language.Und).String(s)
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.FieldsFunc(dropArticles(s), isPythonSpace), " ")
}

// dropArticles puts a blank in the place of each run of word characters that is
// an article.
func dropArticles(s string) string {
	var b strings.Builder
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		switch w := s[start:end]; w {
		case "a", "an", "the":
			b.WriteByte(' ')
		default:
			b.WriteString(w)
		}
		start = -1
	}
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' {
			if start < 0 {
				start = i
			}
			continue
		}
		flush(i)
		b.WriteRune(r)
	}
	flush(len(s))
	return b.String()
}

// isPythonSpace is what str.split takes for white space.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// tokenF1 is the harmonic mean of precision and recall over the bags of tokens;
// 1 where both are empty, 0 where one is.
func tokenF1(answer, gold []string) float64 {
	if len(answer) == 0 || len(gold) == 0 {
		if len(answer) == len(gold) {
			return 1
		}
		return 0
	}
	left := map[string]int{}
	for _, t := range gold {
		left[t]++
	}
	same := 0
	for _, t := range answer {
		if left[t] > 0 {
			left[t]--
			same++
		}
	}
	return 2 * float64(same) / float64(len(answer)+len(gold))
}
