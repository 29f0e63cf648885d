package evidence

// nearDuplicate is the similarity from which two queries count as the same:
// four of five content words shared, or a misspelling apart.
const nearDuplicate = 0.8

// Similarity compares two queries in [0, 1]: the larger of the shares of
// content words and of letter triples that they have in common. Word order,
// case, accents, plural endings and function words make no difference. Two
// queries without any content are the same only if they fold to the same text.
func Similarity(a, b string) float64 {
	if FoldString(a) == FoldString(b) {
		return 1
	}
	ta, tb := setOf(ContentTokens(a)), setOf(ContentTokens(b))
	if len(ta) == 0 || len(tb) == 0 {
		return 0
	}
	return max(jaccard(ta, tb), jaccard(triples(ta), triples(tb)))
}

// NearDuplicate reports whether two queries ask for the same thing in nearly
// the same words. Queries that differ in a number, such as a year, do not.
func NearDuplicate(a, b string) bool {
	if !sameKeys(NumberKeys(a), NumberKeys(b)) {
		return false
	}
	return Similarity(a, b) >= nearDuplicate
}

func jaccard(a, b map[string]bool) float64 {
	shared := 0
	for t := range a {
		if b[t] {
			shared++
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// triples returns the letter triples of the tokens, each token padded.
func triples(tokens map[string]bool) map[string]bool {
	out := map[string]bool{}
	for t := range tokens {
		runes := []rune(" " + t + " ")
		for i := 0; i+3 <= len(runes); i++ {
			out[string(runes[i:i+3])] = true
		}
		if len(runes) < 3 {
			out[string(runes)] = true
		}
	}
	return out
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
