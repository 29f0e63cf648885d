package evidence

import "math"

// BM25 scores each document against query, with the usual k1 = 1.2 and
// b = 0.75 and document frequencies from docs themselves. It suits small sets:
// the inverse document frequency is never negative. Scores compare only within
// one call; for a score that doesn't depend on the other texts see Relevance.
func BM25(query string, docs []string) []float64 {
	const k1, b = 1.2, 0.75
	scores := make([]float64, len(docs))
	terms := unique(ContentTokens(query))
	if len(terms) == 0 {
		return scores
	}
	counts := make([]map[string]int, len(docs))
	lengths := make([]int, len(docs))
	frequency := map[string]int{}
	total := 0
	for i, doc := range docs {
		tokens := ContentTokens(doc)
		lengths[i] = len(tokens)
		total += len(tokens)
		counts[i] = map[string]int{}
		for _, t := range tokens {
			if counts[i][t]++; counts[i][t] == 1 {
				frequency[t]++
			}
		}
	}
	if total == 0 {
		return scores
	}
	mean := float64(total) / float64(len(docs))
	for i := range docs {
		for _, t := range terms {
			tf := float64(counts[i][t])
			if tf == 0 {
				continue
			}
			n := float64(frequency[t])
			idf := math.Log(1 + (float64(len(docs))-n+0.5)/(n+0.5))
			scores[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(lengths[i])/mean))
		}
	}
	return scores
}

func unique(tokens []string) []string {
	seen := make(map[string]bool, len(tokens))
	out := make([]string, 0, len(tokens))
	for _, t := range tokens {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

func setOf(tokens []string) map[string]bool {
	set := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		set[t] = true
	}
	return set
}
