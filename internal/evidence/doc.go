// Package evidence reads text the way a verifier needs it: sentences with
// their offsets, folding that maps back to the original, verbatim quotes and
// where they stand, names, numbers, dates and negations, and scores of how
// much one text is about another.
//
// Everything here is a pure function of its arguments: no models, no network,
// no randomness, no state. The package knows nothing of judges, labels or the
// tree.
package evidence

import "unicode/utf8"

// Span is a half-open range [Start, End) of byte offsets into the text that
// it was made from.
type Span struct {
	Start, End int
}

// In returns the part of text that the span covers.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// Len is the span's length in bytes.
func (s Span) Len() int { return s.End - s.Start }

// RuneOffset converts a byte offset into text to an offset in code points.
func RuneOffset(text string, byteOffset int) int {
	return utf8.RuneCountInString(text[:byteOffset])
}

// ByteOffset converts an offset in code points to a byte offset into text;
// offsets beyond the text give its length.
func ByteOffset(text string, runes int) int {
	for at := range text {
		if runes == 0 {
			return at
		}
		runes--
	}
	return len(text)
}
