package claim

import "strings"

// yesNoStatement: "Are A and B both poets" + no -> "A and B are not both poets".
func yesNoStatement(q, a string) string {
	yes, no := yesNo(a)
	if !yes && !no {
		return ""
	}
	rest, aux, ok := afterWord(q, auxForms...)
	if !ok {
		return ""
	}
	subject, predicate := splitSubject(rest, aux)
	if subject == "" || predicate == "" {
		return ""
	}
	if no {
		// "both A and B are" is denied as "A and B are not both".
		if bare, _, both := afterWord(subject, "both"); both {
			subject, predicate = bare, "both "+predicate
		}
		return subject + " " + aux + " not " + predicate
	}
	return subject + " " + affirm(aux, predicate)
}

// affirm joins an auxiliary with its predicate: "does require" is "requires".
func affirm(aux, predicate string) string {
	verb := firstWord(predicate)
	switch aux {
	case "does":
		return thirdPerson(verb) + predicate[len(verb):]
	case "do":
		return predicate
	case "did":
		if past := pastOf(verb); past != "" {
			return past + predicate[len(verb):]
		}
	}
	return aux + " " + predicate
}

// splitSubject divides what follows a fronted auxiliary into subject and
// predicate. It returns nothing where it can't tell.
func splitSubject(rest, aux string) (subject, predicate string) {
	words := strings.Fields(rest)
	if len(words) < 2 {
		return "", ""
	}
	at := -1
	if _, _, be := afterWord(aux, beForms...); be {
		at = predicateAfterBe(words)
	} else {
		at = verbAfter(words, aux)
	}
	if at <= 0 || at >= len(words) {
		return "", ""
	}
	return strings.TrimRight(strings.Join(words[:at], " "), ","), strings.Join(words[at:], " ")
}

// verbAfter finds the main verb after do, a modal or have.
func verbAfter(words []string, aux string) int {
	participle := aux == "has" || aux == "have" || aux == "had"
	open := 0
	for i, w := range words {
		open += strings.Count(w, "(") - strings.Count(w, ")")
		lower := strings.Trim(w, `,;:"'()`)
		if i == 0 || open > 0 || lower != strings.ToLower(lower) {
			continue
		}
		switch {
		case participle && (isParticiple(lower) || lower == "been" || lower == "a" || lower == "an" || lower == "the"),
			!participle && isBaseVerb(lower):
			if !precedesNoun(words, i) {
				return i
			}
		}
	}
	return -1
}

// precedesNoun guards against nouns that look like verbs: "the play", "a work
// of".
func precedesNoun(words []string, i int) bool {
	switch strings.ToLower(words[i-1]) {
	case "the", "a", "an", "of", "his", "her", "their", "its", "this", "that", "s", "to", "in", "for", "by", "on", "who", "which", "whose":
		return true
	}
	return strings.HasSuffix(words[i-1], "'s")
}

// predicateAfterBe finds where the predicate begins after a fronted "is". It
// looks for the words that predicates start with; a subject of names ends
// where the names end.
func predicateAfterBe(words []string) int {
	open, quoted := 0, false
	for i, w := range words {
		open += strings.Count(w, "(") - strings.Count(w, ")")
		inside := quoted
		if strings.Count(w, `"`)%2 == 1 {
			quoted = !quoted
		}
		if i == 0 || open > 0 || inside || quoted {
			continue
		}
		if startsPredicate(strings.Trim(w, `,;:"'`), i, words) {
			return i
		}
	}
	return -1
}

func startsPredicate(w string, i int, words []string) bool {
	if w == "" || w != strings.ToLower(w) {
		return false
	}
	prev := strings.ToLower(words[i-1])
	if prev == "and" || prev == "or" || prev == "the" || prev == "a" || prev == "an" || prev == "both" || prev == "of" {
		return false
	}
	switch w {
	case "both", "a", "an", "from", "located", "based", "older", "younger", "known", "like", "able", "still", "also",
		"considered", "related", "native", "similar", "different", "available", "part", "members", "written", "made",
		"named", "types", "type", "american", "more", "less", "larger", "bigger", "smaller", "taller", "longer", "used",
		"always", "currently", "primarily", "mainly", "often", "all", "not", "dead", "alive", "married", "found", "held":
		return true
	case "the":
		return i > 0 && !endsInJoin(prev)
	case "in", "at", "on":
		// "the museum in Paris in the same city": only before the same / a.
		return i+1 < len(words) && (words[i+1] == "the" && i+2 < len(words) && words[i+2] == "same") || allNames(words[:i])
	}
	return isParticiple(w) && strings.HasSuffix(w, "ed") || isIrregularParticiple(w) || allNames(words[:i]) && !isJoin(w)
}

func endsInJoin(w string) bool {
	return isJoin(w) || w == "and" || w == "or"
}

func isJoin(w string) bool {
	switch w {
	case "and", "or", "of", "the", "de", "la", "von", "van", "der", "du", "del", "di", "da", "in", "for", "to", "on", "at", "al", "el", "vs", "with", "s", "a", "an", "by", "magazine", "film", "band", "album", "song", "series", "river", "company", "university", "airport", "who", "that", "which":
		return true
	}
	return false
}

// allNames reports whether words are names joined by "and", "of", ...
func allNames(words []string) bool {
	for _, w := range words {
		bare := strings.Trim(w, `,;:"'()&`)
		if bare == "" || bare == "both" {
			continue
		}
		if c := bare[0]; c >= 'a' && c <= 'z' && !isJoin(bare) {
			return false
		}
	}
	last := strings.ToLower(strings.Trim(words[len(words)-1], `,;:"'()`))
	return last != "and" && last != "or" && last != "of" && last != "the"
}
