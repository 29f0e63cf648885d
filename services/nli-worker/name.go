package nliworker

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
)

// holdsName reports whether words hold name or a part of it that says who is
// meant: one of its words, another form of it ("Canada", "Canadian"), or its
// initials.
func holdsName(words []evidence.Token, name string) bool {
	parts := evidence.Words(name)
	content := false
	for _, part := range parts {
		if evidence.IsStopWord(part.Key) || utf8.RuneCountInString(part.Key) < 2 {
			continue
		}
		content = true
		for _, w := range words {
			if sameWord(part.Key, w.Key) {
				return true
			}
		}
		if isAcronym(part.Text) && holdsInitials(words, part.Key) {
			return true
		}
	}
	if len(parts) > 1 && holdsWord(words, initials(parts)) {
		return true
	}
	return !content
}

// properNames are the names in text, without number words.
func properNames(text string) []string {
	return slices.DeleteFunc(evidence.Names(text), func(name string) bool { return !hasUpper(name) })
}

// sameWord compares names' words, forgiving endings: a country and its people
// share their first letters.
func sameWord(a, b string) bool {
	if a == b || evidence.Stem(a) == evidence.Stem(b) || nation(a) != "" && nation(a) == nation(b) {
		return true
	}
	const shared = 4
	return len(a) > shared && len(b) > shared && a[:shared] == b[:shared] && (isDemonym(a) != isDemonym(b))
}

func isDemonym(word string) bool {
	for _, suffix := range []string{"an", "ish", "ese", "ch", "ic", "i", "ans"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}

// nation joins countries with adjectives that share too few letters with them.
func nation(word string) string {
	switch word {
	case "france", "french", "frenchman", "frenchwoman":
		return "fr"
	case "netherlands", "dutch", "holland":
		return "nl"
	case "switzerland", "swiss":
		return "ch"
	case "wales", "welsh", "welshman":
		return "wls"
	case "denmark", "danish", "dane":
		return "dk"
	case "britain", "british", "uk", "briton":
		return "gb"
	case "america", "american", "americans", "us", "usa":
		return "us"
	case "england", "english", "englishman":
		return "eng"
	case "scotland", "scottish", "scots", "scotsman":
		return "sct"
	case "ireland", "irish", "irishman":
		return "ie"
	case "spain", "spanish", "spaniard":
		return "es"
	case "poland", "polish", "pole":
		return "pl"
	case "sweden", "swedish", "swede":
		return "se"
	case "turkey", "turkish", "turk":
		return "tr"
	case "greece", "greek":
		return "gr"
	case "finland", "finnish", "finn":
		return "fi"
	case "germany", "german", "germans":
		return "de"
	}
	return ""
}

// hasUpper reports whether s has a capital letter, or letters of a script
// without them.
func hasUpper(s string) bool {
	for _, r := range s {
		if unicode.IsUpper(r) || unicode.IsTitle(r) || unicode.IsLetter(r) && unicode.ToUpper(r) == r && unicode.ToLower(r) == r {
			return true
		}
	}
	return false
}

func isAcronym(word string) bool {
	n := 0
	for _, r := range word {
		if !unicode.IsUpper(r) && r != '.' {
			return false
		}
		n++
	}
	return n >= 2 && n <= 6
}

// holdsInitials reports whether capitalised words in a row begin with the
// letters of acronym.
func holdsInitials(words []evidence.Token, acronym string) bool {
	letters := []rune(acronym)
	for i := range words {
		at := 0
		for j := i; j < len(words) && at < len(letters); j++ {
			// "World War II" is WWII.
			if key := words[j].Key; j > i && len(key) > 1 && strings.HasPrefix(string(letters[at:]), key) {
				at += len([]rune(key))
				continue
			}
			r, _ := utf8.DecodeRuneInString(words[j].Key)
			if r == letters[at] {
				at++
				continue
			}
			if !evidence.IsStopWord(words[j].Key) {
				break
			}
		}
		if at == len(letters) {
			return true
		}
	}
	return false
}

func initials(parts []evidence.Token) string {
	var b strings.Builder
	for _, p := range parts {
		if r, _ := utf8.DecodeRuneInString(p.Text); unicode.IsUpper(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func holdsWord(words []evidence.Token, key string) bool {
	if utf8.RuneCountInString(key) < 2 {
		return false
	}
	for _, w := range words {
		if w.Key == key {
			return true
		}
	}
	return false
}
