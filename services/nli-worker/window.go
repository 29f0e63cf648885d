package nliworker

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// window is a stretch of a passage, anchored to its sentences.
type window struct {
	passage *schema.Passage // nil for a quote whose passage isn't at hand
	title   string
	text    string // without title
	// premise is the window as the model reads it: with its title before it,
	// where the window doesn't name what the title does.
	premise string
	titled  bool          // the title was put into the premise
	given   *schema.Quote // the quote that the window was made for
	// first and last are the window's sentences, in sentences.
	sentences   []evidence.Span
	first, last int
	// within is where the window begins in its quote, in code points, where its
	// passage isn't at hand.
	within int
}

// runOn is how many bytes for each token of a premise make a text that no
// sentence is: tables, code, pages whose punctuation was lost.
const runOn = 8

// passageWindows returns a window for each sentence of the passages; sentences
// longer than limit tokens come in pieces. Endless text that shares no word
// with any of the claims is passed over, unless there is nothing else: cutting
// it to measure would cost more than all the rest, and nothing in it can decide.
func passageWindows(passages []schema.Passage, claims []evidence.Query, limit int, count nli.TokenCounter) ([]window, error) {
	out, passed, err := windowsOf(passages, limit, count, func(text string) bool {
		return len(text) > runOn*limit && !slices.ContainsFunc(claims, func(q evidence.Query) bool { return q.Relevance(text) > 0 })
	})
	if err == nil && len(out) == 0 && passed {
		out, _, err = windowsOf(passages, limit, count, func(string) bool { return false })
	}
	return out, err
}

// windowsOf makes the windows of all sentences but those that are to be passed
// over, and says whether there were any such.
func windowsOf(passages []schema.Passage, limit int, count nli.TokenCounter, over func(text string) bool) (out []window, passed bool, err error) {
	seen := make(map[string]bool)
	for i := range passages {
		p := &passages[i]
		if seen[p.Digest] || strings.TrimSpace(p.Text) == "" {
			continue
		}
		seen[p.Digest] = true
		title, room, err := fitTitle(p.Title, limit, count)
		if err != nil {
			return nil, false, err
		}
		var spans []evidence.Span
		var whole []bool
		for _, s := range evidence.Sentences(p.Text) {
			if over(s.In(p.Text)) {
				spans, whole, passed = append(spans, s), append(whole, true), true
				continue
			}
			parts, err := nli.SplitLong(p.Text, s, room, count)
			if err != nil {
				return nil, false, fmt.Errorf("cutting passage %q into sentences: %w", p.Title, err)
			}
			for _, part := range parts {
				spans, whole = append(spans, part), append(whole, false)
			}
		}
		for at := range spans {
			if !whole[at] {
				out = append(out, newWindow(p, title, spans, at, at))
			}
		}
	}
	return out, passed, nil
}

// fitTitle returns the title to put before a passage's sentences, and how many
// of limit tokens it leaves them. A "title" that would take more than half is
// none.
func fitTitle(title string, limit int, count nli.TokenCounter) (string, int, error) {
	if title == "" {
		return "", limit, nil
	}
	n, err := count.CountTokens(title + ": ")
	if err != nil {
		return "", 0, fmt.Errorf("measuring the title %q: %w", title, err)
	}
	if n > limit/2 {
		return "", limit, nil
	}
	return title, limit - n, nil
}

func newWindow(p *schema.Passage, title string, spans []evidence.Span, first, last int) window {
	span := evidence.Span{Start: spans[first].Start, End: spans[last].End}
	w := window{passage: p, title: title, text: span.In(p.Text), sentences: spans, first: first, last: last}
	w.premise, w.titled = premiseOf(title, w.text)
	return w
}

// span is where the window stands in its passage, in bytes.
func (w window) span() evidence.Span {
	return evidence.Span{Start: w.sentences[w.first].Start, End: w.sentences[w.last].End}
}

// quote is the window as a label names it: the quote it was made for, or its
// own text.
func (w window) quote() schema.Quote {
	if w.given != nil {
		return *w.given
	}
	start := evidence.RuneOffset(w.passage.Text, w.span().Start)
	return schema.Quote{
		Passage: w.passage.Digest, Title: w.title, ByStep: w.passage.ByStep, Text: w.text, Match: schema.MatchWindow,
		Start: start, End: start + evidence.RuneOffset(w.text, len(w.text)),
	}
}

// place is where the window stands, as a trail names it.
func (w window) place() schema.Window {
	length := evidence.RuneOffset(w.text, len(w.text))
	if w.passage == nil {
		start := w.given.Start + w.within
		return schema.Window{Passage: w.given.Passage, ByStep: w.given.ByStep, Start: start, End: start + length, Titled: w.titled}
	}
	start := evidence.RuneOffset(w.passage.Text, w.span().Start)
	return schema.Window{Passage: w.passage.Digest, ByStep: w.passage.ByStep, Start: start, End: start + length, Titled: w.titled}
}

