package rewardagg

import (
	"maps"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

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
// words: the share of content words in common is at least threshold, spellings
// of one word taken together, and they don't differ in a number. Letter triples
// are not compared, for they make "birth" and "death" of one long name alike.
func sameQuery(a, b string, threshold float64) bool {
	if evidence.FoldString(a) == evidence.FoldString(b) {
		return true
	}
	if !equalSets(evidence.NumberKeys(a), evidence.NumberKeys(b)) {
		return false
	}
	wa, wb := queryWords(a), queryWords(b)
	if len(wa) == 0 || len(wb) == 0 {
		return false
	}
	shared := 0
	var onlyA []string
	for stem, word := range wa {
		if _, both := wb[stem]; both {
			shared++
			delete(wb, stem)
			continue
		}
		onlyA = append(onlyA, word)
	}
	slices.Sort(onlyA)
	onlyB := slices.Sorted(maps.Values(wb))
	for _, w := range onlyA {
		if at := slices.IndexFunc(onlyB, func(x string) bool { return spelledAlike(w, x) }); at >= 0 {
			shared++
			onlyB = slices.Delete(onlyB, at, at+1)
		}
	}
	return float64(shared) >= threshold*float64(len(wa)+len(onlyB))
}

// queryWords are a query's content words by their stems.
func queryWords(query string) map[string]string {
	words := map[string]string{}
	for _, w := range evidence.Words(query) {
		if stem := evidence.Stem(w.Key); !evidence.IsStopWord(w.Key) && words[stem] == "" {
			words[stem] = w.Key
		}
	}
	return words
}

// spelledAlike reports whether two words are spellings of one: one letter apart
// from seven letters on, two from ten on. Shorter words one letter apart are
// mostly other words ("Iran", "Iraq"; "Gambia", "Zambia").
func spelledAlike(a, b string) bool {
	ra, rb := []rune(a), []rune(b)
	short := min(len(ra), len(rb))
	allowed := 0
	switch {
	case short >= 10:
		allowed = 2
	case short >= 7:
		allowed = 1
	}
	return allowed > 0 && len(ra)-len(rb) <= allowed && len(rb)-len(ra) <= allowed && edits(ra, rb) <= allowed
}

// edits is the Levenshtein distance.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range b {
			cost := diagonal
			if ca != cb {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// repeatsClaim reports whether every sentence of claim was said by some earlier
// claim.
func repeatsClaim(earlier []*view, claim string, share float64) bool {
	var claims []string
	for _, v := range earlier {
		if f := v.facts(); f != nil {
			claims = append(claims, claimOf(f))
		}
	}
	return allSaid(claims, claim, share)
}

// allSaid reports whether each sentence of claim is said by one sentence of
// claims.
func allSaid(claims []string, claim string, share float64) bool {
	var have []string
	for _, c := range claims {
		have = append(have, sentencesOf(c)...)
	}
	sentences := sentencesOf(claim)
	for _, s := range sentences {
		if !slices.ContainsFunc(have, func(h string) bool { return says(h, s, share) }) {
			return false
		}
	}
	return len(sentences) > 0
}

// says reports whether one sentence already says another: it holds the share of
// part's content words, all its numbers and names, and negates as it does.
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
