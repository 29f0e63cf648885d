package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Token is a word, a number or, in scripts without blanks between words, a
// pair of characters.
type Token struct {
	// Text is the token as it stands in the text.
	Text string
	// Key is what tokens are compared by: folded, lower case, without accents
	// and possessive endings.
	Key string
	Span
}

// Words splits text into tokens with byte offsets into text. Numbers keep
// their inner separators ("1,234.5"), words their inner apostrophes and
// periods between initials ("don't", "U.S").
func Words(text string) []Token {
	var tokens []Token
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case isDense(r):
			end := at + size
			for end < len(text) {
				next, n := utf8.DecodeRuneInString(text[end:])
				if !isDense(next) {
					break
				}
				end += n
			}
			tokens = appendPairs(tokens, text, at, end)
			at = end
		case isWordRune(r):
			end := wordEnd(text, at)
			tokens = append(tokens, newToken(text, at, end))
			at = end
		case r == '&' && bareAmpersand(text, at):
			tokens = append(tokens, Token{Text: "&", Key: "and", Span: Span{at, at + 1}})
			at++
		default:
			at += size
		}
	}
	return tokens
}

// Tokens returns the keys of text's tokens, in order, stop words included.
func Tokens(text string) []string {
	words := Words(text)
	keys := make([]string, len(words))
	for i, w := range words {
		keys[i] = w.Key
	}
	return keys
}

// ContentTokens returns the stems of text's tokens, without stop words.
func ContentTokens(text string) []string {
	var stems []string
	for _, w := range Words(text) {
		if !IsStopWord(w.Key) {
			stems = append(stems, Stem(w.Key))
		}
	}
	return stems
}

func newToken(text string, start, end int) Token {
	return Token{Text: text[start:end], Key: wordKey(text[start:end]), Span: Span{start, end}}
}

// wordKey is the form that a word is compared by.
func wordKey(word string) string {
	if isPlainLower(word) {
		return word
	}
	key := word
	if !isASCII(word) {
		key = StripAccents(FoldString(word))
	}
	key = strings.ToLower(key)
	key = strings.TrimSuffix(key, "'s")
	key = strings.Trim(key, "'.")
	if strings.ContainsRune(key, ',') {
		key = strings.ReplaceAll(key, ",", "")
	}
	if strings.ContainsRune(key, '.') && !startsWithDigit(key) {
		key = strings.ReplaceAll(key, ".", "")
	}
	return key
}

func isPlainLower(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// StripAccents removes combining marks from Latin, Greek and Cyrillic text, so
// that "Pokémon" and "Pokemon" are the same name.
func StripAccents(text string) string {
	if isASCII(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFD.String(text) {
		switch {
		case r >= 0x300 && r <= 0x36F:
		case r == 'ø', r == 'Ø':
			b.WriteRune('o')
		case r == 'ł', r == 'Ł':
			b.WriteRune('l')
		case r == 'đ', r == 'Đ', r == 'ð', r == 'Ð':
			b.WriteRune('d')
		case r == 'ı':
			b.WriteRune('i')
		case r == 'ß':
			b.WriteString("ss")
		case r == 'æ', r == 'Æ':
			b.WriteString("ae")
		case r == 'œ', r == 'Œ':
			b.WriteString("oe")
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// Stem strips the commonest English endings, only so far that a noun meets its
// plural and a verb its past form. Words with digits stay as they are.
func Stem(key string) string {
	n := len(key)
	if n < 4 || startsWithDigit(key) {
		return key
	}
	for _, rule := range [...]struct{ suffix, repl string }{
		{"iness", "y"}, {"ations", "at"}, {"ation", "at"}, {"ments", ""}, {"ment", ""},
		{"ingly", ""}, {"edly", ""}, {"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"},
		{"ors", ""}, {"ers", ""}, {"ings", ""}, {"ing", ""}, {"ions", ""}, {"ion", ""}, {"ied", "y"}, {"ed", ""},
		{"or", ""}, {"er", ""}, {"ly", ""}, {"es", ""}, {"e", ""}, {"s", ""},
	} {
		if !strings.HasSuffix(key, rule.suffix) {
			continue
		}
		if rule.suffix == "s" && (strings.HasSuffix(key, "ss") || strings.HasSuffix(key, "us") || strings.HasSuffix(key, "is")) {
			return key
		}
		stem := key[:n-len(rule.suffix)] + rule.repl
		if len(stem) < 3 {
			continue
		}
		// "founded" and "founder" meet, "planned" and "plan" too.
		if m := len(stem); m > 3 && stem[m-1] == stem[m-2] && strings.IndexByte("bdgmnprt", stem[m-1]) >= 0 {
			stem = stem[:m-1]
		}
		return stem
	}
	return key
}

// isDense reports scripts written without blanks between words.
func isDense(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isInvisible(r)
}

func isInvisible(r rune) bool { return r >= 0x80 && foldRune(r) < 0 }

// wordEnd returns where the word that starts at offset ends.
func wordEnd(text string, at int) int {
	prev := rune(0)
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if isWordRune(r) && !isDense(r) {
			prev = r
			at += size
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[at+size:])
		inner := false
		switch foldRune(r) {
		case '\'':
			inner = unicode.IsLetter(prev) && unicode.IsLetter(next)
		case '.':
			inner = unicode.IsDigit(prev) && unicode.IsDigit(next) ||
				unicode.IsUpper(prev) && unicode.IsUpper(next) && singleLetters(text, at)
		case ',':
			inner = unicode.IsDigit(prev) && threeDigits(text[at+size:])
		}
		if !inner {
			return at
		}
		prev = 0
		at += size
	}
	return at
}

// singleLetters reports whether the letter before the period at offset stands
// alone, as in "U.S".
func singleLetters(text string, at int) bool {
	_, size := utf8.DecodeLastRuneInString(text[:at])
	before, _ := utf8.DecodeLastRuneInString(text[:at-size])
	return !unicode.IsLetter(before)
}

// threeDigits reports whether s begins with exactly three digits, as after a
// thousands separator.
func threeDigits(s string) bool {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n == 3
}

// bareAmpersand tells "Levitt & Sons" from "&amp;".
func bareAmpersand(text string, at int) bool {
	_, n := entityAt(text[at:])
	return n == 0 || strings.HasPrefix(text[at:], "&amp;")
}

// appendPairs adds the overlapping pairs of characters of a run without
// blanks; a run of one is itself.
func appendPairs(tokens []Token, text string, start, end int) []Token {
	first, size := utf8.DecodeRuneInString(text[start:])
	_ = first
	if start+size >= end {
		return append(tokens, newToken(text, start, end))
	}
	for at := start; ; {
		_, a := utf8.DecodeRuneInString(text[at:])
		_, b := utf8.DecodeRuneInString(text[at+a:])
		if at+a >= end {
			return tokens
		}
		tokens = append(tokens, newToken(text, at, at+a+b))
		at += a
	}
}
