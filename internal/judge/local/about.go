package local

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// What speaks for passages being about what a step needs, and how much of it
// is enough. The weights were set by hand on steps made from MuSiQue's public
// questions, where anything from 0.4 to 0.6 does about equally well as the bar.
const (
	namedWeight = 0.40 // a passage names the entities of the query
	titleWeight = 0.25 // a passage's title is made of the query's words
	coverWeight = 0.30 // a sentence holds the words of the claim
	newsWeight  = 0.35 // a sentence holds the claim's news, near the query's relation
	aboutBar    = 0.475
	// aboutBarUnclaimed is the bar where nothing is claimed, so that only the
	// first two can speak.
	aboutBarUnclaimed = 0.35
	// partOfName is what the words of a name are worth that doesn't stand as a
	// whole.
	partOfName = 0.4
	// asGoodAsNamed: a sentence with nearly all words of the query.
	asGoodAsNamed = 0.9
)

// about decides whether any passage concerns what the step needs: what the
// query names; for a step without query what the question and the claim name.
func about(in quoteextract.Input, texts []reading) (bool, string) {
	in.Query = readableQuery(in, texts)
	aim := newAim(in)
	if aim.vague && !tiedTo(in, texts) {
		return false, fmt.Sprintf("%q names no entity, and no passage names one of the question's.", in.Query)
	}
	bar := aboutBar
	if len(in.Claims) == 0 {
		bar = aboutBarUnclaimed
	}
	// What speaks for it may stand in several passages: a step of two hops
	// names entities that no single passage holds together.
	var all signs
	best, where := -1.0, reading{}
	for _, t := range texts {
		s := aim.signs(t)
		all = all.best(s)
		if score := s.score(); score > best {
			best, where = score, t
		}
	}
	if all.score() >= bar {
		return true, fmt.Sprintf("The passage %q is about %s.", titleOf(where), aim.words)
	}
	return false, fmt.Sprintf("No passage is about %s.", aim.words)
}

// aim is what a step looks for.
type aim struct {
	words    string // for people
	query    evidence.Query
	stems    map[string]bool
	names    []string
	relation []string // stems of the query that belong to no name
	claims   []evidence.Query
	news     [][]string // per claim
	vague    bool       // a single common word: no entity at all
}

func newAim(in quoteextract.Input) aim {
	text := in.Query
	if text == "" {
		text = in.Claim
		if in.Kind == schema.KindConclusion {
			text = in.Question + " " + in.Claim
		}
	}
	a := aim{words: fmt.Sprintf("%q", text), query: evidence.NewQuery(text), stems: tokenSet(text), names: evidence.Names(text)}
	if len(a.names) > 0 {
		a.words = fmt.Sprintf("%q", a.names[0])
	}
	named := tokenSet(a.names...)
	for _, t := range uniqueTokens(text) {
		if !named[t] {
			a.relation = append(a.relation, t)
		}
	}
	a.vague = in.Query != "" && len(a.names) == 0 && len(a.stems) <= 1
	for _, claim := range in.Claims {
		a.claims = append(a.claims, evidence.NewQuery(claim))
		a.news = append(a.news, splitClaim(in, claim).value)
	}
	return a
}

// signs are what speaks for passages being about an aim, each in [0, 1].
type signs struct{ named, title, cover, news float64 }

func (s signs) score() float64 {
	return namedWeight*s.named + titleWeight*s.title + coverWeight*s.cover + newsWeight*s.news
}

func (s signs) best(o signs) signs {
	return signs{max(s.named, o.named), max(s.title, o.title), max(s.cover, o.cover), max(s.news, o.news)}
}

