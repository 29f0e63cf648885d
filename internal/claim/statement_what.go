package claim

import (
	"regexp"
	"strings"
)

// whatStatement: "What is the capital of X" -> "The capital of X is A";
// "Which film was released first" -> "The film that was released first is A".
func whatStatement(q, a string) string {
	if rest, prep, ok := afterWord(q, "in", "on", "at", "from", "by", "to", "for", "of", "under", "with", "during"); ok {
		return preposed(rest, prep, a)
	}
	rest, wh, ok := afterWord(q, "what", "which", "what's")
	if !ok || rest == "" {
		return ""
	}
	if wh == "what's" {
		rest = "is " + rest
	}
	if body, _, of := afterWord(rest, "of"); of {
		return ofChoice(body, a)
	}
	if body, aux, fronted := afterWord(rest, auxForms...); fronted {
		return whatIs(body, aux, a)
	}
	// "Which country X's father is from".
	if m := reStray.FindStringSubmatch(rest); m != nil {
		return m[1] + " " + m[2] + " " + m[3] + " " + a
	}
	// "What nationality is X", "What nationality of the company ...".
	if m := reQuality.FindStringSubmatch(rest); m != nil {
		return "the " + m[1] + " of " + m[3] + " is " + a
	}
	words := strings.Fields(rest)
	for i := 1; i < len(words); i++ {
		w := strings.Trim(words[i], `,;:"`)
		lower := strings.ToLower(w)
		noun, tail := strings.Join(words[:i], " "), strings.Join(words[i+1:], " ")
		switch {
		case w != lower || strings.HasSuffix(words[i-1], ",") || strings.Count(noun, `"`)%2 == 1:
			continue
		case isDo(lower):
			subject, predicate := splitSubject(tail, lower)
			if subject == "" {
				return ""
			}
			if rePrepositionEnd.MatchString(predicate) || !strings.Contains(predicate, " ") {
				return subject + " " + affirm(lower, predicate) + " " + a
			}
			return ""
		case isAux(lower):
			if tail == "" {
				return ""
			}
			if inverted(tail, lower) || strings.HasSuffix(noun, " that") || strings.HasSuffix(noun, " who") {
				return ""
			}
			return the(noun) + " that " + lower + " " + tail + " " + number(lower) + " " + a
		case strings.HasSuffix(lower, "ed") && len(lower) > 4 && i+1 < len(words) && !isAux(words[i+1]) && !followedByBe(words[i:]),
			isVerbForm(lower) && i+1 < len(words):
			if strings.HasSuffix(noun, " that") || strings.HasSuffix(noun, " who") || strings.HasSuffix(noun, " which") {
				return ""
			}
			return the(noun) + " that " + strings.Join(words[i:], " ") + " is " + a
		}
	}
	return ""
}

var (
	reStray   = compile(`^(?:country|city|state|town|county|place|region|nation) (.+) (is|was|are|were) (from|in|of|on|at)$`)
	reQuality = compile(`^(nationality|ethnicity|religion|occupation|profession|gender|genre|colou?r|citizenship|currency|population|capital) (is|was|are|were|of) (.+)$`)
)

func isDo(w string) bool { return w == "do" || w == "does" || w == "did" }

func isVerbForm(w string) bool {
	switch w {
	case "won", "wrote", "made", "led", "held", "took", "gave", "began", "ran", "sang", "became", "built", "sold", "stars", "plays", "owns", "hosts", "features", "contains", "includes", "lies", "borders", "produces", "happened", "covers", "came", "went", "has", "runs", "starts", "begins", "ends", "aired":
		return true
	}
	return false
}

// followedByBe reports "a film directed by X was", where "directed" belongs to
// the noun.
func followedByBe(words []string) bool {
	for _, w := range words {
		if isAux(w) {
			return true
		}
	}
	return false
}

// inverted reports whether subject and auxiliary changed places after "which
// N": "Which group was she raised by".
func inverted(tail, aux string) bool {
	head := firstWord(tail)
	bare := strings.ToLower(strings.Trim(head, `,;:"`))
	if rePrepositionEnd.MatchString(tail) || reStranded.MatchString(tail) {
		return true
	}
	switch bare {
	case "he", "she", "it", "they", "his", "her", "their", "its", "you", "we", "i":
		return true
	}
	if _, _, be := afterWord(aux, beForms...); !be {
		return head != strings.ToLower(head)
	}
	if head != strings.ToLower(head) || bare == "the" || bare == "a" || bare == "an" {
		// "Which team is Chelsea's rival" and "was the first to" are not.
		words := strings.Fields(tail)
		last := strings.Trim(words[len(words)-1], `,;:"`)
		return isParticiple(last) || hasFiniteVerbBesides(tail)
	}
	return !isParticiple(bare) && !isKnownPredicate(bare) && isNounBeforeName(tail)
}

