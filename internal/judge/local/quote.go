package local

import (
	"github.com/stepgap/stepgap/internal/evidence"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Weights of what makes a sentence decide a claim, for or against. The subject
// weighs most: a sentence about something else can't contradict, whatever
// values it holds.
const (
	subjectWeight  = 0.5
	relationWeight = 0.25
	valueWeight    = 0.25
	// sameTypeValue is what a value of the claim's type is worth beside the
	// claim's own value: a sentence that gives another year for the same thing
	// decides too.
	sameTypeValue = 0.6
	// decidingScore is the least that a quote must reach; below it there is no
	// quote, and the most relevant window is the premise.
	decidingScore = 0.4
	// subjectInTitle is what a subject word is worth that only the passage's
	// title holds.
	subjectInTitle = 0.9
)

// parts are a claim's words by what they do.
type parts struct {
	subject  []string // stems: what the claim is about
	relation []string // stems: what it says about it
	value    []string // stems: the news in it
	wants    values   // the type of the news
}

// splitClaim tells a claim's subject from its news: names that the query (or
// for a conclusion the question) holds already are the subject, names and
// numbers that it doesn't are the news. Where that leaves no subject, every
// name is subject and value at once.
func splitClaim(in quoteextract.Input, claim string) parts {
	known := tokenSet(in.Query, in.Question)
	names := tokenSet(evidence.Names(claim)...)
	entities := tokenSet(evidence.Entities(claim)...)
	var p parts
	for _, t := range uniqueTokens(claim) {
		switch {
		case names[t] && known[t]:
			p.subject = append(p.subject, t)
		case entities[t]:
			p.value = append(p.value, t)
		default:
			p.relation = append(p.relation, t)
		}
	}
	if len(p.subject) == 0 {
		p.subject = p.value
	}
	p.wants = wantedValues(claim, p.value, names)
	return p
}

// wantedValues tells the type of the claim's news.
func wantedValues(claim string, value []string, names map[string]bool) values {
	var v values
	for _, t := range value {
		if names[t] {
			v.names = true
		}
	}
	v.years = len(evidence.Years(claim)) > 0
	v.dates = len(evidence.Dates(claim)) > 0
	v.numbers = !v.years && !v.dates && len(evidence.Numbers(claim)) > 0
	return v
}

// decidingSentences returns the sentence that decides a claim and, where that
// one lacks a name of the claim that another sentence has, that one too.
func decidingSentences(in quoteextract.Input, claim string, texts []reading) []string {
	p := splitClaim(in, claim)
	best, second := -1.0, -1.0
	var first, other *sentence
	for i := range texts {
		for j := range texts[i].sentences {
			s := &texts[i].sentences[j]
			if score := p.score(s); score > best {
				best, first = score, s
			}
		}
	}
	if first == nil || best < decidingScore {
		return nil
	}
	missing := absent(append(append([]string{}, p.subject...), p.value...), first.titled)
	if len(missing) > 0 {
		for i := range texts {
			for j := range texts[i].sentences {
				s := &texts[i].sentences[j]
				if s == first || share(missing, s.titled) < 0.5 {
					continue
				}
				if score := p.score(s); score > second {
					second, other = score, s
				}
			}
		}
	}
	if other == nil || other.text == first.text {
		return []string{first.text}
	}
	return []string{first.text, other.text}
}

// score says how far a sentence decides the claim, in [0, 1].
func (p parts) score(s *sentence) float64 {
	subject := 0.0
	for _, t := range p.subject {
		switch {
		case s.tokens[t]:
			subject++
		case s.titled[t]:
			subject += subjectInTitle
		}
	}
	if n := len(p.subject); n > 0 {
		subject /= float64(n)
	}
	relation := share(p.relation, s.tokens)
	value := share(p.value, s.tokens)
	if len(p.value) == 0 {
		value = relation
	}
	if value < sameTypeValue && p.wants.met(s.values) {
		value = max(value, sameTypeValue)
	}
	// News about something else is no news.
	return subjectWeight*subject + (relationWeight*relation+valueWeight*value)*(0.4+0.6*subject)
}

// met reports whether a sentence gives a value of every wanted type.
func (v values) met(have values) bool {
	if v == (values{}) {
		return false
	}
	return (!v.years || have.years) && (!v.numbers || have.numbers) && (!v.dates || have.dates || have.years) && (!v.names || have.names)
}

func share(tokens []string, in map[string]bool) float64 {
	if len(tokens) == 0 {
		return 0
	}
	found := 0
	for _, t := range tokens {
		if in[t] {
			found++
		}
	}
	return float64(found) / float64(len(tokens))
}

func absent(tokens []string, in map[string]bool) []string {
	var out []string
	for _, t := range tokens {
		if !in[t] {
			out = append(out, t)
		}
	}
	return out
}

func uniqueTokens(text string) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range evidence.ContentTokens(text) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}
