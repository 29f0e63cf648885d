package local

import "github.com/stepgap/stepgap/internal/evidence"

func share(tokens []string, in map[string]bool) float64 {
	if len(tokens) == 0 {
		return 0
	}
	found := 0
	for _, t := range tokens {
		if in[t] {
			found++
		}
	}
	return float64(found) / float64(len(tokens))
}

func absent(tokens []string, in map[string]bool) []string {
	var out []string
	for _, t := range tokens {
		if !in[t] {
			out = append(out, t)
		}
	}
	return out
}

func uniqueTokens(text string) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range evidence.ContentTokens(text) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

func tokenSet(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, t := range evidence.ContentTokens(text) {
			set[t] = true
		}
	}
	return set
}

func setOf(tokens []string) map[string]bool {
	set := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		set[t] = true
	}
	return set
}
