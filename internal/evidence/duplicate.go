package evidence

import "unicode/utf8"

// nearDuplicate is the similarity from which two queries count as the same:
// four of five content words shared.
const nearDuplicate = 0.8

// misspelt is the length in letters from which words that are one letter apart
// count as two spellings of one word ("harbour", "harbor").
const misspelt = 6

// Similarity compares two queries in [0, 1]: the share of their content words
// that they have in common. Word order, case, accents, plural endings, small
// slips of spelling and function words make no difference. Two queries without
// any content are the same only if they fold to the same text.
func Similarity(a, b string) float64 {
	if FoldString(a) == FoldString(b) {
		return 1
	}
	ta, tb := contentWords(a), contentWords(b)
	if len(ta) == 0 || len(tb) == 0 {
		return 0
	}
	shared := sharedWords(ta, tb)
	return float64(shared) / float64(len(ta)+len(tb)-shared)
}

// NearDuplicate reports whether two queries ask for the same thing in nearly
// the same words. Queries that differ in a number, such as a year, do not.
func NearDuplicate(a, b string) bool {
	if !sameKeys(NumberKeys(a), NumberKeys(b)) {
		return false
	}
	return Similarity(a, b) >= nearDuplicate
}

// word is a content word: its stem is compared first, its spelling then.
type word struct{ stem, key string }

// contentWords returns a text's content words, each stem once.
func contentWords(text string) []word {
	seen := map[string]bool{}
	var out []word
	for _, w := range Words(text) {
		stem := Stem(w.Key)
		if !IsStopWord(w.Key) && !seen[stem] {
			seen[stem] = true
			out = append(out, word{stem: stem, key: w.Key})
		}
	}
	return out
}

// sharedWords counts the words of a that have an equal in b, each of b's words
// standing for one only: equal ones first, then two spellings of one word.
func sharedWords(a, b []word) int {
	var restA []word
	restB := append([]word{}, b...)
	shared := 0
	take := func(same func(w word) bool) bool {
		for i, w := range restB {
			if same(w) {
				shared++
				restB = append(restB[:i], restB[i+1:]...)
				return true
			}
		}
		return false
	}
	for _, w := range a {
		if !take(func(v word) bool { return v.stem == w.stem }) {
			restA = append(restA, w)
		}
	}
	for _, w := range restA {
		take(func(v word) bool { return oneApart(v.key, w.key) })
	}
	return shared
}

// oneApart reports whether two long words differ by one letter put in, left out
// or exchanged.
func oneApart(a, b string) bool {
	if utf8.RuneCountInString(a) > utf8.RuneCountInString(b) {
		a, b = b, a
	}
	ra, rb := []rune(a), []rune(b)
	if len(ra) < misspelt-1 || len(rb) < misspelt || len(rb)-len(ra) > 1 || startsWithDigit(a) || startsWithDigit(b) {
		return false
	}
	i := 0
	for i < len(ra) && ra[i] == rb[i] {
		i++
	}
	if len(ra) == len(rb) {
		return i < len(ra) && string(ra[i+1:]) == string(rb[i+1:])
	}
	return string(ra[i:]) == string(rb[i+1:])
}

func sameKeys(a, b map[string]bool) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}