// reStranded: "Which town was X in when he died".
var reStranded = compile(`\s(?:in|by|at|with|on|for|from) (?:when|while|before|after|until|during|prior)\b`)

func hasFiniteVerbBesides(tail string) bool { return rePastVerb.MatchString(tail) && head2(tail) }

// head2 reports whether a name and then a participle come first: "Ed born in".
func head2(tail string) bool {
	words := strings.Fields(tail)
	for i, w := range words {
		if i > 0 && isParticiple(w) {
			return allNames(words[:i])
		}
	}
	return false
}

func isKnownPredicate(w string) bool {
	switch w {
	case "older", "younger", "more", "further", "first", "also", "in", "from", "on", "at", "located", "not", "both", "larger", "longer", "taller", "closer", "still", "considered", "currently", "once", "originally", "most":
		return true
	}
	return false
}

func isNounBeforeName(tail string) bool {
	words := strings.Fields(tail)
	return len(words) > 1 && words[1] != strings.ToLower(words[1])
}

// whatIs: "What is the capital of X" -> "The capital of X is A".
func whatIs(body, aux, a string) string {
	switch {
	case body == "":
		return ""
	case isDo(aux):
		subject, predicate := splitSubject(body, aux)
		if subject == "" || strings.Contains(predicate, " ") && !rePrepositionEnd.MatchString(predicate) {
			return ""
		}
		return subject + " " + affirm(aux, predicate) + " " + a
	case rePrepositionEnd.MatchString(body):
		if subject, predicate := splitAtParticiple(body); subject != "" {
			return subject + " " + aux + " " + predicate + " " + a
		}
		return ""
	}
	if _, _, be := afterWord(aux, beForms...); !be {
		return ""
	}
	return body + " " + aux + " " + a
}

// preposed: "In what year was X born" -> "X was born in A".
func preposed(rest, prep, a string) string {
	body, _, ok := afterWord(rest, "what", "which", "whom")
	if !ok {
		return ""
	}
	words := strings.Fields(body)
	for i, w := range words {
		lower := strings.ToLower(w)
		if !isAux(lower) || i > 6 {
			continue
		}
		tail := strings.Join(words[i+1:], " ")
		where := prep + " " + a
		if rePreposed.MatchString(a) {
			where = a
		}
		if isDo(lower) {
			subject, predicate := splitSubject(tail, lower)
			if subject == "" {
				return ""
			}
			return subject + " " + affirm(lower, predicate) + " " + where
		}
		subject, predicate := splitLast(tail)
		if subject == "" && !reRelative.MatchString(tail) {
			subject, predicate = splitSubject(tail, lower)
		}
		if subject == "" {
			if subject, predicate = splitAtParticiple(tail); subject == "" {
				return ""
			}
		}
		return subject + " " + lower + " " + predicate + " " + where
	}
	return ""
}

func the(noun string) string {
	switch strings.ToLower(firstWord(noun)) {
	case "the", "a", "an", "his", "her", "their", "its", "other":
		return noun
	}
	return "the " + noun
}

func number(aux string) string {
	if aux == "are" || aux == "were" {
		return "are"
	}
	return "is"
}

// insideStatement: "X was released in what year" -> "X was released in A".
func insideStatement(q, a string) string {
	m := reInside.FindStringSubmatchIndex(q)
	if m == nil {
		return ""
	}
	head, prep := strings.TrimSpace(q[:m[0]]), ""
	if m[2] >= 0 {
		prep = strings.TrimSpace(q[m[2]:m[3]])
	}
	if head == "" || !hasFiniteVerb(head) && prep == "" {
		return ""
	}
	if prep != "" && !rePreposed.MatchString(a) {
		a = prep + " " + a
	}
	return head + " " + a
}

// reInside is a wh-word in the middle with the noun it asks for; a relative
// clause ("in which X did Y") keeps its verb and so doesn't end the question.
var reInside = regexp.MustCompile(`(?i)\s((?:in|on|at|from|by|for|to|of|after|under|with|as)\s+)?(?:what|which|who|whom|where)(?:\s+[\p{L}\p{N}'.-]+){0,4}$`)
