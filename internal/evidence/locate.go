package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stepgap/stepgap/pkg/schema"
)

// maxQuote bounds a quote, in bytes; what is longer is a passage, not a quote.
const maxQuote = 8 << 10

// Locate finds a proposed quote in passages and returns it as the passages'
// own text. It tries, over all passages in the order given (put the step's own
// first), the exact text, then the folded one, then the folded one without the
// marks of footnotes, then a near match that differs in no negation, number, date
// or name. A quote with an ellipsis in it stands
// for its longest part that can be found.
//
// A quote never begins or ends within a word or a number, so that "1929" is
// not found in "11929", nor "grew by 1" in "grew by 1.5"; one over 8 KiB is not
// looked for. Passages without
// text (references) or with invalid UTF-8 are passed over.
//
// In the result Start and End count code points, and Text equals the passage's
// text between them.
func Locate(passages []schema.Passage, quote string) (schema.Quote, bool) {
	quote = trimQuote(quote)
	if len(quote) > maxQuote || !quotable(quote) {
		return schema.Quote{}, false
	}
	if q, ok := locateWhole(passages, quote); ok {
		return q, true
	}
	for _, part := range ellipsisParts(quote) {
		if q, ok := locateWhole(passages, part); ok {
			return q, true
		}
	}
	return schema.Quote{}, false
}

// QuoteAt makes a quote of the bytes that s covers in passage.
func QuoteAt(passage schema.Passage, s Span, match schema.QuoteMatch) schema.Quote {
	start := RuneOffset(passage.Text, s.Start)
	text := s.In(passage.Text)
	return schema.Quote{
		Passage: passage.Digest, Title: passage.Title, ByStep: passage.ByStep,
		Start: start, End: start + utf8.RuneCountInString(text),
		Text: text, Match: match,
	}
}

func locateWhole(passages []schema.Passage, quote string) (schema.Quote, bool) {
	for _, p := range passages {
		if !readable(p) {
			continue
		}
		if s, ok := findWhole(p.Text, quote); ok {
			return QuoteAt(p, s, schema.MatchExact), true
		}
	}
	folded := FoldString(quote)
	if !quotable(folded) {
		return schema.Quote{}, false
	}
	texts := make([]Folded, len(passages))
	for i, p := range passages {
		if !readable(p) {
			continue
		}
		texts[i] = Fold(p.Text)
		if s, ok := findWhole(texts[i].Text, folded); ok {
			return QuoteAt(p, texts[i].Original(s), schema.MatchFolded), true
		}
	}
	bare := strings.TrimSpace(Fold(quote).withoutNotes().Text)
	if !quotable(bare) {
		return schema.Quote{}, false
	}
	for i, p := range passages {
		if text := texts[i].withoutNotes(); bare != folded || len(text.Text) < len(texts[i].Text) {
			if s, ok := findWhole(text.Text, bare); ok {
				return QuoteAt(p, text.Original(s), schema.MatchFolded), true
			}
		}
	}
	return locateNear(passages, quote)
}

func readable(p schema.Passage) bool { return p.Text != "" && utf8.ValidString(p.Text) }

// trimQuote drops white space, ellipses and one pair of quote marks around a
// quote.
func trimQuote(quote string) string {
	quote = trimEllipses(strings.TrimSpace(quote))
	first, size := utf8.DecodeRuneInString(quote)
	if closer := closingQuote(first); closer != "" && len(quote) > size+len(closer) && strings.HasSuffix(quote, closer) {
		inner := quote[size : len(quote)-len(closer)]
		if !strings.Contains(inner, closer) {
			return trimEllipses(strings.TrimSpace(inner))
		}
	}
	return quote
}

// trimEllipses drops ellipses at both ends, which say that the passage goes on.
func trimEllipses(quote string) string {
	for {
		before := quote
		for _, dots := range []string{"[…]", "[...]", "(...)", "...", "…"} {
			quote = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(quote, dots), dots))
		}
		if quote == before {
			return quote
		}
	}
}

// quotable reports whether text has a token that carries content.
func quotable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, w := range Words(text) {
		if !IsStopWord(w.Key) && w.Key != "" {
			return true
		}
	}
	return false
}

// ellipsisParts splits a quote at its ellipses; the longest part first. Parts
// of fewer than four words are no quotes.
func ellipsisParts(quote string) []string {
	quote = strings.NewReplacer("[…]", "…", "[...]", "…", "(...)", "…", "...", "…").Replace(quote)
	if !strings.Contains(quote, "…") {
		return nil
	}
	var parts []string
	for _, part := range strings.Split(quote, "…") {
		if part = strings.TrimSpace(part); len(Words(part)) >= 4 && quotable(part) {
			parts = append(parts, part)
		}
	}
	for i := 1; i < len(parts); i++ {
		for j := i; j > 0 && len(parts[j]) > len(parts[j-1]); j-- {
			parts[j], parts[j-1] = parts[j-1], parts[j]
		}
	}
	return parts
}

// findWhole finds needle in text where it cuts no word or number.
func findWhole(text, needle string) (Span, bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], needle)
		if i < 0 {
			return Span{}, false
		}
		s := Span{from + i, from + i + len(needle)}
		if !cuts(text, s.Start) && !cuts(text, s.End) {
			return s, true
		}
		_, size := utf8.DecodeRuneInString(text[s.Start:])
		from = s.Start + size
	}
}

// cuts reports whether offset stands within a word or a number of text.
func cuts(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return false
	}
	before, size := utf8.DecodeLastRuneInString(text[:at])
	after, sizeAfter := utf8.DecodeRuneInString(text[at:])
	if unicode.IsMark(after) || isInvisible(after) && isWordRune(before) {
		return true
	}
	switch {
	case isDense(before) || isDense(after):
		return false
	case isWordRune(before) && isWordRune(after):
		return true
	case unicode.IsDigit(before) && isNumberJoin(after):
		next, _ := utf8.DecodeRuneInString(text[at+sizeAfter:])
		return unicode.IsDigit(next)
	case isNumberJoin(before) && unicode.IsDigit(after):
		prev, _ := utf8.DecodeLastRuneInString(text[:at-size])
		return unicode.IsDigit(prev)
	case isApostrophe(after) && unicode.IsLetter(before):
		// "did" in "didn't"; a possessive may stay behind.
		rest := text[at+sizeAfter:]
		return strings.HasPrefix(rest, "t") && !startsLetter(rest[1:])
	case (before == '-' || before == '−') && unicode.IsDigit(after):
		// "-40 degrees" isn't "40 degrees".
		prev, _ := utf8.DecodeLastRuneInString(text[:at-size])
		return size == at || unicode.IsSpace(prev)
	}
	return false
}

func isNumberJoin(r rune) bool { return r == '.' || r == ',' }

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func startsLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}
