// Package excerpt writes passages into a prompt of bounded length. What doesn't
// fit is dropped by relevance, sentence by sentence, never cut off at the end:
// padding before or after the telling sentence can't push it out.
package excerpt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

const (
	// gap stands where sentences were left out.
	gap = " [...] "
	// overhead is what a kept piece brings with it, in runes: the gap before it
	// or its number.
	overhead = 8
	// maxPiece is the longest stretch that is kept or dropped as one, in
	// runes; a "sentence" beyond it is text without punctuation.
	maxPiece = 600
	// near is how many sentences away something still belongs to what is about
	// the question.
	near = 3
	// maxTitle bounds a title, in runes.
	maxTitle = 200
)

// piece is a sentence of a passage.
type piece struct {
	passage, at int // which passage, which of its pieces
	span        evidence.Span
	text        string
	runes       int
	score       float64 // relevance, the passage's title counted in
	own         bool    // it holds words of what is asked by itself
}

// Text writes passages, numbered and titled, in at most about limit runes. Where
// they don't fit, what is about the text about is kept first, with what stands
// near it; what is neither is left out, room or no room, so that it costs
// nothing and says nothing. Passages without text and repeated ones are left
// out.
func Text(passages []schema.Passage, about string, limit int) string {
	passages = distinct(passages)
	if whole := render(passages, nil); utf8.RuneCountInString(whole) <= limit {
		return whole
	}
	kept := choose(split(passages, about), limit)
	return render(passages, kept)
}

func distinct(passages []schema.Passage) []schema.Passage {
	type key struct{ title, text string }
	seen := map[key]bool{}
	var out []schema.Passage
	for _, p := range passages {
		k := key{p.Title, p.Text}
		if strings.TrimSpace(p.Text) == "" || seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, p)
	}
	return out
}

func split(passages []schema.Passage, about string) [][]piece {
	query := evidence.NewQuery(about)
	out := make([][]piece, len(passages))
	for i, p := range passages {
		for _, sentence := range evidence.Sentences(p.Text) {
			for _, span := range chop(p.Text, sentence) {
				text := span.In(p.Text)
				out[i] = append(out[i], piece{
					passage: i, at: len(out[i]), span: span, text: text, runes: utf8.RuneCountInString(text),
					score: query.Relevance(evidence.Titled(p.Title, text)), own: query.Relevance(text) > 0,
				})
			}
		}
	}
	return out
}

// chop cuts what is too long for a sentence at blanks, where there are any.
func chop(text string, s evidence.Span) []evidence.Span {
	var out []evidence.Span
	for utf8.RuneCountInString(s.In(text)) > maxPiece {
		rest := s.In(text)
		end := evidence.ByteOffset(rest, maxPiece)
		if blank := strings.LastIndexAny(rest[:end], " \t\n"); blank > end/2 {
			end = blank
		}
		out = append(out, evidence.Span{Start: s.Start, End: s.Start + end})
		s.Start += end + len(rest[end:]) - len(strings.TrimLeft(rest[end:], " \t\n"))
	}
	return append(out, s)
}

// choose takes pieces by relevance, each with its neighbours, until the limit;
// then more of what stands near them; then the heads of passages of which only
// the title is relevant. If nothing is, it takes what comes first.
func choose(pieces [][]piece, limit int) [][]piece {
	var order []piece
	for _, list := range pieces {
		order = append(order, list...)
	}
	slices.SortStableFunc(order, func(a, b piece) int { return cmp.Compare(b.score, a.score) })

	t := taking{pieces: pieces, taken: make([]map[int]bool, len(pieces)), room: limit}
	for _, p := range order {
		if p.own {
			t.around(p, 0, 1)
		}
	}
	for _, p := range order {
		if p.own {
			t.around(p, 2, near)
		}
	}
	for _, p := range order {
		if p.score > 0 && p.at <= near {
			t.around(p, 0, 0)
		}
	}
	if t.room == limit {
		for _, p := range order {
			t.around(p, 0, 0)
		}
	}

	kept := make([][]piece, len(pieces))
	for i, list := range pieces {
		for _, p := range list {
			if t.taken[i][p.at] {
				kept[i] = append(kept[i], p)
			}
		}
	}
	return kept
}

// taking is what was taken so far.
type taking struct {
	pieces [][]piece
	taken  []map[int]bool
	room   int
}

// around takes the pieces that stand from first to last away from p.
func (t *taking) around(p piece, first, last int) {
	for d := first; d <= last; d++ {
		t.take(p.passage, p.at-d)
		t.take(p.passage, p.at+d)
	}
}

func (t *taking) take(passage, at int) {
	if at < 0 || at >= len(t.pieces[passage]) || t.taken[passage][at] {
		return
	}
	cost := t.pieces[passage][at].runes + overhead
	if t.taken[passage] == nil {
		cost += maxTitle // a passage's first piece brings its heading
	}
	if cost > t.room {
		return
	}
	if t.taken[passage] == nil {
		t.taken[passage] = map[int]bool{}
	}
	t.taken[passage][at] = true
	t.room -= cost
}

// render writes passages whole or, where kept is given, those pieces of each.
func render(passages []schema.Passage, kept [][]piece) string {
	var b strings.Builder
	number := 0
	for i, p := range passages {
		body := p.Text
		if kept != nil {
			if len(kept[i]) == 0 {
				continue
			}
			body = joined(kept[i])
		}
		number++
		fmt.Fprintf(&b, "[%d] %s\n%s\n\n", number, title(p.Title), strings.TrimSpace(body))
	}
	return strings.TrimSpace(b.String())
}

func title(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxTitle {
		text = text[:evidence.ByteOffset(text, maxTitle)]
	}
	return text
}

func joined(pieces []piece) string {
	var b strings.Builder
	for i, p := range pieces {
		switch {
		case i > 0 && pieces[i-1].at+1 == p.at:
			b.WriteByte(' ')
		case i > 0 || p.at > 0:
			b.WriteString(gap)
		}
		b.WriteString(p.text)
	}
	return b.String()
}
