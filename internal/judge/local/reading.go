package local

import (
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// reading is a passage, read once for all claims of a step.
type reading struct {
	title     string
	keys      string          // " key key key " of title and text, for whole names
	tokens    map[string]bool // stems of title and text
	sentences []sentence
}

type sentence struct {
	text    string
	ownKeys string // as above, without the title
	keys    string // title included
	tokens  map[string]bool
	titled  map[string]bool // with the title's
	values  values
	words   []word
}

// word is a word of a sentence; name says that it belongs to a name.
type word struct {
	key, stem string
	name      bool
}

func readPassages(passages []schema.Passage) []reading {
	out := make([]reading, 0, len(passages))
	for _, p := range passages {
		r := reading{
			title:  p.Title,
			keys:   joinKeys(p.Title + "\n" + p.Text),
			tokens: tokenSet(p.Title, p.Text),
		}
		for _, s := range evidence.Sentences(p.Text) {
			text := s.In(p.Text)
			names := evidence.Names(text)
			r.sentences = append(r.sentences, sentence{
				text: text, ownKeys: joinKeys(text), keys: joinKeys(p.Title + "\n" + text),
				tokens: tokenSet(text), titled: tokenSet(p.Title, text),
				values: valuesOf(text), words: wordsOf(text, names),
			})
		}
		out = append(out, r)
	}
	return out
}

// joinKeys gives a text as keys between blanks, so that whole names can be
// found as substrings.
func joinKeys(text string) string {
	return " " + strings.Join(evidence.Tokens(text), " ") + " "
}

// holdsName reports whether a text given as joined keys holds the whole name.
func holdsName(keys, name string) bool {
	key := evidence.EntityKey(name)
	return key != "" && strings.Contains(keys, " "+key+" ")
}

// bareTitle drops what tells namesakes apart: "Rango (film)" is "Rango".
func bareTitle(title string) string {
	if i := strings.LastIndex(title, " ("); i > 0 {
		return title[:i]
	}
	return title
}

// values are what answers are made of.
type values struct {
	years, numbers, names bool // names: of a claim only; a sentence's are in its words
}

func wordsOf(text string, names []string) []word {
	named := tokenSet(names...)
	var out []word
	for _, w := range evidence.Words(text) {
		stem := evidence.Stem(w.Key)
		out = append(out, word{key: w.Key, stem: stem, name: named[stem] && !evidence.IsStopWord(w.Key)})
	}
	return out
}

func valuesOf(text string) values {
	return values{
		years:   len(evidence.Years(text)) > 0,
		numbers: len(evidence.Numbers(text)) > 0,
	}
}
