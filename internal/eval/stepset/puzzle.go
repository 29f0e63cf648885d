package stepset

import (
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// hop is one of the questions that a multi-hop question comes to.
type hop struct {
	// question has earlier answers put in.
	question, answer string
	support          Passage
	// key is the sentence of support that gives the answer.
	key string
	// fact says that the hop has no question of its own, only a fact to be
	// found: question is then the whole one.
	fact bool
}

// puzzle is a multi-hop question with the paragraphs to answer it and
// paragraphs that distract.
type puzzle struct {
	id, question, answer string
	aliases              []string
	hops                 []hop
	distractors          []*card
}

// sentences of a text, as written.
func sentences(text string) []string {
	var out []string
	for _, s := range evidence.Sentences(text) {
		out = append(out, s.In(text))
	}
	return out
}

// keySentence is the first sentence that names answer.
func keySentence(text, answer string) string {
	for _, s := range sentences(text) {
		if strings.Contains(s, answer) {
			return s
		}
	}
	return ""
}

// without drops the sentences that give the answer, or the key sentence, and
// leaves the others. It fails where too little is left, or where the title
// gives the answer.
func (h *hop) without() (Passage, bool) {
	if holds(h.support.Title, h.answer) {
		return Passage{}, false
	}
	var kept []string
	for _, s := range sentences(h.support.Text) {
		if s != h.key && !mentions(s, h.answer) {
			kept = append(kept, s)
		}
	}
	text := strings.Join(kept, " ")
	if len(text) < 60 || len(strings.Fields(text)) < 10 {
		return Passage{}, false
	}
	return Passage{Title: h.support.Title, Text: text}, true
}

// mentions reports whether a text gives an answer, whole or in its longest
// word.
func mentions(text, answer string) bool {
	if holds(text, answer) {
		return true
	}
	longest := ""
	for _, w := range evidence.Tokens(answer) {
		if len(w) > len(longest) && !evidence.IsStopWord(w) {
			longest = w
		}
	}
	return longest != "" && holds(text, longest)
}

// selfContained puts the title where a sentence begins with a pronoun.
func selfContained(sentence, title string) string {
	name, _, _ := strings.Cut(title, " (")
	for _, pronoun := range []string{"It ", "He ", "She ", "They "} {
		if rest, ok := strings.CutPrefix(sentence, pronoun); ok {
			return name + " " + rest
		}
	}
	return sentence
}

// ways are the wordings of a hop's claim with this answer: those that share the
// fewest words with the supporting paragraph, so that words alone don't tell a
// claim that holds. Where no rule words the question it is the paragraph's own
// sentence.
func (h *hop) ways(answer string) []string {
	var out []string
	if !h.fact {
		for _, s := range statements(h.question, answer) {
			out = append(out, spoken(s))
		}
	}
	if len(out) == 0 && h.key != "" && len(h.key) < 220 && strings.Contains(h.key, h.answer) {
		return []string{selfContained(strings.Replace(h.key, h.answer, answer, 1), h.support.Title)}
	}
	return otherWords(out, h.support)
}

// otherWords keeps the statements that share the fewest content words with a
// passage.
func otherWords(statements []string, p Passage) []string {
	if len(statements) < 2 {
		return statements
	}
	shared := make([]float64, len(statements))
	least := 2.0
	for i, s := range statements {
		shared[i] = covered(s, p)
		least = min(least, shared[i])
	}
	var out []string
	for i, s := range statements {
		if shared[i] <= least+0.05 {
			out = append(out, s)
		}
	}
	return out
}

// query is what is searched for at this hop.
func (h *hop) query(rnd *rand.Rand) string {
	if h.fact {
		return h.support.Title
	}
	return searched(rnd, h.question)
}

// covered is the share of a text's content words that a passage holds.
func covered(text string, p Passage) float64 {
	words, of, n := newCard(p).words, wordSet(text), 0.0
	for _, w := range of {
		if words[w] {
			n++
		}
	}
	return n / max(1, float64(len(of)))
}

// names are the names by which a passage would be about this hop.
func (h *hop) names() []string {
	var out []string
	if subject, _, ok := strings.Cut(h.question, ">>"); ok {
		out = append(out, strings.TrimSpace(subject))
	} else if !h.fact {
		out = append(out, evidence.Names(h.question)...)
	}
	title, _, _ := strings.Cut(h.support.Title, " (")
	return append(out, title)
}

// about reports whether a passage names this hop's subject, so that it can't
// serve as evidence of something else. That it names the answer is no matter:
// an answer that stands somewhere, without the subject, makes the hardest
// distractor.
func (h *hop) about(c *card) bool {
	for _, n := range h.names() {
		if len(n) > 2 && c.holds(n) {
			return true
		}
	}
	return false
}

// card is a passage with what is looked up in it again and again.
type card struct {
	Passage
	// key is the folded text with blanks around, words are its content words.
	key   string
	words map[string]bool
}

func newCard(p Passage) *card {
	c := &card{Passage: p, key: " " + evidence.EntityKey(p.Title+". "+p.Text) + " ", words: map[string]bool{}}
	for _, w := range evidence.ContentTokens(p.Title + " " + p.Text) {
		c.words[w] = true
	}
	return c
}

func (c *card) holds(name string) bool {
	return strings.Contains(c.key, " "+evidence.EntityKey(name)+" ")
}

// library finds paragraphs by their words.
type library struct {
	all    []*card
	byWord map[string][]*card
}

func newLibrary(puzzles []puzzle) *library {
	l := &library{byWord: map[string][]*card{}}
	seen := map[string]bool{}
	for i := range puzzles {
		for _, c := range puzzles[i].distractors {
			if seen[c.Text] {
				continue
			}
			seen[c.Text] = true
			l.all = append(l.all, c)
			for w := range c.words {
				l.byWord[w] = append(l.byWord[w], c)
			}
		}
	}
	return l
}

// nearest returns the paragraphs that share most words with a text, most
// first.
func (l *library) nearest(words []string) []*card {
	counts := map[*card]int{}
	for _, w := range words {
		for _, c := range l.byWord[w] {
			counts[c]++
		}
	}
	var out []*card
	for _, c := range l.all { // in the order of the data
		if counts[c] > 0 {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return counts[out[i]] > counts[out[j]] })
	return out
}

// wordSet is the content words of a text, each once, in order.
func wordSet(text string) []string {
	words := evidence.ContentTokens(text)
	slices.Sort(words)
	return slices.Compact(words)
}

// considered is how many paragraphs are looked at for each hop.
const considered = 250

// decoys are the paragraphs that may stand beside the supporting one of a hop,
// or in its place: those that share most words with the hop's question and
// answer and neither are about its subject nor answer any hop.
func (p *puzzle) decoys(l *library, h *hop) []*card {
	var out []*card
	for _, c := range l.nearest(wordSet(h.question + " " + h.answer)) {
		if len(out) == considered {
			break
		}
		if !h.about(c) && !p.tells(c) {
			out = append(out, c)
		}
	}
	return out
}

// tells reports whether a passage could answer any hop: it names the subject
// and the answer of one, or is a supporting paragraph.
func (p *puzzle) tells(c *card) bool {
	for i := range p.hops {
		h := &p.hops[i]
		if c.Text == h.support.Text || strings.EqualFold(c.Title, h.support.Title) || c.holds(h.answer) && h.about(c) {
			return true
		}
	}
	return false
}

// shelf hands out decoys to one rollout, each once.
type shelf struct {
	decoys map[*hop][]*card
	taken  map[string]bool
}

// take returns up to n decoys of a hop: first the one that shares most words
// with its question and answer, then those that add most of the words still
// missing. Which are taken doesn't depend on the label.
func (s *shelf) take(h *hop, n int) []Passage {
	missing := map[string]bool{}
	for _, w := range wordSet(h.question + " " + h.answer) {
		missing[w] = true
	}
	var out []Passage
	for len(out) < n {
		var best *card
		most := -1
		for _, c := range s.decoys[h] {
			if s.taken[c.Text] {
				continue
			}
			adds := 0
			for w := range missing {
				if c.words[w] {
					adds++
				}
			}
			if adds > most {
				best, most = c, adds
			}
		}
		if best == nil {
			break
		}
		s.taken[best.Text] = true
		for w := range best.words {
			delete(missing, w)
		}
		out = append(out, best.Passage)
	}
	return out
}

// among puts passages in between others.
func among(rnd *rand.Rand, passages []Passage, p ...Passage) []Passage {
	return shuffled(rnd, append(p, passages...))
}
