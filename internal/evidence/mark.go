package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestMark bounds how far a mark is followed.
const longestMark = 200

// markEnd returns the length of what stands at offset and ends a sentence
// without a stop, or 0: a tag that is no mere formatting, a token by which
// chat models tell turns apart, and, where a capital follows, the end of data
// or a word that no language has. Pages and policies leave such things in
// their text, and what comes after them is no part of the sentence before.
func markEnd(text string, start, at int) int {
	switch c := text[at]; {
	case c == '<':
		return tagEnd(text[at:])
	case c == '}' || c == '|' || c == '`' && strings.HasSuffix(text[start:at+1], "```"):
		if capitalFollows(text[at+1:]) {
			return 1
		}
	case c == ' ' && at+1 < len(text) && text[at+1] >= 'A' && text[at+1] <= 'Z':
		if word := lastField(text[start:at]); isCodeWord(word) || isLowerWord(word) && !IsStopWord(word) && startsAnew(text[at+1:]) {
			return 1
		}
	}
	return 0
}

// tagEnd returns the length of the tag or chat token that s begins with, or 0.
func tagEnd(s string) int {
	end := strings.IndexByte(s[:min(len(s), longestMark)], '>')
	if end < 2 {
		return 0
	}
	body := s[1:end]
	if strings.ContainsAny(body, "<\n") {
		return 0
	}
	switch r, _ := utf8.DecodeRuneInString(body); {
	case r == '|' || r == '｜':
		return end + 1
	case strings.HasPrefix(body, "!--"):
		if i := strings.Index(s, "-->"); i > 0 {
			return i + len("-->")
		}
		return end + 1
	}
	name := strings.TrimLeft(body, "/")
	if i := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }); i >= 0 {
		name = name[:i]
	}
	r, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(r) || isFormatting(strings.ToLower(name)) {
		return 0
	}
	return end + 1
}

// isFormatting: tags that stand within sentences.
func isFormatting(name string) bool {
	switch name {
	case "a", "abbr", "b", "cite", "code", "em", "font", "i", "mark", "math", "q", "ref", "s", "small", "span", "strong", "sub", "sup",
		"time", "u", "var", "wbr":
		return true
	}
	return false
}

// startsAnew reports whether s begins with a pronoun and its verb, as only a
// sentence does: what stood before lacks its stop.
func startsAnew(s string) bool {
	pronoun, rest, _ := strings.Cut(s[:min(len(s), longestMark)], " ")
	switch pronoun {
	case "It", "He", "She", "They", "There", "This", "These":
	default:
		return false
	}
	verb, _, _ := strings.Cut(rest, " ")
	switch verb {
	case "is", "was", "are", "were", "has", "had", "have":
		return true
	}
	return false
}

func capitalFollows(rest string) bool {
	trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
	r, _ := utf8.DecodeRuneInString(trimmed)
	return len(trimmed) < len(rest) && unicode.IsUpper(r)
}

// lastField is the end of s from its last blank on, no longer than a code word
// must be to be known as one.
func lastField(s string) string {
	s = s[max(0, len(s)-longestMark):]
	return s[strings.LastIndexAny(s, " \n\t")+1:]
}

// isCodeWord reports whether a word is no word of any language: long, with
// escapes in it, or longer than any.
func isCodeWord(word string) bool {
	const escaped, endless = 20, 48
	return len(word) >= escaped && isASCII(word) && (len(word) >= endless || strings.ContainsAny(word, `\%=_{}|/`))
}
