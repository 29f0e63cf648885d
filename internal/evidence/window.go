package evidence

import "github.com/stepgap/stepgap/pkg/schema"

// Windows returns one span for each sentence of text: the sentence with up to
// neighbours sentences on either side. Spans are anchored to sentences, so text
// further off can't move them.
func Windows(text string, neighbours int) []Span {
	sentences := Sentences(text)
	windows := make([]Span, len(sentences))
	for i := range sentences {
		from, to := max(0, i-neighbours), min(len(sentences)-1, i+neighbours)
		windows[i] = Span{sentences[from].Start, sentences[to].End}
	}
	return windows
}

// Titled is a window with its passage's title before it, so that "He was born
// in Lund" keeps who "he" is. A window that names the title already stays as it
// is.
func Titled(title, window string) string {
	if title == "" {
		return window
	}
	have := setOf(Tokens(window))
	for _, key := range Tokens(title) {
		if !have[key] {
			return title + ": " + window
		}
	}
	return window
}

// BestWindow returns the window of passages that is most relevant to claim: it
// is chosen by its middle sentence, title included, and on a tie the earlier
// one wins. It is false only if no passage has text.
func BestWindow(passages []schema.Passage, claim string, neighbours int) (schema.Quote, bool) {
	query := NewQuery(claim)
	best, found := -1.0, false
	var quote schema.Quote
	for _, p := range passages {
		if !readable(p) {
			continue
		}
		sentences := Sentences(p.Text)
		windows := Windows(p.Text, neighbours)
		for i, s := range sentences {
			score := query.Relevance(Titled(p.Title, s.In(p.Text)))
			if score > best {
				best, found = score, true
				quote = QuoteAt(p, windows[i], schema.MatchWindow)
			}
		}
	}
	return quote, found
}
