package nli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
)

// overlapShare is the part of a piece that the next one repeats, so that what
// stands at a cut is whole in one of them.
const overlapShare = 4 // a quarter

// Fits reports whether text has at most limit tokens.
func Fits(text string, limit int, count TokenCounter) (bool, error) {
	// In ASCII no tokenizer makes more tokens than bytes, but for a marker of
	// the start of the text.
	if len(text) < limit && isASCII(text) {
		return true, nil
	}
	n, err := count.CountTokens(text)
	if err != nil {
		return false, fmt.Errorf("counting tokens: %w", err)
	}
	return n <= limit, nil
}

// SplitLong returns span itself if it has at most limit tokens. Otherwise it
// cuts span into overlapping pieces that do, at the ends of clauses where there
// are any near, else between words, else between characters. Every piece is
// measured as it will be encoded.
func SplitLong(text string, span evidence.Span, limit int, count TokenCounter) ([]evidence.Span, error) {
	if limit < 1 {
		return nil, fmt.Errorf("no room for a premise: %w", ErrTooLong)
	}
	span = trimSpan(text, span)
	ok, err := Fits(span.In(text), limit, count)
	if err != nil {
		return nil, err
	}
	if ok {
		return []evidence.Span{span}, nil
	}
	cuts := cutPoints(text, span)
	var out []evidence.Span
	for from := 0; ; {
		to, err := longest(text, cuts, from, limit, count)
		if err != nil {
			return nil, err
		}
		if to < len(cuts)-1 {
			to = clauseEnd(cuts, from, to)
		}
		out = append(out, trimSpan(text, evidence.Span{Start: cuts[from].at, End: cuts[to].at}))
		if to == len(cuts)-1 {
			return out, nil
		}
		from = max(from+1, to-(to-from)/overlapShare)
	}
}

// cut is a place where a sentence may be cut: before the word at offset at.
type cut struct {
	at     int
	clause bool // a clause ends before it
}

// cutPoints lists the places between words, both ends included. Words of more
// than maxWord bytes may be cut inside.
func cutPoints(text string, span evidence.Span) []cut {
	const maxWord = 64
	cuts := []cut{{at: span.Start}}
	inSpace := true
	for at := span.Start; at < span.End; {
		r, size := utf8.DecodeRuneInString(text[at:span.End])
		last := cuts[len(cuts)-1].at
		switch {
		case unicode.IsSpace(r):
			inSpace = true
		case inSpace && at > span.Start:
			cuts = append(cuts, cut{at: at, clause: endsClause(text[span.Start:at])})
			inSpace = false
		case at-last >= maxWord:
			cuts = append(cuts, cut{at: at})
			inSpace = false
		default:
			inSpace = false
		}
		at += size
	}
	return append(cuts, cut{at: span.End})
}

func endsClause(before string) bool {
	before = strings.TrimRightFunc(before, unicode.IsSpace)
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(";:,–—)]", r)
}

// longest returns the last cut up to which the piece from cuts[from] fits; at
// least one word, which must then fit by itself. Tokens grow about evenly with
// words, so each count says where to look next.
func longest(text string, cuts []cut, from, limit int, count TokenCounter) (int, error) {
	lo, hi := from, min(len(cuts)-1, from+limit+1) // a word has a token or more
	guess := hi
	if len(cuts)-1-from > limit {
		guess = from + max(1, limit*3/4)
	}
	for tries := 0; lo < hi; tries++ {
		at := min(max(guess, lo+1), hi)
		n, err := count.CountTokens(text[cuts[from].at:cuts[at].at])
		if err != nil {
			return 0, fmt.Errorf("counting tokens: %w", err)
		}
		if n <= limit {
			lo = at
		} else {
			hi = at - 1
		}
		guess = from + (at-from)*limit/max(n, 1)
		if tries%4 == 3 { // very uneven words: halve
			guess = (lo + hi + 1) / 2
		}
	}
	if lo == from {
		return 0, fmt.Errorf("a single word of %d bytes has more than %d tokens: %w", cuts[from+1].at-cuts[from].at, limit, ErrTooLong)
	}
	return lo, nil
}

// clauseEnd moves to back to the end of a clause, if one ends in the second
// half of the piece.
func clauseEnd(cuts []cut, from, to int) int {
	for i := to; i > from+(to-from)/2; i-- {
		if cuts[i].clause {
			return i
		}
	}
	return to
}

func trimSpan(text string, s evidence.Span) evidence.Span {
	start := s.End - len(strings.TrimLeftFunc(s.In(text), unicode.IsSpace))
	body := text[start:s.End]
	return evidence.Span{Start: start, End: start + len(strings.TrimRightFunc(body, unicode.IsSpace))}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
