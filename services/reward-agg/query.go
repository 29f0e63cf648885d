package rewardagg

import (
	"maps"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// maxQueryRead bounds what is read of a query, in bytes.
const maxQueryRead = 1 << 10

// query is a search query in the form that queries are compared by.
type query struct {
	folded  string
	numbers map[string]bool
	stems   []string          // content stems, sorted, each once
	words   map[string]string // a word as written, by its stem
	tokens  []string          // all of its tokens, in order
	names   [][]string        // the tokens of each name in it
	bracket []string          // content stems of a bracket at its end
}

// readQuery reads a query; nil where there is none.
func readQuery(text string) *query {
	text = strings.TrimSpace(clip(text, maxQueryRead))
	if text == "" {
		return nil
	}
	q := &query{
		folded: evidence.FoldString(text), numbers: evidence.NumberKeys(text),
		words: map[string]string{}, tokens: evidence.Tokens(text),
	}
	for _, w := range q.tokens {
		if stem := evidence.Stem(w); !evidence.IsStopWord(w) && q.words[stem] == "" {
			q.words[stem] = w
		}
	}
	q.stems = slices.Sorted(maps.Keys(q.words))
	q.bracket = evidence.ContentTokens(bracketOf(q.folded))
	for _, n := range evidence.Names(text) {
		q.names = append(q.names, evidence.Tokens(n))
	}
	return q
}

// leftOut is what a word of the earlier query weighs that the later one leaves
// out: asking for less of the same is nearer to asking again than asking for
// more.
const leftOut = 0.5

// same reports whether q asks for what the earlier query asked, in nearly the
// same words. Their likeness is the share of content words in common, where a
// word that q leaves out counts half, and spellings of one word are taken
// together. It must reach threshold; and a number or a bracket that tells pages
// of one title apart ("Creed (band)") makes another query. Letter triples are not
// compared, for they make "birth" and "death" of one long name alike.
func (q *query) same(earlier *query, threshold float64) bool {
	if q.folded == earlier.folded {
		return true
	}
	a, b := len(q.stems), len(earlier.stems)
	if a == 0 || b == 0 || float64(min(a, b)) < threshold*float64(a) || !maps.Equal(q.numbers, earlier.numbers) || q.setsApart(earlier) {
		return false
	}
	shared := 0
	var mine []string
	for _, s := range q.stems {
		if _, both := earlier.words[s]; both {
			shared++
		} else {
			mine = append(mine, q.words[s])
		}
	}
	alike := func(shared int) bool {
		return float64(shared) >= threshold*(float64(a)+leftOut*float64(b-shared))
	}
	if !alike(shared + min(len(mine), b-shared)) { // even if all the rest were misspellings
		return false
	}
	var theirs []string
	for _, s := range earlier.stems {
		if _, both := q.words[s]; !both {
			theirs = append(theirs, earlier.words[s])
		}
	}
	for _, w := range mine {
		if at := slices.IndexFunc(theirs, func(x string) bool { return spelledAlike(w, x) }); at >= 0 {
			shared++
			theirs = slices.Delete(theirs, at, at+1)
		}
	}
	return alike(shared)
}

// setsApart reports a bracket at the end of q with a word in it that the earlier
// query lacks.
func (q *query) setsApart(earlier *query) bool {
	return slices.ContainsFunc(q.bracket, func(stem string) bool { return earlier.words[stem] == "" })
}

// bracketOf is what stands in a bracket at the end of text, after other words.
func bracketOf(text string) string {
	body, closed := strings.CutSuffix(text, ")")
	open := strings.LastIndexByte(body, '(')
	if !closed || open <= 0 {
		return ""
	}
	return body[open+1:]
}

// spelledAlike reports whether two words are spellings of one: one letter apart
// from seven letters on, two from ten on. Shorter words one letter apart are
// mostly other words ("Iran", "Iraq"; "Gambia", "Zambia"), and a digit is never a
// slip.
func spelledAlike(a, b string) bool {
	if strings.ContainsAny(a+b, "0123456789") {
		return false
	}
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

// namesNew reports whether q names one of entities that no earlier query names,
// by rule. A name is held whole, or by a part that the query itself writes as a
// name ("Lovelace" of "Ada Lovelace").
func (q *query) namesNew(earlier []*view, entities []string, rule Bridge) bool {
	for _, entity := range entities {
		if !rule.Values && evidence.IsValue(entity) {
			continue
		}
		whole := evidence.Tokens(clip(entity, maxQueryRead))
		if holds(q.tokens, whole) && !anyHolds(earlier, whole) {
			return true
		}
		if rule.Names == MatchWhole {
			continue
		}
		for _, part := range q.names {
			if holds(whole, part) && !anyHolds(earlier, part) {
				return true
			}
		}
	}
	return false
}

func anyHolds(views []*view, words []string) bool {
	return slices.ContainsFunc(views, func(v *view) bool {
		return v.read != nil && v.read.query != nil && holds(v.read.query.tokens, words)
	})
}

// holds reports whether words stand in text one after the other.
func holds(text, words []string) bool {
	if len(words) == 0 {
		return false
	}
	for at := 0; at+len(words) <= len(text); at++ {
		if slices.Equal(text[at:at+len(words)], words) {
			return true
		}
	}
	return false
}
