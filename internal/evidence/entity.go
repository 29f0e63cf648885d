package evidence

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Entities returns what text names, in order of appearance and each once by
// its EntityKey: capitalised spans with the small words inside them ("Duke of
// the Abruzzi"), quoted titles, dates and numbers; in scripts without capitals
// the words that carry content.
func Entities(text string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(s string) {
		s = strings.TrimSpace(s)
		if key := EntityKey(s); key != "" && !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	for _, s := range entitySpans(text) {
		add(s.In(text))
	}
	return out
}

// Names is Entities without the numbers and dates.
func Names(text string) []string {
	var out []string
	for _, e := range Entities(text) {
		if hasLetter(e) && !isDateOrNumber(e) {
			out = append(out, e)
		}
	}
	return out
}

// EntityKey is the form that entities are compared by: folded, lower case,
// accents, possessive endings and a leading article dropped, punctuation as
// one blank.
func EntityKey(entity string) string {
	keys := Tokens(entity)
	for len(keys) > 1 && (keys[0] == "the" || keys[0] == "a" || keys[0] == "an") {
		keys = keys[1:]
	}
	return strings.Join(keys, " ")
}

// SameEntity reports whether two names can mean the same: equal keys, or one
// holds all words of the other ("Watson" and "John B. Watson"), initials
// matching the names they stand for.
func SameEntity(a, b string) bool {
	ka, kb := strings.Fields(EntityKey(a)), strings.Fields(EntityKey(b))
	if len(ka) == 0 || len(kb) == 0 {
		return false
	}
	if len(ka) > len(kb) {
		ka, kb = kb, ka
	}
	at := 0
	matched := 0
	for _, word := range ka {
		for at < len(kb) && !sameNamePart(word, kb[at]) {
			at++
		}
		if at == len(kb) {
			return false
		}
		if !IsStopWord(word) && len(word) > 1 {
			matched++
		}
		at++
	}
	return matched > 0
}

func sameNamePart(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) == 1 && len(b) > 1 && !startsWithDigit(a) {
		return b[0] == a[0]
	}
	if len(b) == 1 && len(a) > 1 && !startsWithDigit(b) {
		return a[0] == b[0]
	}
	return false
}

func isDateOrNumber(s string) bool {
	for _, w := range Words(s) {
		if !startsWithDigit(w.Key) && monthNumber(w.Key) == 0 && !isWeekday(w.Key) && w.Key != "of" {
			return false
		}
	}
	return true
}

// IsValue reports whether an entity is a date or a number, not a name.
func IsValue(entity string) bool { return isDateOrNumber(entity) }

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// entitySpans finds the spans of names, quoted titles, dates and numbers, in
// order. A span within one that was found before it is left out.
func entitySpans(text string) []Span {
	var spans []Span
	taken := make([]bool, len(text))
	add := func(s Span) {
		if taken[s.Start] && taken[s.End-1] {
			return
		}
		spans = append(spans, s)
		for i := s.Start; i < s.End; i++ {
			taken[i] = true
		}
	}
	for _, s := range quotedTitles(text) {
		add(s)
	}
	for _, d := range Dates(text) {
		add(d.Span)
	}
	for _, sentence := range Sentences(text) {
		for _, s := range capitalisedSpans(text, sentence) {
			add(s)
		}
	}
	for _, n := range Numbers(text) {
		if !n.Ordinal {
			add(n.Span)
		}
	}
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	return spans
}

// capitalisedSpans finds the names in one sentence.
func capitalisedSpans(text string, sentence Span) []Span {
	body := sentence.In(text)
	words := Words(body)
	var spans []Span
	for i := 0; i < len(words); i++ {
		if !startsName(body, words, i) {
			continue
		}
		end := i
		for j := i + 1; j < len(words); j++ {
			if breaksName(body, words[j-1], words[j]) {
				break
			}
			if isNamePart(words[j]) || hyphenated(body, words[j-1], words[j]) ||
				startsWithDigit(words[j].Key) && len(words[j].Key) < 4 && j == end+1 {
				end = j
				continue
			}
			if !isNameJoin(strings.ToLower(words[j].Text)) || j-end > 2 {
				break
			}
		}
		for end > i && isNameJoin(strings.ToLower(words[end].Text)) && !isCapitalised(words[end].Text) {
			end--
		}
		spans = append(spans, splitLong(words, i, end, sentence.Start)...)
		i = end
	}
	return spans
}

