package excerpt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Sentences are passages with their sentences numbered, so that a model can
// point at one instead of copying it: what it points at is verbatim by
// construction, and costs a token.
type Sentences struct {
	// Text is for the prompt.
	Text     string
	passages []schema.Passage
	pieces   []piece // number n is pieces[n-1]
}

// Numbered is Text with numbered sentences, counted through all passages.
func Numbered(passages []schema.Passage, about string, limit int) Sentences {
	passages = distinct(passages)
	pieces := split(passages, about)
	total := 0
	for _, list := range pieces {
		total += maxTitle
		for _, p := range list {
			total += p.runes + overhead
		}
	}
	if total > limit {
		pieces = choose(pieces, limit)
	}
	s := Sentences{passages: passages}
	var b strings.Builder
	shown := 0
	for i, list := range pieces {
		if len(list) == 0 {
			continue
		}
		shown++
		fmt.Fprintf(&b, "[%d] %s\n", shown, title(passages[i].Title))
		for _, p := range list {
			s.pieces = append(s.pieces, p)
			fmt.Fprintf(&b, "(%d) %s\n", len(s.pieces), strings.Join(strings.Fields(p.text), " "))
		}
		b.WriteByte('\n')
	}
	s.Text = strings.TrimSpace(b.String())
	return s
}

// Quotes returns the sentences with these numbers, in this order, as they
// stand in their passages. Sentences that follow each other in a passage are
// one quote. Numbers that were never shown, or are given twice, are left out.
func (s Sentences) Quotes(numbers []int) []string {
	var valid []int
	for _, n := range numbers {
		if n >= 1 && n <= len(s.pieces) && !slices.Contains(valid, n) {
			valid = append(valid, n)
		}
	}
	var quotes []string
	done := map[int]bool{}
	for _, n := range valid {
		if done[n] {
			continue
		}
		first, last := n, n
		for slices.Contains(valid, first-1) && s.follows(first-1) {
			first--
		}
		for slices.Contains(valid, last+1) && s.follows(last) {
			last++
		}
		for k := first; k <= last; k++ {
			done[k] = true
		}
		from, to := s.pieces[first-1], s.pieces[last-1]
		span := evidence.Span{Start: from.span.Start, End: to.span.End}
		quotes = append(quotes, span.In(s.passages[from.passage].Text))
	}
	return quotes
}

// follows reports whether number n+1 comes right after n in the same passage.
func (s Sentences) follows(n int) bool {
	a, b := s.pieces[n-1], s.pieces[n]
	return a.passage == b.passage && a.at+1 == b.at
}
