package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxJudged is how many bytes of a clause its class is read from: what a
	// sentence does, it says at its head.
	maxJudged = 4 << 10
	// maxDivided is the longest sentence, in bytes, that is looked into for
	// halves; real ones are far shorter.
	maxDivided = 1500
)

// verdict is what a clause, on its own, was found to be.
type verdict struct {
	class Class
	core  int // where the core begins
}

// judge classes one clause. concluding says that what stood before it ("so")
// makes it a conclusion if it asserts anything.
func judge(clause string, concluding bool) verdict {
	clause = clause[:cutAt(clause, maxJudged)]
	core, concludes := stripLeads(clause)
	rest := clause[core:]
	trimmed := strings.TrimRight(rest, " \t\r\"”'’)*")
	switch {
	case strings.HasPrefix(strings.TrimLeft(rest, "*$([\\ "), "boxed{"):
		return verdict{Lead, core} // an answer, said again in LaTeX
	case rest == "" || !strings.ContainsFunc(rest, isWordRune):
		return verdict{Heading, core}
	case reNoKnowledge.MatchString(clause):
		return verdict{Plan, core}
	case strings.HasSuffix(trimmed, "?"):
		return verdict{Plan, core}
	case isPlan(rest):
		return verdict{Plan, core}
	case reNoCounter.MatchString(clause):
		return verdict{Lead, core}
	case abstains(clause):
		return verdict{Abstention, core}
	case reTool.MatchString(rest):
		return verdict{Tool, core}
	case reAboutEvidence.MatchString(rest):
		return verdict{Lead, core}
	case concluding || concludes || reConcludesInside.MatchString(clause) || reAnswerIs.MatchString(rest):
		return verdict{Conclusion, core}
	}
	return verdict{Claim, core}
}

// classify turns a piece into sentences: one, or several where its parts do
// different things.
func classify(text string, p piece) []Sentence {
	body := text[p.start:p.end]
	if addresses(body) {
		return []Sentence{{Text: body, Class: Address, Start: p.start, End: p.end, Stripped: standAlone(body)}}
	}
	var out []Sentence
	for _, part := range divide(body, p.concluding) {
		start, end := trimSpan(body, part.start, part.end)
		if start >= end {
			continue
		}
		clause := body[start:end]
		v := judge(clause, part.concluding)
		if part.class != "" {
			v.class = part.class
		}
		s := Sentence{Text: clause, Class: v.class, Start: p.start + start, End: p.start + end}
		s.Stripped = standAlone(clause[v.core:])
		if s.Class.Asserts() {
			s = fragment(s, clause[v.core:], p)
		}
		out = append(out, s)
	}
	return out
}

// fragment decides about an assertion that is no clause: under a heading it is
// a fact about what the heading names; alone it asserts nothing.
func fragment(s Sentence, core string, p piece) Sentence {
	if p.stepped && strings.HasSuffix(strings.TrimSpace(core), ":") {
		s.Class = Heading
		return s
	}
	if hasFiniteVerb(core) && !(p.bullet && p.subject != "" && !strings.ContainsFunc(core[:1], unicode.IsUpper)) {
		if p.bullet && p.subject != "" && rePastVerb.MatchString(firstWord(core)) {
			s.Stripped = p.subject + ": " + s.Stripped
		}
		return s
	}
	switch {
	case p.bullet && p.subject != "":
		s.Stripped = p.subject + ": " + s.Stripped
	case strings.HasSuffix(strings.TrimSpace(core), ":"):
		s.Class = Heading
	case len(strings.Fields(core)) < 4:
		s.Class = Lead
	}
	return s
}

// standAlone makes a sentence of a core: mark-up away, a capital first, a stop
// last.
func standAlone(core string) string {
	s := strings.TrimSpace(core)
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	s = strings.TrimRight(s, " \t\r\n,;:")
	if s == "" {
		return ""
	}
	word := firstWord(s)
	if r, size := utf8.DecodeRuneInString(s); unicode.IsLower(r) && !strings.ContainsFunc(word[size:], unicode.IsUpper) {
		s = string(unicode.ToUpper(r)) + s[size:]
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"”'’)]»`))
	if !strings.ContainsRune(".!?…。！？", last) {
		s += "."
	}
	return s
}

func firstWord(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func trimSpan(s string, start, end int) (int, int) {
	edge := func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' }
	body := s[start:end]
	start += len(body) - len(strings.TrimLeftFunc(body, edge))
	end = start + len(strings.TrimRightFunc(s[start:end], edge))
	return start, end
}

// cutAt returns the largest offset of at most n that doesn't cut a character.
func cutAt(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
