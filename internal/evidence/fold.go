package evidence

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folded is a text in which spellings that mean the same are written the same
// way: NFKC, runs of white space as one blank, one form of quote mark and of
// hyphen, HTML entities decoded, zero-width and direction marks gone. Every
// folded byte knows which bytes of the original it came from.
type Folded struct {
	Text  string
	start []int // start[i], end[i]: the original's bytes behind folded byte i
	end   []int
}

// Original maps a span of the folded text back to the original text. The span
// must not be empty.
func (f Folded) Original(s Span) Span {
	return Span{Start: f.start[s.Start], End: f.end[s.End-1]}
}

// Fold folds text; case stays as it is.
func Fold(text string) Folded {
	raw := foldRunes(text)
	var out builder
	out.grow(len(raw.text))

	var it norm.Iter
	it.InitString(norm.NFKC, raw.text)
	for !it.Done() {
		from := it.Pos()
		segment := it.Next()
		to := it.Pos()
		if to <= from {
			// A composed segment can share its input with the next one.
			to = from + 1
		}
		src := Span{Start: raw.start[from], End: raw.end[min(to, len(raw.text))-1]}
		for len(segment) > 0 {
			r, size := utf8.DecodeRune(segment)
			segment = segment[size:]
			if r = foldRune(r); r >= 0 {
				out.put(r, src)
			}
		}
	}
	return Folded{Text: out.String(), start: out.start, end: out.end}
}

// FoldString folds text and drops white space at its ends; for comparison
// only.
func FoldString(text string) string {
	return strings.TrimSpace(Fold(text).Text)
}

// rawText is the text before normalisation, with zero-width runes dropped
// first, so that they can't keep a base and its accent apart.
type rawText struct {
	text       string
	start, end []int
}

func foldRunes(text string) rawText {
	var b strings.Builder
	b.Grow(len(text))
	raw := rawText{start: make([]int, 0, len(text)), end: make([]int, 0, len(text))}
	put := func(r rune, src Span) {
		n, _ := b.WriteRune(r)
		for range n {
			raw.start = append(raw.start, src.Start)
			raw.end = append(raw.end, src.End)
		}
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == '&' {
			if decoded, n := entityAt(text[at:]); n > 0 {
				size, r = n, decoded
			}
		}
		if folded := foldRune(r); folded >= 0 {
			put(folded, Span{Start: at, End: at + size})
		}
		at += size
	}
	raw.text = b.String()
	return raw
}

// entityAt decodes an HTML entity of one rune at the head of s and returns its
// length, or 0.
func entityAt(s string) (rune, int) {
	const longest = 10
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 2 {
		return 0, 0
	}
	decoded := html.UnescapeString(s[:end+1])
	r, size := utf8.DecodeRuneInString(decoded)
	if size != len(decoded) || r == utf8.RuneError {
		return 0, 0
	}
	return r, end + 1
}

// foldRune returns the form of r that all its look-alikes share, or -1 for
// runes that leave no trace.
func foldRune(r rune) rune {
	switch {
	case r < 0x80:
		switch {
		case r == '`':
			return '\''
		case r == '\t' || r == '\n' || r == '\r' || r == '\v' || r == '\f':
			return ' '
		case r < 0x20 || r == 0x7f:
			return -1
		}
		return r
	case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E,
		r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x206F, r == 0xFEFF,
		r == 0x034F, r == 0x061C, r == 0x180E:
		return -1
	case unicode.IsSpace(r), r == 0x2800:
		return ' '
	}
	switch r {
	case '‘', '’', '‚', '‛', '´', 'ʹ', 'ʻ', 'ʼ', 'ʽ', '′', '‵', '‹', '›', '＇', '׳':
		return '\''
	case '“', '”', '„', '‟', '″', '‶', '«', '»', '＂', '〝', '〞', '〟', '״':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−', '⁃', '﹘', '﹣', '－':
		return '-'
	case '…':
		return '…'
	}
	return r
}

// builder collects folded runes, joining runs of blanks and of quote marks
// (“”, ”” as CSV doubles them, “ as ”), and keeps their sources.
type builder struct {
	buf        []byte
	start, end []int
}

func (b *builder) grow(n int) {
	b.buf = make([]byte, 0, n)
	b.start = make([]int, 0, n)
	b.end = make([]int, 0, n)
}

func (b *builder) put(r rune, src Span) {
	if n := len(b.buf); n > 0 {
		last := b.buf[n-1]
		switch {
		case r == ' ' && last == ' ':
			b.end[n-1] = src.End
			return
		case (r == '\'' || r == '"') && (last == '\'' || last == '"'):
			b.buf[n-1] = '"'
			b.end[n-1] = src.End
			return
		}
	}
	before := len(b.buf)
	b.buf = utf8.AppendRune(b.buf, r)
	for range len(b.buf) - before {
		b.start = append(b.start, src.Start)
		b.end = append(b.end, src.End)
	}
}

func (b *builder) String() string { return string(b.buf) }
