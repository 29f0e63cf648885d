package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences splits text into its sentences, in order, without the white space
// around them. The spans don't overlap and cover every character that isn't
// white space.
func Sentences(text string) []Span {
	var spans []Span
	start := 0
	emit := func(end int) {
		if s := trim(text, Span{Start: start, End: end}); s.Len() > 0 {
			spans = append(spans, s)
		}
		start = end
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		next := at + size
		if n := markEnd(text, start, at); n > 0 {
			next = at + n
			emit(next)
			at = next
			continue
		}
		switch {
		case r == '\n':
			if lineEnds(text, start, at) {
				emit(next)
			}
		case isWideStop(r):
			next = closers(text, next)
			emit(next)
		case isStop(r):
			for next < len(text) && isStopByte(text[next]) {
				next++
			}
			end := closers(text, next)
			if stopEnds(text, start, at, next, end) {
				next = end
				emit(next)
			}
		}
		at = next
	}
	emit(len(text))
	return spans
}

func trim(text string, s Span) Span {
	body := text[s.Start:s.End]
	left := len(body) - len(strings.TrimLeftFunc(body, unicode.IsSpace))
	right := len(strings.TrimRightFunc(body, unicode.IsSpace))
	if right <= left {
		return Span{Start: s.Start, End: s.Start}
	}
	return Span{Start: s.Start + left, End: s.Start + right}
}

func isStop(r rune) bool { return r == '.' || r == '!' || r == '?' || r == '…' }

func isStopByte(b byte) bool { return b == '.' || b == '!' || b == '?' }

func isWideStop(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '．', '؟', '۔', '।', '॥', '։':
		return true
	}
	return false
}

// closers moves past quote marks, brackets and reference marks ("[12]") that
// close at offset.
func closers(text string, at int) int {
	for at < len(text) {
		if n := referenceMark(text[at:]); n > 0 {
			at += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !strings.ContainsRune(`"'”’»)]}」』）》】`, r) {
			break
		}
		at += size
	}
	return at
}

// referenceMark returns the length of a mark such as "[4]" at the head of s, or
// 0.
func referenceMark(s string) int {
	if s[0] != '[' {
		return 0
	}
	n := 1
	for n < len(s) && n <= 4 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 1 || n == len(s) || s[n] != ']' {
		return 0
	}
	return n + 1
}

// lineEnds reports whether the newline at offset ends a sentence. A line that
// is merely wrapped goes on in lower case.
func lineEnds(text string, start, at int) bool {
	if strings.TrimSpace(text[start:at]) == "" {
		return true
	}
	rest := text[at+1:]
	if strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") {
		return true
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t\r"))
	return !unicode.IsLower(r)
}

// stopEnds reports whether the stop at [at, after), with what closes up to
// end, ends a sentence that began at start.
func stopEnds(text string, start, at, after, end int) bool {
	if end >= len(text) {
		return true
	}
	rest := text[end:]
	r, _ := utf8.DecodeRuneInString(rest)
	if !unicode.IsSpace(r) {
		// "3.5", "U.S.A", "e.g.x", but also "end.Next" in sloppy extracts.
		return gluedSentence(text, start, at, end)
	}
	body := strings.TrimLeftFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'“‘«([`, r)
	})
	first, _ := utf8.DecodeRuneInString(body)
	if unicode.IsLower(first) {
		return text[at] == '.' && end == at+1 && endsPlainly(text[start:at])
	}
	if text[at] != '.' || after-at > 1 {
		return true
	}
	word := lastWord(text[start:at])
	next := firstWord(body)
	switch {
	case word == "":
		return true
	case isTitleAbbreviation(word):
		return false
	case isNumberAbbreviation(word) && unicode.IsDigit(first):
		return false
	case isInitial(word):
		// "J. B. Watson" goes on; "vitamin C. The ..." doesn't.
		return isSentenceStarter(next)
	case isAbbreviation(word):
		return isSentenceStarter(next)
	}
	return true
}

// endsPlainly reports whether a stop after body ends a sentence although the next
// begins in lower case, as in carelessly written text: after a year, or a word
// that is no abbreviation.
func endsPlainly(body string) bool {
	word := lastWord(body)
	if len(word) >= 3 && strings.Trim(word, "0123456789") == "" {
		return true
	}
	return utf8.RuneCountInString(word) >= 4 && strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 &&
		!isLowerAbbreviation(strings.ToLower(word)) && !isTitleAbbreviation(word) && !isAbbreviation(word)
}

// gluedSentence tells "worldwide.The song" from "U.S.A" and "example.com".
func gluedSentence(text string, start, at, end int) bool {
	if text[at] != '.' {
		return false
	}
	word := lastWord(text[start:at])
	if utf8.RuneCountInString(word) < 3 || !isLowerWord(word) {
		return false
	}
	next := firstWord(text[end:])
	return isSentenceStarter(next)
}

func isLowerWord(word string) bool {
	for _, r := range word {
		if !unicode.IsLower(r) {
			return false
		}
	}
	return word != ""
}

// longestWord bounds how far a word is followed, so that text without blanks
// costs no more than other text.
const longestWord = 64

// lastWord returns the word, with inner periods, that s ends in.
func lastWord(s string) string {
	s = s[max(0, len(s)-longestWord):]
	i := strings.LastIndexFunc(s, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.')
	})
	if i < 0 {
		return s
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return s[i+size:]
}

func firstWord(s string) string {
	s = s[:min(len(s), longestWord)]
	i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	if i < 0 {
		return s
	}
	return s[:i]
}

func isInitial(word string) bool {
	if i := strings.LastIndexByte(word, '.'); i >= 0 {
		word = word[i+1:]
	}
	return utf8.RuneCountInString(word) == 1 && unicode.IsUpper([]rune(word)[0])
}
