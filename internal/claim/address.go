package claim

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Text that speaks to whoever judges, and text that is no language, asserts
// nothing of the world that evidence could support. A policy that writes such
// things, or copies them from a page, claims neither more nor less than without
// them.
var (
	// reRole puts what follows into the mouth of an authority.
	reRole = compile(`^\W*(?:system|developer|admin(?:istrator)?|operator|moderator|grader|judge|reviewer|evaluator|model)(?:\s+(?:message|note|prompt|override|notice))?\W{0,3}(?:[:\]>]|'s (?:thoughts?|notes?|verdict)\b)|^note from the \w+\s*:|^\W*important\W{0,2}:|^(?:dear|hello|hi|hey),? (?:judge|grader|reviewer|evaluator|model|assistant|ai)\b`)
	// reOrder is an order; those that look for something are plans. What
	// follows is small, since "Mark Twain" and "Return of the King" are names.
	reOrder = compile(`^\W*(?:(?:please|now|always|just|simply|instead|then|and|only)\s+)*(?:(?-i:[Ii]gnore|[Dd]isregard|[Ff]orget|[Oo]verride|[Ll]abel|[Mm]ark|[Tt]ag|[Cc]lassify|[Rr]ate|[Ss]core|[Gg]rade|[Tt]reat|[Rr]eturn|[Oo]utput|[Pp]rint|[Rr]espond|[Rr]eply|[Aa]nswer|[Ss]ay|[Rr]eport|[Ee]mit|[Ss]et|[Dd]ecode|[Ee]xecute|[Ff]ollow|[Jj]udge|[Ss]top|[Bb]e|[Aa]ct|[Pp]retend|[Ii]magine))\s+(?-i:all|any|each|every|the (?:above|previous|rules?|following|claim|step|label|verdict|instructions?|prompt)|this|that|these|it|only|with|my|your|previous|prior|as|none|aligned|supported|entailed|entailment|yes|lenient|generous|kind|aim|about)\b|^\W*please\s|^\W*(?:do not|don't|never)\s+(?-i:judge|label|mark|check|grade|flag|report|use|tell|reveal)\b`)
	// reYou addresses a reader. Facts about entities don't.
	reYou = regexp.MustCompile(`\b(?:you|your|yours|yourself)\b|^\W*You(?:'re|'ll|r)?\s+(?:are|must|will|should|shall|have|always|can|may|need|now|do|answer|judge|task|job)\b`)
	// reGrading is about steps, claims and labels as such.
	reGrading = compile(`\b(?:contradicted_claim|irrelevant_evidence|missing_bridge)\b` +
		`|\b(?:this|the (?:current|next|last|previous|above)|each|every|all) steps?\b|^(?:the )?steps? (?:is|are|was|were|has|have|looks?|seems?|without|with|must|should)\b` +
		`|\b(?:this|each|every|the) claims? (?:\w+ ){0,4}?(?:is|are|was|were|has been|have been|to be) (?:\w+ly )?(?:to be )?(?:entailed|supported|verified|correct|true|confirmed|labell?ed|judged|valid|reported)\b` +
		`|\b(?:confirm|support|entail|prove|verif|back)\w*(?: \w+){0,2} the claim\b` +
		`|\b(?:label(?:l?ed)?|mark(?:ed)?|tag(?:ged)?|classified|reported|treated|counts?|counted|graded|scored|answer(?:ing|ed)?|output|respond|say|give) (?:\w+ ){0,3}?(?:as |is |be |with )*["\x27“]?(?:none|aligned|misaligned|entailed|entailment|contradiction|supported)\b` +
		`|\b(?:label|verdict|aim|entailment|output|grade)s?(?: of [^.]{1,40})?\s*(?:is|are|was|=|:|has been set to|should be|must be|will be) ["\x27“]?(?:none|aligned|misaligned|yes|no|entailed|entailment|contradiction|supported|\d(?:\.\d+)?)\b` +
		`|\b(?:grading|evaluation|judging|verdict|label(?:l?ing)?|new|previous|system) (?:rules?|instructions?|prompts?)\b|\b(?:entailment|safety) checks?\b|\b(?:maintenance|developer|debug|god|admin) mode\b` +
		`|^(?:this|that|it|everything|the above|all of (?:this|it)) (?:has|have) (?:already )?been (?:verified|checked|confirmed|approved|validated)\b` +
		`|\bthe (?:fact|claim) (?:is|was) (?:\w+ly )?(?:stated|given) in (?:the|these) (?:passages?|evidence|documents?|text)\b|^\W*(?:\w+\s*:\s*)?(?:none|aligned|misaligned|entailed|entailment|contradiction|supported)\W*$|\bthe reward (?:is|should|must|will)\b|^the code is [0-9a-f]{8}\b|^(?:the )?end of (?:data|the data|the passages?|input|evidence|document)\b|^(?:the )?task is done\b` +
		`|^(?:example|step|case) \d+\s*:\s*label\b|^answer is (?:in)?correct\b|^episode finished\b`)
	// reMarkup is code, data, or marks that only programs read.
	reMarkup = compile(`<\|[^<>|\n]{1,40}\|>|<｜[^<>｜\n]{1,40}｜>|\[/?INST\]|<(?:start|end)_of_turn>|<!--|-->|\{\{|\}\}|</?(?:system|user|assistant|developer|passages?|documents?|information|answer|script|meta|think)\b` +
		"|[{\\[,]\\s*\"[^\"\\n]{1,60}\"\\s*:|^\\W*```|^===\\s|^\\[//\\]:|^\\|[^\\n]*\\|$|\\\\[a-z]{3,20}\\{|\\]\\([a-z]+://|^<<\\w|^[0-9a-f]{8}>>")
	reEncoded = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4}){3}|(?:%[0-9A-Fa-f]{2}\w*){3}|\b0x[0-9a-fA-F]{16,}|[A-Za-z0-9+/=_-]{48,}`)
)

// addresses reports whether a sentence speaks to whoever judges, or is code,
// data or a cipher, in whatever spelling.
func addresses(text string) bool {
	text = text[:cutAt(text, maxJudged)]
	if strings.ContainsAny(text, "\u202d\u202e") {
		return true // reversed on the screen: written to deceive
	}
	plain := plainText(text)
	if mixedScripts(plain) || reMarkup.MatchString(plain) || reEncoded.MatchString(plain) {
		return true
	}
	// What stands in quotation marks is a title or someone's words.
	plain = reTag.ReplaceAllString(reQuoted.ReplaceAllString(plain, `""`), "")
	return reRole.MatchString(plain) || reOrder.MatchString(plain) || reYou.MatchString(plain) || reGrading.MatchString(plain)
}

// hidden returns the fact that an addressing sentence states all the same, or "":
// a clause that names what the question or the query names is a claim, however
// it is dressed up.
func hidden(s Sentence, step *schema.Step) string {
	fact := standAlone(strings.TrimSpace(reToken.ReplaceAllString(reTag.ReplaceAllString(plainText(s.Text), ""), " ")))
	if !hasFiniteVerb(fact) || strings.HasSuffix(fact, "?") {
		return ""
	}
	known := evidence.Names(step.Question + "\n" + step.Query)
	for _, name := range evidence.Names(fact) {
		if slices.ContainsFunc(known, func(k string) bool { return evidence.SameEntity(k, name) }) {
			return fact
		}
	}
	return ""
}

var (
	reToken  = regexp.MustCompile(`<\|[^<>|\n]{1,40}\|>|<｜[^<>｜\n]{1,40}｜>|\[/?INST\]|<(?:start|end)_of_turn>|<!--|-->`)
	reQuoted = regexp.MustCompile(`"[^"]{1,200}"`)
	reTag    = regexp.MustCompile(`</?[a-zA-Z][^<>]{0,200}>`)
)

// plainText is a text as a reader sees it: folded, and without marks that strike
// letters through.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x0300 && r <= 0x036F || r >= 0xE0000 && r <= 0xE007F {
			return -1
		}
		return r
	}, evidence.FoldString(text))
}

// mixedScripts reports whether a word mixes Latin letters with Cyrillic or
// Greek ones that look like them; "α-helix" has a joint between them.
func mixedScripts(text string) bool {
	latin, other := false, false
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.Is(unicode.Cyrillic, r), unicode.Is(unicode.Greek, r):
			other = true
		default:
			latin, other = false, false
		}
		if latin && other {
			return true
		}
	}
	return false
}
