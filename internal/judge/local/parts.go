package local

import (
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// parts are a claim's words by what they do.
type parts struct {
	subjects []string        // names: what the claim is about
	sought   []string        // names of the query: what the passages should be about
	asked    map[string]bool // stems of query and claim, for passages whose title says what a lower-case query asks
	relation []string        // stems: what it says about it
	value    []string        // stems: the news in it
	wants    values          // the type of the news
	cue      string          // the word before a name that is news ("in", "by"), or ""
}

// splitClaim tells a claim's subject from its news: names that the query or the
// question holds already are the subject, names and numbers that neither holds
// are the news. A claim that names no subject ("He was born in 1902") takes the
// query's.
func splitClaim(in quoteextract.Input, claim string) parts {
	known := tokenSet(in.Query, in.Question)
	p := parts{asked: tokenSet(in.Query, claim), sought: evidence.Names(in.Query)}
	subject := map[string]bool{}
	for _, name := range evidence.Names(claim) {
		if tokens := evidence.ContentTokens(name); len(tokens) > 0 && share(tokens, known) > 0.5 {
			p.subjects = append(p.subjects, name)
			for _, t := range tokens {
				subject[t] = true
			}
		}
	}
	entities := tokenSet(evidence.Entities(claim)...)
	figures := tokenSet(figuresOf(claim)...)
	for _, t := range uniqueTokens(claim) {
		switch {
		case subject[t], isFrameWord(t):
		case entities[t] && (!known[t] || figures[t]):
			// A number is news even where the query guessed it.
			p.value = append(p.value, t)
		case !known[t] || !entities[t]:
			p.relation = append(p.relation, t)
		}
	}
	if len(p.subjects) == 0 {
		p.subjects = p.sought
	}
	if len(p.subjects) == 0 {
		p.subjects = evidence.Names(claim)
	}
	p.wants = wantedValues(in, claim, p.value)
	p.cue = cueOf(claim, setOf(p.value))
	return p
}

// figuresOf returns the numbers and dates of a text, as written.
func figuresOf(text string) []string {
	var out []string
	for _, n := range evidence.Numbers(text) {
		out = append(out, n.In(text))
	}
	for _, d := range evidence.Dates(text) {
		out = append(out, d.In(text))
	}
	return out
}

// isFrameWord: words in which an answer is put ("The answer to ... is"), not
// what it says.
func isFrameWord(stem string) bool {
	switch stem {
	case "answ", "answer", "question", "nam", "name", "call":
		return true
	}
	return false
}

// wantedValues tells the type of the claim's news.
func wantedValues(in quoteextract.Input, claim string, value []string) values {
	var v values
	known := tokenSet(in.Query, in.Question)
	for _, name := range evidence.Names(claim) {
		if tokens := evidence.ContentTokens(name); len(tokens) > 0 && share(tokens, known) <= 0.5 {
			v.names = true
		}
	}
	fresh := strings.Join(value, " ")
	v.years = len(evidence.Years(fresh)) > 0
	v.numbers = !v.years && len(evidence.Numbers(fresh)) > 0
	return v
}

// cueOf returns the small word before the first name that is news: a sentence
// that has another name after the same word speaks of the same relation ("born
// in Lund", "born in Oslo").
func cueOf(claim string, news map[string]bool) string {
	words := evidence.Words(claim)
	for i := 1; i < len(words); i++ {
		if news[evidence.Stem(words[i].Key)] && isCue(words[i-1].Key) {
			return words[i-1].Key
		}
	}
	return ""
}

func isCue(key string) bool {
	switch key {
	case "in", "at", "from", "by", "of", "to", "on", "with", "near", "for", "as", "under":
		return true
	}
	return false
}