// signs reads one passage.
func (a aim) signs(t reading) signs {
	title, cover, news := 0.0, 0.0, 0.0
	named := a.named(t)
	if tokens := evidence.ContentTokens(bareTitle(t.title)); len(tokens) > 0 {
		title = share(tokens, a.stems)
	}
	for at, s := range t.sentences {
		titled := evidence.Titled(t.title, s.text)
		if asked := a.query.Relevance(titled); asked > named && (len(a.names) == 0 || asked >= asGoodAsNamed) {
			named = asked
		}
		for i, claim := range a.claims {
			cover = max(cover, claim.Relevance(titled))
			if told := share(a.news[i], s.tokens); told > 0 {
				news = max(news, told*a.related(t, at))
			}
		}
	}
	return signs{named: named, title: title, cover: cover, news: news}
}

// related says how far what stands around a sentence is what the query asks
// for, in [0, 1]; 0 where nothing there holds a word of it, title included, so
// that a year or a place in text about something else is no news.
func (a aim) related(t reading, at int) float64 {
	const beside, untold = 1, 0.3
	near := map[string]bool{}
	for i := max(0, at-beside); i <= min(len(t.sentences)-1, at+beside); i++ {
		for token := range t.sentences[i].titled {
			near[token] = true
		}
	}
	for stem := range a.stems {
		if near[stem] {
			return untold + (1-untold)*share(a.relation, near)
		}
	}
	return 0
}

// named says how much of the query's names one passage holds, in [0, 1],
// longer names counting more.
func (a aim) named(t reading) float64 {
	held, total := 0.0, 0.0
	for _, name := range a.names {
		tokens := evidence.ContentTokens(name)
		weight := float64(len(tokens))
		total += weight
		switch part := titleWithin(t.title, name); {
		case holdsName(t.keys, name):
			held += weight
		case part > 0:
			// Queries run names together with other capitals: "Tomas Rey Painter".
			held += min(weight, float64(part))
		default:
			held += partOfName * weight * share(tokens, t.tokens)
		}
	}
	if total == 0 {
		return 0
	}
	return held / total
}

// titleWithin returns how many words a passage's title has, two or more, where
// they stand in a row in a longer name; else 0.
func titleWithin(title, name string) int {
	key := evidence.EntityKey(bareTitle(title))
	words := len(strings.Fields(key))
	if words < 2 || !strings.Contains(" "+evidence.EntityKey(name)+" ", " "+key+" ") {
		return 0
	}
	return words
}

// readableQuery is the query without words in scripts that neither the question
// nor any passage has: they can be found nowhere, whatever the passages are
// about. A query of nothing else stays as it is.
func readableQuery(in quoteextract.Input, texts []reading) string {
	var out []string
	for _, word := range strings.Fields(in.Query) {
		if script := scriptOf(word); script == nil || hasScript(in.Question, script) ||
			slices.ContainsFunc(texts, func(t reading) bool { return hasScript(t.keys, script) }) {
			out = append(out, word)
		}
	}
	if len(out) == 0 {
		return in.Query
	}
	return strings.Join(out, " ")
}

// scriptOf returns the script, other than Latin, of a word's first such letter.
func scriptOf(name string) *unicode.RangeTable {
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.Is(unicode.Latin, r) {
			continue
		}
		for _, table := range unicode.Scripts {
			if unicode.Is(table, r) {
				return table
			}
		}
	}
	return nil
}

func hasScript(text string, script *unicode.RangeTable) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) })
}

// tiedTo reports whether a passage names an entity of the question.
func tiedTo(in quoteextract.Input, texts []reading) bool {
	names := evidence.Names(in.Question)
	if len(names) == 0 {
		return true
	}
	for _, name := range names {
		for _, t := range texts {
			if holdsName(t.keys, name) {
				return true
			}
		}
	}
	return false
}

func titleOf(r reading) string {
	if head := r.title; head != "" {
		return head
	}
	if len(r.sentences) > 0 {
		return firstWords(r.sentences[0].text, 6)
	}
	return ""
}

func firstWords(text string, n int) string {
	words := evidence.Words(text)
	if len(words) <= n {
		return text
	}
	return text[:words[n-1].End] + " ..."
}
