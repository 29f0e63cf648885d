package rewardagg

import (
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// misspelling is the share of letter triples from which two words are taken for
// spellings of one.
const misspelling = 0.4

// repeatsQuery reports whether query is a near-duplicate of any earlier one.
func repeatsQuery(earlier []*view, query string, threshold float64) bool {
	for _, v := range earlier {
		if f := v.facts(); f != nil && strings.TrimSpace(f.Query) != "" && sameQuery(f.Query, query, threshold) {
			return true
		}
	}
	return false
}

// sameQuery reports whether two queries ask for the same in nearly the same
// words. Two that differ in a number, or by one word in the place of another
// ("birth" and "death" of someone with a long name), don't.
func sameQuery(a, b string, threshold float64) bool {
	if !equalSets(evidence.NumberKeys(a), evidence.NumberKeys(b)) || evidence.Similarity(a, b) < threshold {
		return false
	}
	onlyA, onlyB := differing(evidence.ContentTokens(a), evidence.ContentTokens(b))
	return len(onlyA) == 0 || len(onlyB) == 0 || spelledAlike(onlyA, onlyB) || spelledAlike(onlyB, onlyA)
}

// spelledAlike reports whether each word of a is a spelling of one of b.
func spelledAlike(a, b []string) bool {
	for _, w := range a {
		found := false
		for _, x := range b {
			found = found || evidence.Similarity(w, x) >= misspelling
		}
		if !found {
			return false
		}
	}
	return true
}

func differing(a, b []string) (onlyA, onlyB []string) {
	inA, inB := setOf(a), setOf(b)
	for w := range inA {
		if !inB[w] {
			onlyA = append(onlyA, w)
		}
	}
	for w := range inB {
		if !inA[w] {
			onlyB = append(onlyB, w)
		}
	}
	return onlyA, onlyB
}

// repeatsClaim reports whether every sentence of claim was said by some earlier
// claim.
func repeatsClaim(earlier []*view, claim string, share float64) bool {
	sentences := sentencesOf(claim)
	if len(sentences) == 0 {
		return false
	}
	for _, s := range sentences {
		said := false
		for _, v := range earlier {
			if f := v.facts(); f != nil && says(claimOf(f), s, share) {
				said = true
				break
			}
		}
		if !said {
			return false
		}
	}
	return true
}

// says reports whether whole already says part: it holds the share of part's
// content words, all its numbers and names, and negates as it does.
func says(whole, part string, share float64) bool {
	if whole == "" || evidence.Negated(whole) != evidence.Negated(part) {
		return false
	}
	words, have := setOf(evidence.ContentTokens(part)), setOf(evidence.ContentTokens(whole))
	if len(words) == 0 {
		return evidence.FoldString(whole) == evidence.FoldString(part)
	}
	for n := range evidence.NumberKeys(part) {
		if !evidence.NumberKeys(whole)[n] {
			return false
		}
	}
	for _, name := range evidence.Names(part) {
		for _, w := range evidence.ContentTokens(name) {
			if !have[w] {
				return false
			}
		}
	}
	held := 0
	for w := range words {
		if have[w] {
			held++
		}
	}
	return float64(held) >= share*float64(len(words))
}

func sentencesOf(text string) []string {
	var out []string
	for _, sp := range evidence.Sentences(text) {
		if s := strings.TrimSpace(sp.In(text)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

func equalSets(a, b map[string]bool) bool {
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
