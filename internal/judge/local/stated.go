package local

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
)

// statedShare is the share of the words of what was sought that a sentence must
// hold, its passage's title included, to count as stating it.
const statedShare = 0.6

// Stated looks for a sentence that names what was sought and gives a value for
// it: a name, number or date that neither the question, nor the query, nor the
// abstention holds. A value that the step claims itself doesn't count: there
// the step found the fact after all.
func (Judge) Stated(ctx context.Context, in abstaincheck.Input) (abstaincheck.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return abstaincheck.Verdict{}, fmt.Errorf("reading the passages for the fact sought: %w", err)
	}
	f := newFact(in)
	if len(f.words) == 0 {
		return abstaincheck.Verdict{Meta: meta("The step doesn't say what it sought.")}, nil
	}
	best, quote, value := 0.0, "", ""
	for _, t := range readPassages(in.Passages) {
		for i := range t.sentences {
			s := &t.sentences[i]
			score := f.share(s)
			if score < statedShare || score <= best || !f.tied(t, s) || !f.relationNamed(s) {
				continue
			}
			if v := f.value(t, s); v != "" {
				best, quote, value = score, s.text, v
			}
		}
	}
	what := strings.Join(f.words, " ")
	if quote == "" {
		return abstaincheck.Verdict{Meta: meta(fmt.Sprintf("No sentence names %q together with a value for it.", what))}, nil
	}
	return abstaincheck.Verdict{Stated: true, Quotes: []string{quote},
		Meta: meta(fmt.Sprintf("A sentence about %q gives %q.", what, value))}, nil
}

// fact is what a step sought and didn't find.
type fact struct {
	words    []string // stems that a sentence should hold
	relation []string // those of them that belong to no name
	names    []string // whom or what it may be about
	known    map[string]bool
	claimed  map[string]bool
	year     bool // it is a date
	place    bool // it is a place
}

// newFact reads what was sought from the abstention itself; where that says
// nothing but "not found", from the query.
func newFact(in abstaincheck.Input) fact {
	text := in.Abstention
	f := fact{known: tokenSet(in.Question, in.Query, in.Abstention), claimed: tokenSet(in.Claim)}
	f.words = f.contentOf(text)
	if len(f.words) == 0 {
		text = in.Sought
		f.words = f.contentOf(text)
	}
	named := tokenSet(evidence.Names(text)...)
	for _, t := range f.words {
		if !named[t] {
			f.relation = append(f.relation, t)
		}
	}
	f.names = slices.Concat(evidence.Names(text), evidence.Names(in.Query), evidence.Names(in.Claim))
	return f
}

// contentOf returns the stems of what a text is about, and notes whether it
// asks for a date: a sentence gives a date without the word.
func (f *fact) contentOf(text string) []string {
	var words []string
	seen := map[string]bool{}
	for _, w := range evidence.Words(text) {
		switch w.Key {
		case "year", "years", "date", "dates", "when":
			f.year = true
			continue
		case "where", "location", "place", "birthplace":
			f.place = true
		}
		stem := evidence.Stem(w.Key)
		if seen[stem] || evidence.IsStopWord(w.Key) || isAbstentionWord(w.Key) || evidence.IsNegation(w.Key) {
			continue
		}
		seen[stem] = true
		words = append(words, stem)
	}
	return words
}

func (f fact) share(s *sentence) float64 { return share(f.words, s.titled) }

// tied reports whether the sentence, by its passage, is about one of the names
// that the step had in mind.
func (f fact) tied(t reading, s *sentence) bool {
	if len(f.names) == 0 {
		return true
	}
	head := evidence.EntityKey(bareTitle(t.title))
	return slices.ContainsFunc(f.names, func(name string) bool {
		return holdsName(s.keys, name) || head != "" && evidence.EntityKey(name) == head
	})
}

// relationNamed reports whether the sentence itself, without its title, holds a
// word of what was sought that belongs to no name.
func (f fact) relationNamed(s *sentence) bool {
	return len(f.relation) == 0 || share(f.relation, s.tokens) > 0
}

// value returns a name, number or date of the sentence that is news: not part
// of what is known, not the passage's own subject, and not claimed.
func (f fact) value(t reading, s *sentence) string {
	title := tokenSet(t.title)
	if f.place && !f.placed(s) {
		return ""
	}
	for _, e := range evidence.Entities(s.text) {
		if f.year && len(evidence.Years(e)) == 0 {
			continue
		}
		// "Heather State" is news though the question asks for a state's name.
		fresh := slices.DeleteFunc(evidence.ContentTokens(e), func(t string) bool { return f.known[t] || title[t] })
		if len(fresh) > 0 && !slices.ContainsFunc(fresh, func(t string) bool { return f.claimed[t] }) {
			return e
		}
	}
	return ""
}

// placed reports whether a name that is news stands where a place would.
func (f fact) placed(s *sentence) bool {
	for i := 1; i < len(s.words); i++ {
		switch s.words[i-1].key {
		case "in", "at", "near", "from", "to":
			if s.words[i].name && !f.known[s.words[i].stem] {
				return true
			}
		}
	}
	return false
}

// isAbstentionWord: words in which an abstention is put, not what it is about.
func isAbstentionWord(key string) bool {
	switch key {
	case "specific", "specifically", "specified", "specify", "information", "info", "detail", "details", "detailed", "data",
		"mention", "mentions", "mentioned", "mentioning", "passage", "passages", "paragraph", "paragraphs", "text", "texts",
		"search", "searches", "searching", "result", "results", "find", "finding", "found", "provide", "provides", "provided",
		"state", "states", "stated", "give", "gives", "given", "document", "documents", "evidence", "explicit", "explicitly",
		"direct", "directly", "determine", "determined", "answer", "answered", "question", "unable", "unclear", "unknown",
		"seem", "seems", "appear", "appears", "available", "contain", "contains", "contained", "include", "includes", "included",
		"exact", "exactly", "unfortunately", "conclude", "concluded", "enough", "sufficient", "insufficient", "know", "known",
		"relevant", "say", "says", "said", "tell", "tells", "told", "indicate", "indicates", "indicated", "list", "lists",
		"listed", "clear", "clearly", "discuss", "discussed", "confirm", "confirmed", "instead", "page", "pages", "article",
		"articles", "source", "sources", "knowledge", "identify", "identified", "context", "above", "still", "yet", "need",
		"needed", "name", "couldn't", "could", "cover", "covered", "show", "shows", "shown", "refer", "related",
		"locate", "matching", "regarding", "concerning", "anything", "something":
		return true
	}
	return false
}
