package llm

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// confidence is the probability of the verdict that was given, renormalised
// over the legal ones at the token where they part: engines report a token's
// probabilities from before a schema constrained it, so that illegal tokens
// hold a share. Nil where the endpoint gave no log probabilities, where the
// tokens don't spell the answer, or where the legal values don't part at that
// token.
func confidence(tokens []Token, verdictField, given string, legal []string) *float64 {
	if len(tokens) == 0 || verdictField == "" || !slices.Contains(legal, given) {
		return nil
	}
	var text strings.Builder
	starts := make([]int, len(tokens))
	for i, t := range tokens {
		starts[i] = text.Len()
		text.WriteString(t.Text)
	}
	at := valueStart(text.String(), verdictField, given)
	if at < 0 {
		return nil
	}
	i, found := slices.BinarySearch(starts, at)
	if !found {
		i-- // the token that covers the value's first byte
	}
	if i < 0 {
		return nil
	}
	prefix := text.String()[starts[i]:at]
	mass := make(map[string]float64, len(legal))
	for token, logProb := range tokens[i].Top {
		rest, ok := strings.CutPrefix(token, prefix)
		if !ok || rest == "" || math.IsNaN(logProb) {
			continue
		}
		match, matches := "", 0
		for _, value := range legal {
			if quoted := value + `"`; strings.HasPrefix(quoted, rest) || strings.HasPrefix(rest, quoted) {
				match = value
				matches++
			}
		}
		switch {
		case matches > 1:
			return nil // a token that several verdicts begin with says nothing
		case matches == 1:
			mass[match] += math.Exp(min(logProb, 0))
		}
	}
	total := 0.0
	for _, m := range mass {
		total += m
	}
	if total <= 0 || mass[given] <= 0 {
		return nil
	}
	c := min(1, mass[given]/total)
	return &c
}

// valueStart finds where the string value of a field begins, past its opening
// quote; -1 where the text doesn't hold it exactly once.
func valueStart(text, name, value string) int {
	key, err := json.Marshal(name)
	if err != nil {
		return -1
	}
	at := -1
	for from := 0; ; {
		i := strings.Index(text[from:], string(key))
		if i < 0 {
			return at
		}
		from += i + len(key)
		rest := strings.TrimLeft(text[from:], " \t\r\n")
		rest, ok := strings.CutPrefix(rest, ":")
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " \t\r\n")
		if !strings.HasPrefix(rest, `"`+value+`"`) {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = len(text) - len(rest) + 1
	}
}
