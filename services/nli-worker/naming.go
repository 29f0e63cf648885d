package nliworker

import (
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
)

// naming is a text read for the names in it, to tell which names of a claim it
// holds. A word that a name shares with another one is not enough: "Karl
// Johanson" is not Karl Renner, and the Falken Hut is not the Falk Hut.
type naming struct {
	words []evidence.Token
	names [][]string // per name, its words that say something
}

func namingOf(text string) naming {
	n := naming{words: evidence.Words(text)}
	for _, name := range properNames(text) {
		if words := tellingWords(name); len(words) > 0 {
			n.names = append(n.names, words)
		}
	}
	return n
}

// tellingWords are the words of a name without small ones.
func tellingWords(name string) []string {
	var out []string
	for _, w := range evidence.Words(name) {
		if !evidence.IsStopWord(w.Key) && utf8.RuneCountInString(w.Key) > 1 {
			out = append(out, w.Key)
		}
	}
	return out
}

// holds reports whether the text holds name: all of its words, its initials, or
// a shorter form of it that no other name is part of ("Voss" for "Clara Voss").
func (n naming) holds(name string) bool {
	parts := tellingWords(name)
	if len(parts) < 2 {
		return holdsName(n.words, name)
	}
	if holdsWord(n.words, initials(evidence.Words(name))) {
		return true
	}
	found := 0
	for _, part := range parts {
		if holdsName(n.words, part) {
			found++
		}
	}
	if found == len(parts) {
		return true
	}
	for _, other := range n.names {
		if shortens(other, parts) {
			return true
		}
	}
	return false
}

// shortens reports whether a name's words are some of another's: the last one
// among them, or at least half of a long name's.
func shortens(short, name []string) bool {
	last, matched := false, 0
	for _, s := range short {
		at := -1
		for i, part := range name {
			if sameWord(part, s) {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		matched++
		last = last || at == len(name)-1
	}
	return last || len(name) > 2 && 2*matched >= len(name)
}
