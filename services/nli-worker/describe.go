package nliworker

import (
	"sort"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// A conclusion over several hops names its bridge by a description: "the play
// on which The Quiet Orchard is based was written by Mads Holm". No single
// quote says that, and a small model can't join two. So the description is
// found by its form, and a name that the quotes hold is put in its place.

// description is a noun phrase of a statement that says who or what is meant
// by how it stands to something else.
type description struct{ evidence.Span }

// word is a blank-separated word with where it stands.
type word struct {
	evidence.Span
	key   string // lower case, without punctuation
	upper bool
	comma bool // punctuation ends a phrase after it
}

func wordsOf(text string) []word {
	var out []word
	at := 0
	for _, f := range strings.Fields(text) {
		start := at + strings.Index(text[at:], f)
		at = start + len(f)
		bare := strings.Trim(f, `,.;:"“”'()`)
		out = append(out, word{
			Span:  evidence.Span{Start: start, End: at},
			key:   strings.ToLower(bare),
			upper: startsUpper(bare),
			comma: strings.HasSuffix(f, ",") || strings.HasSuffix(f, ";") || strings.HasSuffix(f, ":"),
		})
	}
	return out
}

const (
	// maxDescriptions bounds how many are tried for one statement.
	maxDescriptions = 6
	// maxPhraseWords bounds one, so that a hostile claim costs little.
	maxPhraseWords = 40
)

// descriptions finds the descriptions in a statement that its question gives,
// the longest first. Each leaves a statement, and the answer in it.
func descriptions(claim, question, answer string) []description {
	words := wordsOf(claim)
	var out []description
	for _, d := range phrases(claim, question) {
		before := sort.Search(len(words), func(i int) bool { return words[i].Start >= d.Start })
		after := sort.Search(len(words), func(i int) bool { return words[i].Start >= d.End })
		if len(out) < maxDescriptions && d.leavesStatement(claim, words[:before], words[after:], answer) {
			out = append(out, d)
		}
	}
	return out
}

// phrases finds the noun phrases in a statement that describe something in the
// question's own words, the longest first.
func phrases(claim, question string) []description {
	words := wordsOf(claim)
	known := contentSet(question)
	var out []description
	for i := range words {
		if !opensDescription(claim, words, i) {
			continue
		}
		for j := min(len(words), i+maxPhraseWords) - 1; j > i; j-- {
			if !closesDescription(words, j) {
				continue
			}
			d := description{evidence.Span{Start: words[i].Start, End: trimmedEnd(claim, words[j].Span)}}
			if d.describes(claim, known) {
				out = append(out, d)
			}
		}
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].Len() > out[b].Len() })
	return out
}

// trimmedEnd is the end of a word without the punctuation after it.
func trimmedEnd(text string, s evidence.Span) int {
	return s.Start + len(strings.TrimRight(s.In(text), ".,;:"))
}

// opensDescription: an article, or the owner in "Orrin Vale's father". A
// capital article within a sentence opens a title.
func opensDescription(claim string, words []word, i int) bool {
	switch words[i].key {
	case "the":
		return (i == 0 || !words[i].upper) && !strings.HasPrefix(claim, `The answer to "`) || i > 3 && !words[i].upper
	case "a", "an":
		// After "is" it says something of the subject.
		return i > 0 && !words[i].upper && isPreposition(words[i-1].key)
	}
	if !words[i].upper || i > 0 && words[i-1].upper && !words[i-1].comma {
		return false
	}
	for j := i; j < len(words) && j < i+6 && (words[j].upper || j == i); j++ {
		if strings.HasSuffix(words[j].key, "'s") || strings.HasSuffix(words[j].key, "’s") {
			return true
		}
	}
	return false
}

// closesDescription: what follows begins something else.
func closesDescription(words []word, j int) bool {
	last := words[j].key
	if isPreposition(last) || isRelative(last) || last == "the" || last == "a" || last == "an" || last == "and" || isAuxiliary(last) ||
		strings.HasSuffix(last, "'s") || strings.HasSuffix(last, "’s") {
		return false
	}
	if j == len(words)-1 {
		return true
	}
	next := words[j+1]
	if words[j].comma {
		return !hasDigit(next.key) // "born August 1, 1973"
	}
	return !next.upper && (looksVerb(next.key) || isPreposition(next.key) && next.key != "of")
}

func isAuxiliary(w string) bool {
	switch w {
	case "is", "are", "was", "were", "has", "have", "had", "does", "do", "did":
		return true
	}
	return false
}

