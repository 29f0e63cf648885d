package evidence

import "strings"

// Negated reports whether text negates something. "Not only" doesn't.
func Negated(text string) bool { return Negations(text) > 0 }

// Negations counts the negations of text.
func Negations(text string) int {
	words := Words(text)
	count := 0
	for i, w := range words {
		if !IsNegation(w.Key) && !strings.HasSuffix(w.Key, "n't") {
			continue
		}
		if w.Key == "not" && i+1 < len(words) {
			if next := words[i+1].Key; next == "only" || next == "just" || next == "merely" {
				continue
			}
		}
		if w.Key == "no" && i+1 < len(words) && startsWithDigit(words[i+1].Key) {
			continue // "No. 5"
		}
		count++
	}
	return count
}
