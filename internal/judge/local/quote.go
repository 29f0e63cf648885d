package local

import (
	"slices"
	"strings"

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
	// entitled is added where the passage bears the subject's name: what it
	// says, it says of the subject, though by "he" or "it".
	entitled = 0.1
	// subjectInTitle is what a subject is worth that only the title names, and
	// subjectInParts one of which only parts are named.
	subjectInTitle = 0.95
	subjectInParts = 0.6
	// decidingScore is the least that a quote must reach; below it there is no
	// quote, and the most relevant window is the premise.
	decidingScore = 0.35
	// offSubject is what relation and value are worth in a sentence that
	// doesn't name the subject at all: news about something else is no news.
	offSubject = 0.4
)

// parts are a claim's words by what they do.
type parts struct {
	subjects []string        // names: what the claim is about
	asked    map[string]bool // stems of query and claim, for passages whose title says what a lower-case query asks
	relation []string        // stems: what it says about it
	value    []string        // stems: the news in it
	wants    values          // the type of the news
}

// splitClaim tells a claim's subject from its news: names that the query or the
// question holds already are the subject, names and numbers that neither holds
// are the news. A claim that names no subject ("He was born in 1902") takes the
// query's.
func splitClaim(in quoteextract.Input, claim string) parts {
	known := tokenSet(in.Query, in.Question)
	p := parts{asked: tokenSet(in.Query, claim)}
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
	for _, t := range uniqueTokens(claim) {
		switch {
		case subject[t], isFrameWord(t):
		case entities[t] && !known[t]:
			p.value = append(p.value, t)
		case !known[t] || !entities[t]:
			p.relation = append(p.relation, t)
		}
	}
	if len(p.subjects) == 0 {
		p.subjects = evidence.Names(in.Query)
	}
	if len(p.subjects) == 0 {
		p.subjects = evidence.Names(claim)
	}
	p.wants = wantedValues(in, claim, p.value)
	return p
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

// decidingSentences returns the sentence that decides a claim and, where that
// one lacks a name or number of the claim that another sentence has, that one
// too.
func decidingSentences(in quoteextract.Input, claim string, texts []reading) []string {
	p := splitClaim(in, claim)
	first, best := p.best(texts, func(*sentence) bool { return true })
	if first == nil || best < decidingScore {
		return nil
	}
	missing := absent(slices.Concat(uniqueTokens(strings.Join(p.subjects, " ")), p.value), first.titled)
	if len(missing) == 0 {
		return []string{first.text}
	}
	other, _ := p.best(texts, func(s *sentence) bool {
		return s != first && s.text != first.text && share(missing, s.titled) >= 0.5
	})
	if other == nil {
		return []string{first.text}
	}
	return []string{first.text, other.text}
}

// best returns the sentence with the highest score, the earlier one on a tie.
func (p parts) best(texts []reading, fits func(*sentence) bool) (*sentence, float64) {
	best := -1.0
	var found *sentence
	for i := range texts {
		title := p.title(texts[i])
		for j := range texts[i].sentences {
			s := &texts[i].sentences[j]
			if !fits(s) {
				continue
			}
			if score := p.score(s, title); score > best {
				best, found = score, s
			}
		}
	}
	return found, best
}

// title says how far a passage's title is the claim's subject, in [0, 1].
func (p parts) title(r reading) float64 {
	head := bareTitle(titleOrHead(r))
	key := evidence.EntityKey(head)
	if key == "" {
		return 0
	}
	for _, name := range p.subjects {
		if evidence.EntityKey(name) == key {
			return 1
		}
		if beginsWithName(key, evidence.EntityKey(name)) {
			return 0.8 // "Baure, Nigeria" for "Baure"
		}
	}
	if tokens := evidence.ContentTokens(head); len(tokens) > 1 && share(tokens, p.asked) == 1 {
		return 0.9 // "battle of mine creek", asked in lower case
	}
	return 0
}

func beginsWithName(key, name string) bool { return name != "" && strings.HasPrefix(key, name+" ") }

// score says how far a sentence decides the claim; title is how far the title
// of its passage is the subject.
func (p parts) score(s *sentence, title float64) float64 {
	subject := max(p.named(s), subjectInTitle*title)
	relation := share(p.relation, s.tokens)
	value := share(p.value, s.tokens)
	if len(p.value) == 0 {
		value = relation
	}
	if value < sameTypeValue && p.wants.met(s.values) {
		value = sameTypeValue
	}
	return subjectWeight*subject + entitled*title +
		(relationWeight*relation+valueWeight*value)*(offSubject+(1-offSubject)*subject)
}

// named says how far a sentence names the claim's subjects.
func (p parts) named(s *sentence) float64 {
	held, total := 0.0, 0.0
	for _, name := range p.subjects {
		tokens := evidence.Tokens(name)
		weight := float64(len(tokens))
		total += weight
		switch {
		case holdsName(s.ownKeys, name):
			held += weight
		case holdsName(s.keys, name):
			held += subjectInTitle * weight
		default:
			held += subjectInParts * weight * keyShare(tokens, s.keys)
		}
	}
	if total == 0 {
		return 0
	}
	return held / total
}

// keyShare is the share of a name's words, small ones aside, that joined keys
// hold as they are written.
func keyShare(tokens []string, keys string) float64 {
	found, total := 0, 0
	for _, t := range tokens {
		if evidence.IsStopWord(t) {
			continue
		}
		total++
		if strings.Contains(keys, " "+t+" ") {
			found++
		}
	}
	if total == 0 {
		return 0
	}
	return float64(found) / float64(total)
}

// met reports whether a sentence gives a value of every wanted type.
func (v values) met(have values) bool {
	if v == (values{}) {
		return false
	}
	return (!v.years || have.years) && (!v.numbers || have.numbers) && (!v.names || have.names)
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
