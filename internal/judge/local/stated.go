package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
)

// statedShare is the share of what was sought that a sentence must name, by
// weight, to count as stating it.
const statedShare = 0.6

// Stated looks for a sentence that names what was sought and gives a value for
// it: a name, number or date that neither the question, nor the query, nor the
// abstention holds. A value that the step claims itself doesn't count: there
// the step found the fact after all.
func (Judge) Stated(ctx context.Context, in abstaincheck.Input) (abstaincheck.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return abstaincheck.Verdict{}, fmt.Errorf("reading the passages for the fact sought: %w", err)
	}
	sought := soughtFact(in)
	if len(evidence.ContentTokens(sought)) == 0 {
		return abstaincheck.Verdict{Meta: meta("The step doesn't say what it sought.")}, nil
	}
	target := evidence.NewQuery(sought)
	known := tokenSet(in.Question, in.Query, in.Abstention)
	claimed := tokenSet(in.Claim)
	best, quote, value := 0.0, "", ""
	for _, p := range in.Passages {
		for _, s := range evidence.Sentences(p.Text) {
			sentence := s.In(p.Text)
			score := target.Relevance(evidence.Titled(p.Title, sentence))
			if score < statedShare || score <= best {
				continue
			}
			if v := newValue(p, sentence, known, claimed); v != "" && relationNamed(sought, sentence) {
				best, quote, value = score, sentence, v
			}
		}
	}
	if quote == "" {
		return abstaincheck.Verdict{Meta: meta(fmt.Sprintf("No sentence names %q together with a value for it.", sought))}, nil
	}
	return abstaincheck.Verdict{Stated: true, Quotes: []string{quote},
		Meta: meta(fmt.Sprintf("A sentence about %q gives %q.", sought, value))}, nil
}

// soughtFact is what the abstention says was missing, with the names of the
// query for context; where the abstention is empty of content, the query.
func soughtFact(in abstaincheck.Input) string {
	var words []string
	for _, w := range evidence.Words(in.Abstention) {
		if !evidence.IsStopWord(w.Key) && !isAbstentionWord(w.Key) && !evidence.IsNegation(w.Key) {
			words = append(words, w.Text)
		}
	}
	if len(words) == 0 {
		return in.Sought
	}
	return strings.Join(append(words, evidence.Names(in.Query)...), " ")
}

// isAbstentionWord: words in which an abstention is put, not what it is about.
func isAbstentionWord(key string) bool {
	switch evidence.Stem(key) {
	case "specific", "inform", "informat", "detail", "mention", "passage", "paragraph", "search", "result", "find", "found", "provid",
		"stat", "state", "give", "given", "giv", "document", "evidenc", "text", "explicit", "direct", "determin", "answ", "question",
		"unabl", "unclear", "unknown", "seem", "appear", "availabl", "contain", "includ", "although", "however", "need", "known",
		"data", "context", "above", "about", "any", "still", "yet", "exact", "unfortunate", "unfortunat", "specify", "conclud", "enough", "sufficient",
		"insufficient", "know", "relevant", "say", "tell", "indicat", "list", "but", "eith", "clear", "discuss", "confirm",
		"instead", "page", "articl", "sourc", "knowledg", "identify", "cannot", "couldn't", "could":
		return true
	}
	return false
}

// newValue returns a name, number or date of the sentence that is news: not
// part of what is known, not the passage's own subject, and not claimed.
func newValue(p schema.Passage, sentence string, known, claimed map[string]bool) string {
	title := tokenSet(p.Title)
	for _, e := range evidence.Entities(sentence) {
		fresh := false
		for _, t := range evidence.ContentTokens(e) {
			if claimed[t] {
				fresh = false
				break
			}
			if !known[t] && !title[t] {
				fresh = true
			}
		}
		if fresh {
			return e
		}
	}
	return ""
}

// relationNamed reports whether the sentence itself, without its title, names
// a word of what was sought that is no name: the relation.
func relationNamed(sought, sentence string) bool {
	names := tokenSet(evidence.Names(sought)...)
	have := tokenSet(sentence)
	relation := false
	for _, t := range evidence.ContentTokens(sought) {
		if names[t] {
			continue
		}
		relation = true
		if have[t] {
			return true
		}
	}
	return !relation
}

func tokenSet(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, t := range evidence.ContentTokens(text) {
			set[t] = true
		}
	}
	return set
}
