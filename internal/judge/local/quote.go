package local

import (
	"regexp"
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
	// someNameValue is what a name is worth that stands elsewhere in its sentence
	// than the claim's does.
	someNameValue = 0.4
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
	// relevanceWeight is what the share of the claim's and the query's words adds.
	relevanceWeight = 0.1
	// fewestWords: headings and list marks decide nothing.
	fewestWords = 3
	// offSubject is what relation and value are worth in a sentence that
	// doesn't name the subject at all: news about something else is no news.
	offSubject = 0.4
)

// decidingSentences returns the sentence that decides a claim and, where that
// one lacks a name or number of the claim that another sentence has, that one
// too.
func decidingSentences(in quoteextract.Input, claim string, texts []reading) []string {
	p := splitClaim(in, claim)
	about := evidence.NewQuery(claim + " " + in.Query)
	first, best := p.best(texts, about, func(*sentence) bool { return true })
	if first == nil || best < decidingScore {
		return nil
	}
	missing := absent(slices.Concat(uniqueTokens(strings.Join(p.subjects, " ")), p.value), first.titled)
	if len(missing) == 0 {
		return []string{first.text}
	}
	other, _ := p.best(texts, about, func(s *sentence) bool {
		return s != first && s.text != first.text && share(missing, s.titled) >= 0.5
	})
	if other == nil {
		return []string{first.text}
	}
	return []string{first.text, other.text}
}

// best returns the sentence with the highest score, the earlier one on a tie.
// A score depends on the sentence and its title alone: what else stands in the
// passages can't move it.
func (p parts) best(texts []reading, about evidence.Query, fits func(*sentence) bool) (*sentence, float64) {
	best := -1.0
	var found *sentence
	for i := range texts {
		title := p.title(texts[i])
		subject := evidence.ContentTokens(bareTitle(texts[i].title))
		for j := range texts[i].sentences {
			s := &texts[i].sentences[j]
			if len(s.tokens) < fewestWords || !fits(s) {
				continue
			}
			score := p.score(s, title, share(subject, s.tokens) == 1) + relevanceWeight*about.Relevance(spoken(texts[i].title, s.text))
			if score > best {
				best, found = score, s
			}
		}
	}
	return found, best
}

// pronounHead is a sentence that speaks of its passage's subject without naming it.
var pronounHead = regexp.MustCompile(`^(?i:he|she|it|they|his|her|its|their)\b`)

// spoken is a sentence with the name that its first pronoun stands for. What
// only the title says counts no words for any other sentence.
func spoken(title, sentence string) string {
	if pronounHead.MatchString(sentence) {
		return evidence.Titled(title, sentence)
	}
	return sentence
}

// title says how far a passage's title is the claim's subject, in [0, 1].
func (p parts) title(r reading) float64 {
	head := bareTitle(r.title)
	key := evidence.EntityKey(head)
	if key == "" {
		return 0
	}
	for _, name := range slices.Concat(p.subjects, p.sought) {
		if evidence.EntityKey(name) == key {
			return 1
		}
		if beginsWithName(key, evidence.EntityKey(name)) {
			return 0.8 // "Baure, Nigeria" for "Baure"
		}
	}
	tokens := evidence.ContentTokens(head)
	if (len(tokens) > 1 || len(p.subjects) == 0) && share(tokens, p.asked) == 1 {
		return 0.9 // "battle of mine creek", asked in lower case
	}
	return 0
}

func beginsWithName(key, name string) bool { return name != "" && strings.HasPrefix(key, name+" ") }

// score says how far a sentence decides the claim; title is how far the title
// of its passage is the subject, and names says that the sentence itself holds
// the words of that title.
func (p parts) score(s *sentence, title float64, names bool) float64 {
	lent := subjectInTitle * title
	if names {
		lent = title
	}
	// A claim may call its subject by what the question calls it ("the person
	// after whom ..."), and the passages by the name that was searched for.
	subject := max(named(p.subjects, s), named(p.sought, s), lent)
	relation := share(p.relation, s.tokens)
	value := share(p.value, s.tokens)
	if len(p.value) == 0 {
		value = relation
	}
	value = max(value, p.sameType(s))
	return subjectWeight*subject + entitled*title +
		(relationWeight*relation+valueWeight*value)*(offSubject+(1-offSubject)*subject)
}

// named says how far a sentence holds names, longer ones counting more.
func named(names []string, s *sentence) float64 {
	held, total := 0.0, 0.0
	for _, name := range names {
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

// sameType says how far a sentence has a value of the type that the claim's
// news is of.
func (p parts) sameType(s *sentence) float64 {
	w := p.wants
	switch {
	case w == (values{}), w.years && !s.values.years, w.numbers && !s.values.numbers:
		return 0
	case !w.names:
		return sameTypeValue
	}
	fresh := func(i int) bool { return s.words[i].name && !p.asked[s.words[i].stem] }
	for i := range s.words {
		if !fresh(i) {
			continue
		}
		if p.cue == "" || i > 0 && s.words[i-1].key == p.cue {
			return sameTypeValue
		}
	}
	for i := range s.words {
		if fresh(i) {
			return someNameValue
		}
	}
	return 0
}
