package evidence

import (
	"sort"
	"strconv"
	"strings"
)

// Number is a quantity, year or ordinal named in a text.
type Number struct {
	// Key is what numbers are compared by: "1234.5", "5500000", "1984"; the
	// same for digits and for words ("seven" is "7").
	Key string
	// Value is the same as a number.
	Value float64
	// Ordinal: "19th", "third".
	Ordinal bool
	Span
}

// Numbers returns the numbers of text in order. Digits and English number
// words count, scaled by "million" and the like; a bare "one" doesn't, for it
// is mostly a pronoun.
func Numbers(text string) []Number {
	words := Words(text)
	var out []Number
	for i := 0; i < len(words); i++ {
		value, ordinal, n := numberAt(words, i)
		if n == 0 {
			continue
		}
		span := Span{words[i].Start, words[i+n-1].End}
		i += n - 1
		for i+1 < len(words) {
			scale := scaleOf(words[i+1].Key)
			if scale == 0 || ordinal {
				break
			}
			value *= scale
			i++
			span.End = words[i].End
		}
		out = append(out, Number{Key: formatNumber(value), Value: value, Ordinal: ordinal, Span: span})
	}
	return out
}

// NumberKeys returns the set of text's numbers by their keys.
func NumberKeys(text string) map[string]bool {
	keys := map[string]bool{}
	for _, n := range Numbers(text) {
		keys[n.Key] = true
	}
	return keys
}

// Years returns the four-digit years of text, from 1000 to 2199, each once, in
// ascending order. The first year of "1965-69" counts, the "1500" of "1,500"
// doesn't.
func Years(text string) []int {
	seen := map[int]bool{}
	for _, w := range Words(text) {
		digits := strings.TrimSuffix(w.Text, "s")
		if len(digits) != 4 {
			continue
		}
		year, err := strconv.Atoi(digits)
		if err == nil && year >= 1000 && year < 2200 {
			seen[year] = true
		}
	}
	years := make([]int, 0, len(seen))
	for y := range seen {
		years = append(years, y)
	}
	sort.Ints(years)
	return years
}

func numberAt(words []Token, i int) (value float64, ordinal bool, n int) {
	key := words[i].Key
	if startsWithDigit(key) {
		digits := key
		for _, suffix := range []string{"st", "nd", "rd", "th"} {
			if strings.HasSuffix(key, suffix) {
				digits, ordinal = strings.TrimSuffix(key, suffix), true
				break
			}
		}
		if !ordinal {
			digits = strings.TrimSuffix(digits, "s")
		}
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || strings.ContainsAny(digits, "xXpPeEnN_") {
			return 0, false, 0
		}
		return v, ordinal, 1
	}
	v, ordinal := wordNumber(key)
	switch {
	case v == 0 && key != "zero":
		return 0, false, 0
	case v == 1 && !ordinal:
		if i+1 >= len(words) || scaleOf(words[i+1].Key) == 0 {
			return 0, false, 0
		}
	}
	if v >= 20 && !ordinal && i+1 < len(words) {
		if u, ord := wordNumber(words[i+1].Key); u > 0 && u < 10 {
			return v + u, ord, 2
		}
	}
	return v, ordinal, 1
}

func wordNumber(key string) (float64, bool) {
	cardinals := [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	ordinals := [...]string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
		"tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
		"eighteenth", "nineteenth"}
	tens := [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	if len(key) < 3 {
		return 0, false
	}
	for i, w := range cardinals {
		if key == w {
			return float64(i), false
		}
	}
	for i, w := range ordinals {
		if key == w {
			return float64(i), true
		}
	}
	for i, w := range tens {
		if key == w {
			return float64(i * 10), false
		}
		if w != "" && key == strings.TrimSuffix(w, "y")+"ieth" {
			return float64(i * 10), true
		}
	}
	switch key {
	case "dozen":
		return 12, false
	case "hundred", "hundreds":
		return 100, false
	}
	return 0, false
}

func scaleOf(key string) float64 {
	switch key {
	case "hundred":
		return 100
	case "thousand":
		return 1e3
	case "million":
		return 1e6
	case "billion", "bn":
		return 1e9
	case "trillion":
		return 1e12
	}
	return 0
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
