package nliworker

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/stepgap/stepgap/internal/evidence"
)

// What a question presupposes ("the bridge in Norvik", "the botanist Clara
// Voss") need not be proved by its answer. A statement made from the question
// repeats it, and a small model holds it against a premise that doesn't.

// phrase is a text as a run of words, for finding one text's words in another.
type phrase string

func phraseOf(text string) phrase {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range evidence.Words(text) {
		b.WriteString(w.Key)
		b.WriteByte(' ')
	}
	return phrase(b.String())
}

// holds reports whether the words of text stand in p in a row.
func (p phrase) holds(text string) bool {
	t := phraseOf(text)
	return len(t) > 1 && strings.Contains(string(p), string(t))
}

// presumption is what a question takes for granted, as against its answer.
type presumption struct {
	question phrase
	answer   string
}

// stated reports whether s stands in the question and holds nothing of the
// answer.
func (p presumption) stated(s string) bool {
	return p.question.holds(s) && !sharesContent(s, p.answer)
}

func (p presumption) droppable(s string) bool { return p.stated(s) && !hasDigit(s) }

// presumed returns claim without the modifiers that stand in the question word
// for word: what a name is ("the botanist"), where it is ("in Norvik"), what is
// said of it between commas or in brackets. Nothing of the answer is ever
// dropped, nor what limits a common noun ("the mayor of Norvik").
func presumed(claim, question, answer string) string {
	p := presumption{phraseOf(question), answer}
	if len(p.question) < 2 || strings.HasPrefix(claim, `The answer to "`) {
		return claim
	}
	claim = p.dropBrackets(claim)
	claim = p.dropAppositions(claim)
	claim = p.dropPlaces(claim)
	claim = p.dropClassNouns(claim)
	return strings.Join(strings.Fields(claim), " ")
}

var bracketed = regexp.MustCompile(`\s*\([^()]*\)`)

// dropBrackets also drops numbers: "(1743–1824)" tells who is meant.
func (p presumption) dropBrackets(claim string) string {
	return bracketed.ReplaceAllStringFunc(claim, func(m string) string {
		if p.stated(m) {
			return ""
		}
		return m
	})
}

var apposition = regexp.MustCompile(`, (?:an?|the|who|which|whose)\s[^,;]*,`)

func (p presumption) dropAppositions(claim string) string {
	return apposition.ReplaceAllStringFunc(claim, func(m string) string {
		if p.droppable(m) {
			return ""
		}
		return m
	})
}

var placed = regexp.MustCompile(`^,? (?:in|at|near|on|from) (?:the )?$`)

// dropPlaces drops "in Norvik" after a name.
func (p presumption) dropPlaces(claim string) string {
	names := nameSpans(claim)
	for i := len(names) - 1; i > 0; i-- {
		a, b := names[i-1], names[i]
		if !placed.MatchString(claim[a.End:b.Start]) || !p.droppable(claim[a.Start:b.End]) || !p.droppable(claim[a.End:b.End]) {
			continue
		}
		rest := claim[b.End:]
		if !endsPhrase(rest) {
			continue
		}
		claim = claim[:a.End] + strings.TrimPrefix(rest, ",")
	}
	return claim
}

// classNoun begins at the last "the" before a name.
var classNoun = regexp.MustCompile(`(?:.*\s|^)([Tt]he ((?:\pL[\pL'’-]*,? ){1,4}))$`)

// dropClassNouns drops "the botanist" before a name.
func (p presumption) dropClassNouns(claim string) string {
	names := nameSpans(claim)
	for i := len(names) - 1; i >= 0; i-- {
		at := names[i].Start
		if at > 0 && strings.ContainsAny(claim[at-1:at], `"“`) {
			at--
			for at > 0 && claim[at]&0xC0 == 0x80 {
				at--
			}
		}
		m := classNoun.FindStringSubmatchIndex(claim[:at])
		if m == nil || !isClass(claim[m[4]:m[5]]) || !endsPhrase(claim[names[i].End:]) || !p.droppable(claim[m[2]:names[i].End]) {
			continue
		}
		claim = claim[:m[2]] + claim[at:]
	}
	return claim
}

// isClass reports whether words before a name say what it is: nouns and
// adjectives, of which the last is a common noun.
func isClass(words string) bool {
	fields := strings.Fields(words)
	for _, w := range fields {
		key := strings.ToLower(strings.Trim(w, ","))
		if evidence.IsStopWord(key) || singlesOut(key) || looksVerb(key) && key != "animated" && key != "united" {
			return false
		}
	}
	last := fields[len(fields)-1]
	return last == strings.ToLower(last)
}

// lowered writes the first word of a statement small where the question does:
// its capital makes no name of it.
func lowered(statement, question string) string {
	first, rest, _ := strings.Cut(statement, " ")
	small := strings.ToLower(first)
	for _, w := range strings.Fields(question) {
		if small != first && strings.Trim(w, ",?.") == small {
			return small + " " + rest
		}
	}
	return statement
}

// endsPhrase reports whether a name with rest after it is a noun phrase of its
// own, not the beginning of a longer one ("the Norvik" of "the Norvik bridge").
func endsPhrase(rest string) bool {
	if strings.HasPrefix(rest, ", ") {
		return !startsUpper(rest[2:]) // "Stockton, CA"
	}
	words := strings.Fields(rest)
	if rest == "" || rest[0] != ' ' || len(words) == 0 {
		return !strings.HasPrefix(rest, "'s") && !strings.HasPrefix(rest, "’s")
	}
	w := strings.Trim(words[0], `,.;:"`)
	return isFinite(w) || isPreposition(w) || isRelative(w) || w == "and" || w == "or"
}

// singlesOut reports words that pick one of many, which is never a mere class.
func singlesOut(w string) bool {
	switch w {
	case "first", "second", "third", "last", "final", "only", "most", "same", "other", "next", "original", "former", "current":
		return true
	}
	return len(w) > 4 && strings.HasSuffix(w, "est")
}

func startsUpper(s string) bool {
	for _, r := range s {
		return unicode.IsUpper(r)
	}
	return false
}

// nameSpans are the proper names of text with where they stand.
func nameSpans(text string) []evidence.Span {
	var out []evidence.Span
	from := 0
	for _, n := range properNames(text) {
		at := strings.Index(text[from:], n)
		if at < 0 {
			continue
		}
		out = append(out, evidence.Span{Start: from + at, End: from + at + len(n)})
		from += at + len(n)
	}
	return out
}

// sharesContent reports whether two texts have a content word in common.
func sharesContent(a, b string) bool {
	have := contentSet(a)
	for _, t := range evidence.ContentTokens(b) {
		if have[t] {
			return true
		}
	}
	return false
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
