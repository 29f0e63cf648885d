package claim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Reading is what a step says, apart from its plans.
type Reading struct {
	// Claims are the facts it asserts, lead-ins stripped, in order. For a
	// conclusion that only names an answer it is the question turned into a
	// statement.
	Claims []string
	// Abstentions are the sentences that say that something was not found, as
	// written, and an answer that declines to answer.
	Abstentions []string
	// Conclusion is the last "therefore" sentence, without its "therefore".
	Conclusion string
	// Open are the abstentions on what the step sought; see Abstains.
	Open []string
}

// Abstains reports whether the step abstains on what it sought. It does if any
// of its abstentions is about the sought fact, even where it claims something
// else besides. An abstention is not about the sought fact
//
//   - if it is about others of its kind ("I found nothing on the other estates"),
//   - if it shares no content word with query, plan and question, and has no
//     "its" or "her" that stands for what they name,
//   - if it is the policy's own "I couldn't find X" and the claims beside it
//     state X all the same ("I couldn't find the release year, but I found that
//     both were released in 2009"),
//   - in a conclusion that gives an answer.
func (r Reading) Abstains() bool { return len(r.Open) > 0 }

// Read reads a step: its claim if one is set, else its text. Abstentions are
// read from both and from the answer.
func Read(step *schema.Step) Reading {
	var r Reading
	source := step.Claim
	if strings.TrimSpace(source) == "" {
		source = step.Text
	}
	sentences := Split(source)
	for _, s := range sentences {
		switch {
		case s.Class == Address:
			if fact := hidden(s, step); fact != "" {
				r.Claims = append(r.Claims, fact)
			}
		case s.Class.Asserts() && step.Claim == "" && beside(s, step):
		case s.Class == Conclusion:
			r.Conclusion = s.Stripped
			r.Claims = append(r.Claims, s.Stripped)
		case s.Class == Claim, s.Class == Lead && step.Claim != "" && !reAboutEvidence.MatchString(s.Text):
			r.Claims = append(r.Claims, s.Stripped)
		}
	}
	if step.Claim != "" {
		sentences = append(sentences, Split(step.Text)...)
	}
	for _, s := range sentences {
		if s.Class == Abstention && !slices.Contains(r.Abstentions, s.Text) {
			r.Abstentions = append(r.Abstentions, s.Text)
		}
	}
	declined := AbstainingAnswer(step.Question, step.Answer)
	if step.Kind == schema.KindConclusion {
		r = concluded(r, step, declined)
	}
	if declined {
		r.Abstentions = append(r.Abstentions, step.Answer)
		r.Open = append(r.Open, step.Answer)
	}
	if step.Kind == schema.KindConclusion && strings.TrimSpace(step.Answer) != "" && !declined {
		return r
	}
	for _, a := range r.Abstentions {
		if a != step.Answer && sought(a, step, r.Claims) {
			r.Open = append(r.Open, a)
		}
	}
	return r
}

// concluded gives a conclusion without a claim of its own the statement that
// its answer makes.
func concluded(r Reading, step *schema.Step, declined bool) Reading {
	if step.Claim != "" {
		if len(r.Claims) == 0 && len(r.Abstentions) == 0 {
			r.Claims = []string{strings.TrimSpace(step.Claim)}
		}
		return r
	}
	if declined || strings.TrimSpace(step.Answer) == "" {
		return r
	}
	r.Claims = []string{ConcludingClaim(step.Question, step.Answer, r.Conclusion)}
	return r
}

// ConcludingClaim is the claim of a conclusion: its "therefore" sentence where
// that carries the answer, else the question turned into a statement with the
// answer in it. An answer that is itself a sentence stands for itself.
func ConcludingClaim(question, answer, therefore string) string {
	if therefore != "" && !reAnswerIs.MatchString(therefore) && carries(therefore, answer) {
		return therefore
	}
	if facts := sentencesOf(answer); facts != "" {
		return facts
	}
	return Statement(question, answer)
}

// carries reports whether a statement holds the answer; a bare yes or no is
// never written out.
func carries(statement, answer string) bool {
	if yes, no := yesNo(answer); yes || no {
		return evidence.Negated(statement) == no
	}
	have := map[string]bool{}
	for _, t := range evidence.ContentTokens(statement) {
		have[t] = true
	}
	want := evidence.ContentTokens(answer)
	for _, t := range want {
		if !have[t] {
			return false
		}
	}
	return len(want) > 0
}

// sentencesOf returns the facts of an answer that is written as a sentence.
func sentencesOf(answer string) string {
	if len(strings.Fields(answer)) < 6 {
		return ""
	}
	var facts []string
	for _, s := range Split(answer) {
		if s.Class.Asserts() && hasFiniteVerb(s.Stripped) && startsClause(s.Stripped) {
			facts = append(facts, s.Stripped)
		}
	}
	return strings.Join(facts, " ")
}

var (
	reOther = regexp.MustCompile(`(?i)\b(?:(?:any|the|about|on|for|of) (?:\w+ )?other|another|anything else|any more|further)\b`)
	// "its type", "her mother's name": of what the step is about.
	rePossessive = regexp.MustCompile(`(?i)\b(?:its|his|her|their|him|them)\b`)
	// words of an abstention that name no object.
	generic = setOf("specific", "exact", "information", "info", "detail", "find", "found", "mention", "mentioned", "search",
		"result", "paragraph", "passage", "document", "provide", "provided", "give", "given", "state", "stated", "specify", "specified",
		"list", "listed", "available", "relevant", "answer", "question", "direct", "directly", "explicitly", "text", "article", "observation",
		"snippet", "determine", "determined", "unable", "evidence", "contain", "include", "required", "necessary", "exactly", "about",
		"there", "information", "still", "also", "much", "enough", "yield", "return", "reveal", "indicate", "say", "know", "known", "could", "couldn't",
		"does", "doesn't", "not", "cannot", "can't", "either", "no", "any", "year", "date", "name", "put")
)

func setOf(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[evidence.Stem(w)] = true
	}
	return m
}

// sought reports whether an abstention is about what the step sought.
func sought(abstention string, step *schema.Step, claims []string) bool {
	if reOther.MatchString(abstention) {
		return false
	}
	object := stems(abstention)
	for g := range generic {
		delete(object, g)
	}
	if len(object) > 0 && !rePossessive.MatchString(abstention) {
		aim := stems(step.Query + " " + step.Plan + " " + step.Question)
		if len(aim) > 0 && !overlaps(object, aim) {
			return false
		}
	}
	return !reCannot.MatchString(abstention) || !stated(abstention, object, strings.Join(claims, " "))
}

// stated reports whether the claims state the object of "I couldn't find X".
func stated(abstention string, object map[string]bool, claims string) bool {
	if claims == "" {
		return false
	}
	words := stems(abstention)
	switch {
	case words[evidence.Stem("date")] || words[evidence.Stem("birthdate")]:
		if !hasFullDate(claims) {
			return false
		}
	case words[evidence.Stem("year")]:
		if len(evidence.Years(claims)) == 0 {
			return false
		}
	case len(object) == 0:
		return false
	}
	have := stems(claims)
	for o := range object {
		if !have[o] {
			return false
		}
	}
	return true
}

func hasFullDate(s string) bool {
	for _, d := range evidence.Dates(s) {
		if d.Day != 0 {
			return true
		}
	}
	return false
}

func stems(s string) map[string]bool {
	m := map[string]bool{}
	for _, t := range evidence.ContentTokens(s) {
		m[t] = true
	}
	return m
}

func overlaps(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}
