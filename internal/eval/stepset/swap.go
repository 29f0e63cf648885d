package stepset

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
)

// Names of how a wrong answer was found.
const (
	byPassageName   = "same_passage_name"
	byPassageNumber = "same_passage_number"
	byNearNumber    = "near_number"
	byNearDate      = "near_date"
	byOtherAnswer   = "other_answer"
)

// wrong is an answer that is not the right one.
type wrong struct{ answer, how string }

// valueKind tells answers apart by what can stand in their place.
type valueKind int

const (
	kindName valueKind = iota
	kindNumber
	kindDate
	kindPhrase
)

func kindOf(answer string) valueKind {
	switch {
	case len(evidence.Dates(answer)) > 0:
		return kindDate
	case strings.ContainsFunc(answer, unicode.IsDigit) && len(evidence.Numbers(answer)) > 0:
		return kindNumber
	case len(evidence.Names(answer)) == 1 && len(answer) < 60:
		return kindName
	}
	return kindPhrase
}

// wrongAnswers returns wrong answers of the kind of answer, hardest first:
// another value that the same passage gives, then the value slightly off, then
// the answers of others. avoid holds texts that no wrong answer may stand in,
// such as the question; others are right answers to other questions.
func wrongAnswers(rnd *rand.Rand, answer, passage string, avoid, others []string) []wrong {
	var out []wrong
	usable := func(s string) bool {
		if s == "" || evidence.SameEntity(s, answer) || holds(s, answer) || holds(answer, s) {
			return false
		}
		for _, a := range avoid {
			if holds(a, s) {
				return false
			}
		}
		return true
	}
	kind := kindOf(answer)
	switch kind {
	case kindDate, kindNumber:
		if kind == kindNumber {
			for _, n := range shuffled(rnd, evidence.Numbers(passage)) {
				s := n.In(passage)
				if sameShape(s, answer) && usable(s) {
					out = append(out, wrong{s, byPassageNumber})
				}
			}
		}
		if s := nearby(rnd, answer); usable(s) {
			how := byNearNumber
			if kind == kindDate {
				how = byNearDate
			}
			near := wrong{s, how}
			if rnd.IntN(2) == 0 {
				out = append([]wrong{near}, out...)
			} else {
				out = append(out, near)
			}
		}
		return out
	case kindName:
		for _, n := range shuffled(rnd, evidence.Names(passage)) {
			if likeName(n, answer, passage) && usable(n) {
				out = append(out, wrong{n, byPassageName})
			}
		}
	}
	for _, o := range shuffled(rnd, others) {
		if kindOf(o) == kind && usable(o) {
			out = append(out, wrong{o, byOtherAnswer})
		}
	}
	return out
}

// holds reports whether small's words stand in large, in order.
func holds(large, small string) bool {
	return strings.Contains(" "+evidence.EntityKey(large)+" ", " "+evidence.EntityKey(small)+" ")
}

func shuffled[T any](rnd *rand.Rand, in []T) []T {
	out := append([]T(nil), in...)
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// sameShape holds numbers together: years with years, figures with figures.
func sameShape(a, b string) bool {
	digits := func(s string) int {
		n := 0
		for _, r := range s {
			if unicode.IsDigit(r) {
				n++
			}
		}
		return n
	}
	if len(evidence.Years(b)) > 0 {
		return len(evidence.Years(a)) > 0 && len(a) == 4
	}
	return digits(a) > 0 && len(evidence.Years(a)) == 0 && strings.Contains(a, "%") == strings.Contains(b, "%")
}

// reAfterPlace finds the word before a name that a place stands after.
var reAfterPlace = regexp.MustCompile(`(?i)\b(?:in|from|at|near|into|of|to)\s+(?:the\s+)?$`)

// likeName reports whether candidate could be meant where answer stands: as
// many words give or take one, and, in the passage, both or neither where a
// place is named.
func likeName(candidate, answer, passage string) bool {
	cw, aw := len(strings.Fields(candidate)), len(strings.Fields(answer))
	if cw-aw > 1 || aw-cw > 1 || len(candidate) < 3 || evidence.IsStopWord(strings.ToLower(candidate)) {
		return false
	}
	if first, _ := utf8.DecodeRuneInString(candidate); !unicode.IsUpper(first) || strings.ContainsAny(candidate, `"()“”:;`) {
		return false
	}
	return afterPlace(candidate, passage) == afterPlace(answer, passage)
}

func afterPlace(name, passage string) bool {
	at := strings.Index(passage, name)
	return at >= 0 && reAfterPlace.MatchString(passage[:at])
}

var reDigits = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// nearby changes the last telling number of a value a little: years by one to
// nine, days by one to nine, other numbers by a tenth to a half, or it turns
// two digits round.
func nearby(rnd *rand.Rand, value string) string {
	spots := reDigits.FindAllStringIndex(value, -1)
	if len(spots) == 0 {
		return ""
	}
	at := spots[rnd.IntN(len(spots))]
	old := value[at[0]:at[1]]
	var fresh string
	plain := strings.ReplaceAll(old, ",", "")
	n, err := strconv.ParseFloat(plain, 64)
	switch {
	case err != nil:
		return ""
	case len(evidence.Years(old)) > 0:
		fresh = strconv.Itoa(int(n) + pick(rnd, []int{-9, -7, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 8}))
	case len(evidence.Dates(value)) > 0 && n <= 31:
		fresh = strconv.Itoa(1 + (int(n)+rnd.IntN(9))%28)
	case strings.Contains(old, "."):
		decimals := len(old) - strings.Index(old, ".") - 1
		fresh = strconv.FormatFloat(n*pick(rnd, []float64{0.6, 0.75, 0.9, 1.15, 1.3, 1.5}), 'f', decimals, 64)
	case n < 10:
		fresh = strconv.Itoa(int(n) + 1 + rnd.IntN(3))
	default:
		fresh = turned(rnd, plain)
		if fresh == plain {
			fresh = strconv.Itoa(int(n) + 1 + rnd.IntN(max(2, int(n)/3)))
		}
		if strings.Contains(old, ",") {
			fresh = grouped(fresh)
		}
	}
	if fresh == old {
		return ""
	}
	out := value[:at[0]] + fresh + value[at[1]:]
	return reOrdinal.ReplaceAllStringFunc(out, ordinal)
}

// turned swaps two neighbouring digits, the first never for a zero.
func turned(rnd *rand.Rand, digits string) string {
	b := []byte(digits)
	for range 4 {
		i := rnd.IntN(len(b) - 1)
		if b[i] != b[i+1] && (i > 0 || b[i+1] != '0') {
			b[i], b[i+1] = b[i+1], b[i]
			break
		}
	}
	return string(b)
}

func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

var reOrdinal = regexp.MustCompile(`\b(\d+)(?:st|nd|rd|th)\b`)

func ordinal(s string) string {
	n, _ := strconv.Atoi(reOrdinal.FindStringSubmatch(s)[1])
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
