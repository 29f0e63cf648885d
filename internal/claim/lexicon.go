package claim

import (
	"regexp"
	"strings"
	"unicode"
)

// evidenceNoun is how a policy names what it was given to read.
const evidenceNoun = `(?:(?:search|retrieved|retrieval|first|second|third|last|top|new|previous|current|obtained|returned|provided|available|given|updated|web|above|same|relevant|additional|latest)\s+)*` +
	`(?:results?|information|info|passages?|paragraphs?|documents?|docs?|texts?|articles?|observations?|snippets?|evidence|contexts?|sources?|data|details|page|webpage|content|output|search(?:es)?|lookups?|quer(?:y|ies)|actions?|list|entry|entries|abstract|summary|excerpt|biography)`

// compile reads a pattern without regard to case; an apostrophe in it stands
// for the typographic ones too.
func compile(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.ReplaceAll(pattern, `'`, `['’ʼ]`))
}

var (
	reAuxiliary = compile(`\b(?:is|are|was|were|isn't|aren't|wasn't|weren't|has|have|had|does|do|did|doesn't|don't|didn't|can|could|(?-i:will|may)|would|might|must|cannot|can't|couldn't|won't|became|become|becomes)\b|\w's\b \w|'re\b`)
	rePastVerb  = compile(`\b(?:[a-z]{2,}ed|born|began|won|wrote|made|led|held|met|took|gave|came|went|grew|lost|left|built|sold|sang|ran|got|found|said|told|kept|fought|fell|rose|taught|bought|brought|saw|knew|drew|chose|spoke|stood|thought|wore|beat|cost|set|put|read|cut|hit)\b`)
	rePresentS  = compile(`\b(?:plays?|means?|includes?|contains?|lies?|lives?|works?|stars?|features?|serves?|belongs?|refers?|consists?|owns?|runs?|shares?|comes?|gives?|takes?|makes?|holds?|shows?|states?|mentions?|says?|restricts?|requires?|uses?|remains?|covers?|hosts?|speaks?|needs?|begins?|ends?|appears?|seems?|provides?|indicates?|suggests?|operates?|produces?|publishes|opens?|flows?|borders?|asks?|wants?|details|involves?|leads?|marks?|follows?|predates?|hails?|originates?|resides?|costs?|weighs?|measures?|stands?|sits?|spans?)\b`)
	// reCompares is a comparison written out: "1957 (A) < 1989 (B)".
	reCompares = regexp.MustCompile(`\S\s*[<>=]\s*\S`)
)

// hasFiniteVerb guesses, from its words, whether text is a clause. Of scripts
// other than the Latin one it knows no verbs, and takes every text for one.
func hasFiniteVerb(text string) bool {
	text = text[:cutAt(text, maxJudged)]
	return foreign(text) || reAuxiliary.MatchString(text) || rePastVerb.MatchString(text) ||
		rePresentS.MatchString(text) || reCompares.MatchString(text)
}

// startsClause guesses whether text begins with a subject, as a main clause
// does and the second half of an enumeration doesn't.
var reClauseStart = regexp.MustCompile(`^(?:["“'‘(\[]|\p{Lu}|\d|(?i:the|a|an|i|we|it|he|she|they|there|this|that|these|those|his|her|its|their|both|all|only|no|none|so|neither|one|my|our|some|any|each|most|many|another|therefore|thus|hence|not|nothing|still)\b)`)

func startsClause(text string) bool {
	return reClauseStart.MatchString(text) && hasFiniteVerb(text)
}

// foreign reports whether most letters of text are of another script.
func foreign(text string) bool {
	latin, other := 0, 0
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin++
		default:
			other++
		}
	}
	return other > latin
}