// splitLong cuts a span at "and" and the looser joins, and gives the parts too
// where they are names of their own.
func splitLong(words []Token, from, to int, offset int) []Span {
	var spans []Span
	start := from
	for k := from; k <= to; k++ {
		switch words[k].Text {
		case "and", "or", "in", "on", "for", "from", "with", "to", "at", "a", "an":
			if start < k {
				spans = append(spans, Span{offset + words[start].Start, offset + words[k-1].End})
			}
			start = k + 1
			for start <= to && isNameJoin(words[start].Text) {
				start++
			}
		}
	}
	if start <= to {
		spans = append(spans, Span{offset + words[start].Start, offset + words[to].End})
	}
	return spans
}

func startsName(body string, words []Token, i int) bool {
	w := words[i]
	if isCaseless(w.Text) {
		return len(w.Key) > 1
	}
	if !isCapitalised(w.Text) {
		return false
	}
	if head, _, short := strings.Cut(w.Key, "'"); short && IsStopWord(head) {
		return false // "It'll"
	}
	if IsStopWord(w.Key) || isSentenceStarter(w.Text) {
		// "The Colony": the article goes; "Who's Next" as a title is quoted.
		return false
	}
	if i == 0 && isCommonOpener(w.Key) {
		return i+1 < len(words) && isCapitalised(words[i+1].Text) && !breaksName(body, w, words[i+1])
	}
	return monthNumber(w.Key) == 0 || i == 0 || !startsWithDigit(words[i-1].Key)
}

// isCommonOpener: words that open sentences with a capital but name nothing.
func isCommonOpener(key string) bool {
	switch key {
	case "identify", "find", "search", "determine", "given", "using", "yes", "step", "question", "answer", "result",
		"results", "additionally", "furthermore", "moreover", "finally", "first", "next", "born", "known", "located",
		"unfortunately", "although", "despite", "including", "like", "unlike", "among", "several", "people", "besides",
		"starting", "released", "founded", "written", "directed", "produced", "set", "combining", "instead",
		"let", "whose", "name", "list", "different", "overall", "eventually", "initially", "recently",
		"nevertheless", "meanwhile", "generally", "usually", "often", "sometimes", "here", "still", "even",
		"around", "about", "near", "throughout", "upon", "until", "prior", "due", "having", "being", "much", "few",
		"every", "anyone", "someone", "something", "nothing", "further", "consequently", "similarly", "likewise":
		return true
	}
	return false
}

// hyphenated reports whether only a hyphen stands between two words: the
// second belongs to the name of the first ("Kim Jong-il").
func hyphenated(body string, a, b Token) bool {
	return b.Start > a.End && FoldString(body[a.End:b.Start]) == "-" && b.Start-a.End <= 3 &&
		!strings.ContainsAny(body[a.End:b.Start], " ")
}

func isNamePart(w Token) bool {
	return (isCapitalised(w.Text) || isCaseless(w.Text)) && (!IsStopWord(w.Key) || len(w.Text) == 1 || isNameJoin(w.Key))
}

// breaksName reports whether what stands between two words ends a name.
func breaksName(body string, a, b Token) bool {
	if b.Start < a.End {
		return false // overlapping pairs of characters
	}
	for _, r := range body[a.End:b.Start] {
		switch {
		case unicode.IsSpace(r), r == '.', r == '-', r == '–', r == '‑', r == '\'', r == '’', r == '&', r == '·':
		default:
			return true
		}
	}
	// A full stop ends a name unless an initial or a title stands before it.
	if strings.ContainsRune(body[a.End:b.Start], '.') {
		return !isInitial(a.Text) && !isTitleAbbreviation(a.Text) && !isAbbreviation(a.Text)
	}
	return false
}

func isCapitalised(word string) bool {
	for _, r := range word {
		if isInvisible(r) {
			continue
		}
		return unicode.IsUpper(r) || unicode.IsTitle(r)
	}
	return false
}

// isCaseless reports words of scripts that have no capitals.
func isCaseless(word string) bool {
	for _, r := range word {
		if isInvisible(r) {
			continue
		}
		return unicode.IsLetter(r) && unicode.ToUpper(r) == r && unicode.ToLower(r) == r
	}
	return false
}