// describes: all its words are the question's, there are two at least, and
// something singles it out: a name, a number or a superlative.
func (d description) describes(claim string, known map[string]bool) bool {
	text := d.In(claim)
	tokens := evidence.ContentTokens(text)
	if len(tokens) < 2 {
		return false
	}
	for _, t := range tokens {
		if !known[t] {
			return false
		}
	}
	if strings.Count(text, `"`)%2 == 1 || strings.Contains(text, "?") {
		return false
	}
	all := wordsOf(text)
	singled, related, common := false, false, false
	clauses, open := 0, 0 // open clauses lack their verb
	for k, w := range all {
		common = common || !w.upper && w.key != "" && !evidence.IsStopWord(w.key) && !isPreposition(w.key) && !hasDigit(w.key)
		switch {
		case k > 1 && w.key == "the" && !w.upper && !all[k-1].upper && !isPreposition(all[k-1].key) && !isRelative(all[k-1].key) && !looksVerb(all[k-1].key):
			return false // "the year the tower": two phrases
		case isRelative(w.key):
			related, clauses, open = true, clauses+1, open+1
		case open == 0 && isMainVerb(w.key), clauses == 0 && w.key == "to" && k+1 < len(all) && !all[k+1].upper && all[k+1].key != "the":
			return false // a statement, or the middle of one
		case k > 0 && !w.upper && looksVerb(w.key):
			related, open = true, max(0, open-1)
		case isPreposition(w.key), strings.HasSuffix(w.key, "'s"), strings.HasSuffix(w.key, "’s"):
			related = true
		case singlesOut(w.key):
			singled = true
		}
	}
	if open > 0 || clauses == 0 && looksVerb(all[len(all)-1].key) || clauses > 0 && d.openClause(claim) {
		return false // a relative clause without its verb or its end, a verb without its object
	}
	// "The botanist Clara Voss" and "The Halden Bridge in Norvik" are names, not
	// descriptions.
	return singled || common && related && (hasDigit(text) || len(properNames(text)) > 0 || len(tokens) > 3)
}

// openClause: what follows may still belong to a relative clause.
func (d description) openClause(claim string) bool {
	next := wordsOf(claim[d.End:])
	return len(next) > 0 && isPreposition(next[0].key)
}

// leavesStatement: what stands around the description has a verb and the
// answer, and says more than that the one is the other: the bridge of "the
// birthplace of the author is Lund" is the author, not the birthplace.
func (d description) leavesStatement(claim string, before, after []word, answer string) bool {
	verb, more := false, false
	said := phraseOf(answer)
	for _, w := range append(append([]word{}, before...), after...) {
		verb = verb || isFinite(w.key)
		more = more || w.key != "of" && isPreposition(w.key) && !said.holds(w.key)
		if w.key != "" && !isAuxiliary(w.key) && !evidence.IsStopWord(w.key) && !sharesContent(w.key, answer) {
			more = true
		}
	}
	rest := claim[:d.Start] + " " + claim[d.End:]
	return verb && more && (bareAnswer(answer) || sharesContent(rest, answer))
}

// bareAnswer: yes and no stand nowhere in a statement.
func bareAnswer(answer string) bool {
	switch strings.ToLower(strings.Trim(answer, " .!")) {
	case "", "yes", "no":
		return true
	}
	return false
}

// replaced is the claim with name in place of the description.
func (d description) replaced(claim, name string) string {
	return claim[:d.Start] + name + claim[d.End:]
}

// fits are the statements that name is what the description says; each of them
// says all of it.
func (d description) fits(claim, name string) []string {
	text := d.In(claim)
	if head, rest, ok := strings.Cut(text, " "); ok && (head == "The" || head == "A" || head == "An") {
		text = strings.ToLower(head) + " " + rest
	}
	out := []string{name + " is " + text + "."}
	words := wordsOf(text)
	for k, w := range words {
		if (w.key == "that" || w.key == "who" || w.key == "which") && k > 1 && k+1 < len(words) && !isPreposition(words[k-1].key) && isFinite(words[k+1].key) {
			return append(out, name+" "+text[words[k+1].Start:]+".")
		}
	}
	return append(out, strings.ToUpper(text[:1])+text[1:]+" is "+name+".")
}

// definite: there is but one of what it describes.
func (d description) definite(claim string) bool {
	head, _, _ := strings.Cut(d.In(claim), " ")
	return head != "a" && head != "an" && head != "A" && head != "An"
}

// supported reports whether premise holds at least half of what the
// description says; without that a model that sees entailment guesses.
func (d description) supported(claim, premise string) bool {
	have := contentSet(premise)
	tokens := evidence.ContentTokens(d.In(claim))
	found := 0
	for _, t := range tokens {
		if have[t] {
			found++
		}
	}
	return 2*found >= len(tokens)
}

// unsupported returns what the question describes and premise says too little
// of to entail the claim about it; empty if there is nothing of the kind.
func unsupported(premise, claim, question string) string {
	for _, d := range phrases(claim, question) {
		if !d.supported(claim, premise) {
			return d.In(claim)
		}
	}
	return ""
}

func contentSet(text string) map[string]bool {
	set := make(map[string]bool)
	for _, t := range evidence.ContentTokens(text) {
		set[t] = true
	}
	return set
}
