package nliworker

import "strings"

// isFinite reports whether a lower-case word can be the finite verb of a
// statement.
func isFinite(w string) bool {
	switch w {
	case "is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "can", "could", "will", "would", "may",
		"might", "must", "should", "won", "wrote", "began", "became", "led", "held", "took", "gave", "came", "went",
		"made", "sang", "ran", "built", "lost", "left", "met", "fought", "taught", "grew", "stars", "plays", "lives",
		"lies", "owns", "stands", "belongs", "comes", "contains", "includes", "features", "works", "borders", "flows":
		return true
	}
	return len(w) > 4 && strings.HasSuffix(w, "ed")
}

// isMainVerb reports whether a word is finite and can't be a participle too.
func isMainVerb(w string) bool {
	switch w {
	case "made", "led", "held", "sung", "built", "lost", "left", "met", "taught", "fought", "stars", "plays", "lives", "works", "features":
		return false
	}
	return isFinite(w) && !strings.HasSuffix(w, "ed")
}

// looksVerb also takes participles that are no finite form.
func looksVerb(w string) bool {
	switch w {
	case "born", "written", "known", "sung", "drawn", "chosen", "given", "taken", "begun", "become", "shown", "been", "being":
		return true
	}
	return isFinite(w)
}

func isPreposition(w string) bool {
	switch w {
	case "in", "on", "at", "by", "from", "to", "for", "with", "of", "as", "into", "near", "after", "before", "during",
		"under", "over", "about", "between", "since", "until", "up", "down", "along", "across", "through", "against",
		"around", "behind", "beside", "inside", "outside", "onto", "upon", "within", "without", "than", "beyond":
		return true
	}
	return false
}

func isRelative(w string) bool {
	switch w {
	case "that", "who", "which", "whose", "whom", "where", "when":
		return true
	}
	return false
}
