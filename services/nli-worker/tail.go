package nliworker

import "strings"

// tail is a statement whose answer stands in a relative clause at its end:
// "Otter Hill was on | a railway | that linked Hull to York".
type tail struct {
	head   string // "Otter Hill was on"
	clause string // "linked Hull to York."
}

// tailOf finds such a clause; ok is false where there is none.
func tailOf(claim, answer string) (tail, bool) {
	if bareAnswer(answer) || strings.HasPrefix(claim, `The answer to "`) {
		return tail{}, false
	}
	words := wordsOf(claim)
	for k := len(words) - 2; k > 1; k-- {
		if !isRelative(words[k].key) || !isFinite(words[k+1].key) || isPreposition(words[k-1].key) {
			continue
		}
		for i := k - 1; i > 0 && !looksVerb(words[i].key) && !words[i].comma && !isPreposition(words[i].key); i-- {
			if key := words[i].key; key != "a" && key != "an" && (key != "the" || words[i].upper) {
				continue
			}
			t := tail{head: strings.TrimSpace(claim[:words[i].Start]), clause: claim[words[k+1].Start:]}
			return t, hasFinite(words[:i]) && !sharesContent(t.head, answer) && sharesContent(t.clause, answer)
		}
	}
	return tail{}, false
}

func hasFinite(words []word) bool {
	for _, w := range words {
		if isFinite(w.key) {
			return true
		}
	}
	return false
}

// parts are the two statements that name makes of it.
func (t tail) parts(name string) (first, second string) {
	return t.head + " " + name + ".", name + " " + t.clause
}