// quoteWindow is the window of the sentences that q stands in, or of q alone
// where its passage isn't at hand. Where that has more than limit tokens, it is
// the part most relevant to the claim.
func quoteWindow(q *schema.Quote, windows []window, claim evidence.Query, limit int, count nli.TokenCounter) (window, error) {
	parts := quoteSentences(q, windows)
	if len(parts) == 0 {
		title, room, err := fitTitle(q.Title, limit, count)
		if err != nil {
			return window{}, err
		}
		spans, err := nli.SplitLong(q.Text, evidence.Span{End: len(q.Text)}, room, count)
		if err != nil {
			return window{}, fmt.Errorf("cutting the quote from %q: %w", q.Title, err)
		}
		for _, s := range spans {
			w := window{title: title, text: s.In(q.Text), within: evidence.RuneOffset(q.Text, s.Start)}
			w.premise, w.titled = premiseOf(title, w.text)
			parts = append(parts, w)
		}
	}
	whole := parts[0]
	if last := parts[len(parts)-1]; whole.passage != nil && len(parts) > 1 {
		whole = newWindow(whole.passage, whole.title, whole.sentences, whole.first, last.last)
		fits, err := nli.Fits(whole.premise, limit, count)
		if err != nil {
			return window{}, err
		}
		if fits {
			whole.given = q
			return whole, nil
		}
	}
	best := rank(parts, claim)[0].window
	best.given = q
	return best, nil
}

// quoteSentences are those of windows that q overlaps.
func quoteSentences(q *schema.Quote, windows []window) []window {
	var found []window
	at, known := evidence.Span{}, false
	for _, w := range windows {
		if w.passage.Digest != q.Passage {
			continue
		}
		if !known {
			at, known = evidence.Span{Start: evidence.ByteOffset(w.passage.Text, q.Start), End: evidence.ByteOffset(w.passage.Text, q.End)}, true
		}
		if s := w.span(); at.Start < s.End && s.Start < at.End {
			found = append(found, w)
		}
	}
	return found
}

// widen adds the sentences next to w, up to reach on each side, as long as they
// are related to the claim and the premise stays within limit tokens. Unrelated
// text beside a window thus never changes it.
func widen(w window, claim evidence.Query, related float64, reach, limit int, count nli.TokenCounter) (window, error) {
	if w.passage == nil {
		return w, nil
	}
	wide := w
	try := func(first, last, added int) (bool, error) {
		if first < 0 || last >= len(w.sentences) {
			return false, nil
		}
		if claim.Relevance(w.sentences[added].In(w.passage.Text)) < related {
			return false, nil
		}
		next := newWindow(w.passage, w.title, w.sentences, first, last)
		fits, err := nli.Fits(next.premise, limit, count)
		if err != nil || !fits {
			return false, err
		}
		next.given = w.given
		wide = next
		return true, nil
	}
	for range reach {
		ok, err := try(wide.first-1, wide.last, wide.first-1)
		if err != nil {
			return w, err
		}
		if !ok {
			break
		}
	}
	for range reach {
		ok, err := try(wide.first, wide.last+1, wide.last+1)
		if err != nil {
			return w, err
		}
		if !ok {
			break
		}
	}
	return wide, nil
}

// ranked is a window with its relevance to a claim.
type ranked struct {
	window
	relevance float64
	// own is the relevance of the window's text without its title: what only
	// stands under a title that the claim names has none.
	own float64
}

// rank sorts windows by relevance to claim, the most relevant first. Relevance
// depends on window and claim alone, and ties are broken by the text, so other
// text in the passages can't reorder them.
func rank(windows []window, claim evidence.Query) []ranked {
	out := make([]ranked, len(windows))
	for i, w := range windows {
		out[i] = ranked{window: w, relevance: claim.Relevance(w.premise)}
		switch {
		case !w.titled:
			out[i].own = out[i].relevance
		case out[i].relevance > 0:
			out[i].own = claim.Relevance(w.text)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.relevance != b.relevance {
			return a.relevance > b.relevance
		}
		if a.own != b.own {
			return a.own > b.own
		}
		return a.premise < b.premise
	})
	return out
}

// telling are those of ranking that hold words of the claim themselves. There
// may be any number of others under a title that the claim names, and they must
// not crowd these out.
func telling(ranking []ranked) []ranked {
	var out []ranked
	for _, r := range ranking {
		if r.own > 0 {
			out = append(out, r)
		}
	}
	return out
}
