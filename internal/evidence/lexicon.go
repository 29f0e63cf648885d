package evidence

import "strings"

// The word lists are functions over switch statements, so that the package
// has no mutable state.

// isTitleAbbreviation: always followed by a name.
func isTitleAbbreviation(word string) bool {
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "ste", "mt", "ft", "gen", "col", "lt", "sgt", "capt", "cmdr",
		"adm", "maj", "rev", "hon", "gov", "sen", "rep", "pres", "fr", "sr.", "messrs", "mme", "mlle", "vs", "v",
		"approx", "ca", "cf", "e.g", "i.e", "esp", "fig", "feat", "viz", "op", "arr", "brig", "cpl", "pvt", "supt":
		return true
	}
	return false
}

// isNumberAbbreviation: followed by a number.
func isNumberAbbreviation(word string) bool {
	switch strings.ToLower(word) {
	case "no", "nos", "nr", "vol", "pp", "p", "ch", "sec", "art", "c", "b", "d", "fl", "r", "est",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec":
		return true
	}
	return false
}

// isAbbreviation: may end a sentence, but mostly doesn't.
func isAbbreviation(word string) bool {
	switch strings.ToLower(word) {
	case "jr", "sr", "inc", "ltd", "co", "corp", "bros", "llc", "plc", "etc", "al", "dept", "univ", "assn", "ave", "blvd",
		"rd", "hwy", "u.s", "u.s.a", "u.k", "u.n", "e.u", "d.c", "a.m", "p.m", "a.d", "b.c", "b.c.e", "c.e", "ph.d", "m.d",
		"b.a", "m.a", "b.s", "m.s", "ll.b", "esq", "phil", "geo", "wm", "chas", "jos", "thos":
		return true
	}
	return false
}

// isLowerAbbreviation: words of four letters and more that are cut short.
func isLowerAbbreviation(word string) bool {
	switch word {
	case "approx", "assoc", "dept", "elev", "estd", "feat", "govt", "illus", "incl", "intl", "misc", "orig", "prof",
		"resp", "temp", "univ", "vols":
		return true
	}
	return false
}

// isSentenceStarter: a capitalised word that starts a sentence rather than
// continues a name.
func isSentenceStarter(word string) bool {
	switch word {
	case "The", "A", "An", "He", "She", "It", "They", "We", "I", "His", "Her", "Its", "Their", "This", "That", "These",
		"Those", "There", "In", "On", "At", "As", "After", "Before", "By", "For", "From", "During", "When", "While",
		"Since", "Although", "Though", "However", "But", "And", "Or", "If", "Under", "With", "Following", "Today",
		"Also", "Both", "Some", "Many", "Most", "Other", "Another", "One", "Two", "Three", "Later", "Then", "Thus",
		"Therefore", "So", "Because", "Despite", "According", "Currently", "Originally", "Now", "Not", "No", "To",
		"Within", "Where", "Who", "What", "Which", "Such", "Each", "All", "Soon", "Once", "Together", "Based":
		return true
	}
	return false
}

// IsStopWord reports whether a folded, lower-case token carries no content of
// its own.
func IsStopWord(token string) bool {
	switch token {
	case "a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "but", "as", "is",
		"was", "were", "are", "be", "been", "being", "am", "it", "its", "he", "she", "they", "them", "him", "his", "her",
		"hers", "their", "theirs", "this", "that", "these", "those", "there", "here", "which", "who", "whom", "whose",
		"what", "when", "where", "why", "how", "did", "do", "does", "done", "has", "have", "had", "having", "can",
		"could", "may", "might", "must", "shall", "should", "will", "would", "i", "you", "we", "us", "our", "my", "your",
		"me", "if", "then", "than", "so", "such", "also", "into", "about", "over", "under", "between", "after",
		"before", "during", "while", "through", "up", "down", "out", "off", "only", "just", "both", "each", "any",
		"all", "some", "more", "most", "other", "another", "same", "very", "too", "not", "no", "nor", "because",
		"since", "until", "upon", "within", "s", "t", "d", "ll", "re", "ve", "m", "itself", "himself", "herself",
		"themselves", "however", "therefore", "thus", "hence", "now", "well", "according", "based", "per", "via",
		"one", "ones", "though", "although", "whether", "either", "neither":
		return true
	}
	return false
}

// IsNegation reports whether a folded, lower-case token negates.
func IsNegation(token string) bool {
	switch token {
	case "not", "no", "never", "neither", "nor", "none", "nobody", "nothing", "nowhere", "without", "cannot",
		"n't", "isn't", "wasn't", "aren't", "weren't", "don't", "doesn't", "didn't", "hasn't", "haven't", "hadn't",
		"won't", "wouldn't", "can't", "couldn't", "shouldn't", "mustn't", "needn't", "ain't",
		"nicht", "kein", "keine", "ne", "jamais", "nunca", "não", "не", "нет", "никогда", "לא", "ليس", "لم", "لا":
		return true
	}
	return false
}

// monthNumber returns 1 to 12 for the name of a month, else 0.
func monthNumber(token string) int {
	switch strings.TrimSuffix(token, ".") {
	case "january", "jan":
		return 1
	case "february", "feb":
		return 2
	case "march", "mar":
		return 3
	case "april", "apr":
		return 4
	case "may":
		return 5
	case "june", "jun":
		return 6
	case "july", "jul":
		return 7
	case "august", "aug":
		return 8
	case "september", "sept", "sep":
		return 9
	case "october", "oct":
		return 10
	case "november", "nov":
		return 11
	case "december", "dec":
		return 12
	}
	return 0
}

func isWeekday(token string) bool {
	switch token {
	case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		return true
	}
	return false
}

// isNameJoin: a small word that may stand inside a name.
func isNameJoin(word string) bool {
	switch word {
	case "of", "the", "de", "la", "le", "les", "von", "van", "der", "den", "du", "del", "della", "di", "da", "dos",
		"das", "do", "al", "el", "bin", "ibn", "ben", "y", "zu", "zum", "ter", "ten", "af", "av", "and", "&", "in", "on", "for", "to", "at", "a", "an", "with", "from", "or":
		return true
	}
	return false
}
