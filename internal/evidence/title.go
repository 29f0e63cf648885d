package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotedTitles finds short quoted text that begins with a capital, a digit or
// a letter of a script without case.
func quotedTitles(text string) []Span {
	const longest = 90
	var spans []Span
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		closer := closingQuote(r)
		at += size
		if closer == "" {
			continue
		}
		rest := text[at:min(len(text), at+longest)]
		end := strings.Index(rest, closer)
		if r == '"' && strings.HasPrefix(rest, `"`) {
			// CSV doubles its quote marks.
			at++
			continue
		}
		if end <= 0 || strings.ContainsRune(rest[:end], '\n') {
			continue
		}
		title := trim(text, Span{at, at + end})
		first, _ := utf8.DecodeRuneInString(title.In(text))
		if strings.HasSuffix(title.In(text), "?") && len(Words(title.In(text))) > 4 {
			continue // a question that is quoted, not a title
		}
		if title.Len() > 1 && (!unicode.IsLower(first) && (unicode.IsLetter(first) || unicode.IsDigit(first))) {
			spans = append(spans, Span{title.Start, trimRightPunct(text, title)})
			at += end + len(closer)
		}
	}
	return spans
}

func trimRightPunct(text string, s Span) int {
	return s.Start + len(strings.TrimRight(s.In(text), ",.;:"))
}

func closingQuote(r rune) string {
	switch r {
	case '"':
		return `"`
	case '“':
		return "”"
	case '«':
		return "»"
	case '《':
		return "》"
	case '「':
		return "」"
	case '『':
		return "』"
	}
	return ""
}
