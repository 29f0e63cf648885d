package claim

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Statement turns a question and its answer into a statement that evidence
// can support or contradict. It knows wh-questions, yes/no questions (a
// negative answer negates the statement) and choices ("Who died earlier, A or
// B?"). An answer that is a sentence stands for itself. Where no rule fits it falls back on
//
//	The answer to "<question>" is <answer>.
func Statement(question, answer string) string {
	q := tidyQuestion(question)
	a := tidyAnswer(answer)
	if q == "" {
		return sentence(a)
	}
	if a == "" {
		return ""
	}
	if facts := sentencesOf(a); facts != "" {
		return facts
	}
	if yes, no := yesNo(a); (yes || no) && !isAux(firstWord(q)) {
		return fallback(question, a)
	}
	for _, rule := range []func(q, a string) string{
		yesNoStatement, choiceStatement, whoStatement, howStatement, whenStatement,
		whatStatement, insideStatement,
	} {
		if s := rule(q, a); s != "" {
			return sentence(s)
		}
	}
	return fallback(question, a)
}

func fallback(question, answer string) string {
	return fmt.Sprintf(`The answer to "%s" is %s.`, strings.Join(strings.Fields(question), " "), strings.TrimRight(answer, "."))
}

var (
	reSpace  = regexp.MustCompile(`\s+`)
	rePeriod = regexp.MustCompile(`[.!]+$`)
)

func tidyQuestion(q string) string {
	q = reSpace.ReplaceAllString(strings.TrimSpace(q), " ")
	q = strings.TrimRight(q, "?!. ")
	if strings.Count(q, `"`)%2 == 1 {
		q = strings.Trim(q, `"`)
	}
	return strings.TrimSpace(q)
}

func tidyAnswer(a string) string {
	a = reSpace.ReplaceAllString(strings.TrimSpace(strings.ReplaceAll(a, "**", "")), " ")
	return rePeriod.ReplaceAllStringFunc(a, func(stop string) string {
		// "U.S." and "Jr." keep theirs.
		if stop == "." && reAbbreviated.MatchString(a) {
			return stop
		}
		return ""
	})
}

var reAbbreviated = regexp.MustCompile(`(?:\b\p{Lu}\.|\b(?:Jr|Sr|Inc|Ltd|Co|Corp|St|Dr|etc)\.)$`)

// sentence gives s a capital and a stop.
func sentence(s string) string {
	s = strings.TrimSpace(strings.Trim(s, ",; "))
	if s == "" {
		return ""
	}
	if r, size := utf8.DecodeRuneInString(s); unicode.IsLower(r) && !strings.ContainsFunc(firstWord(s)[size:], unicode.IsUpper) {
		s = string(unicode.ToUpper(r)) + s[size:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

var (
	reYes = compile(`^(?:yes|yeah|true|correct)\b[,.]?\s*`)
	reNo  = compile(`^(?:no|nope|false|incorrect)\b[,.]?\s*`)
)

// yesNo reports whether an answer says yes or no and nothing that matters
// besides.
func yesNo(answer string) (yes, no bool) {
	a := strings.Trim(strings.TrimSpace(answer), `"'.*! `)
	switch strings.ToLower(a) {
	case "yes", "true", "yeah", "yep", "correct", "they are", "it is":
		return true, false
	case "no", "false", "nope", "incorrect", "they are not", "it is not":
		return false, true
	}
	if len(a) < 200 {
		// "No, they were born in different countries."
		if m := reYes.FindString(a); m != "" && strings.ContainsAny(m, ",.") {
			return true, false
		}
		if m := reNo.FindString(a); m != "" && strings.ContainsAny(m, ",.") {
			return false, true
		}
	}
	return false, false
}

// afterWord cuts the word w, with the blank after it, from the head of s.
func afterWord(s string, words ...string) (rest, word string, ok bool) {
	head := firstWord(s)
	for _, w := range words {
		if strings.EqualFold(strings.TrimRight(head, ","), w) {
			return strings.TrimSpace(s[len(head):]), strings.ToLower(w), true
		}
	}
	return s, "", false
}

var (
	beForms    = []string{"is", "are", "was", "were"}
	doForms    = []string{"does", "do", "did"}
	modalForms = []string{"can", "could", "would", "will", "should", "may", "might", "must", "has", "have", "had"}
	auxForms   = append(append(append([]string{}, beForms...), doForms...), modalForms...)
)

func isAux(word string) bool {
	_, _, ok := afterWord(word, auxForms...)
	return ok
}
