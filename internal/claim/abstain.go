package claim

import "strings"

const (
	// the adverbs that stand between a negation and its verb.
	adverbs = `(?:(?:explicitly|directly|specifically|clearly|actually|really|even|seem to|appear to|yet|also|currently|definitively|exactly|necessarily|further|immediately|confidently|conclusively|reliably|fully|readily|still)\s+)*`
	negated = `(?:do(?:es)?|did|could|can|would|will|may|might|have|has|had)\s*(?:not|n't)|cannot|never|fail(?:s|ed)? to`
	unable  = `(?:(?:am|was|were|are|is|been) (?:not able|unable)|unable|fail(?:ed)?|struggled) to`
	tells   = `(?:mention|provide|contain|state|say|specify|include|give|list|reveal|show|indicate|answer|yield|return|tell|help|have|describe|discuss|address|name|identify|confirm|match|suggest|offer|produce|cover|present|refer|support|detail|lead|point|clarify)`
	finds   = `(?:find|locate|determine|identify|confirm|verify|see|answer|conclude|establish|tell|say|ascertain|retrieve|obtain|get|provide|know|have|compare|figure|deduce|infer|make)`
	info    = `(?:information|info|mention|mentions|data|details?|evidence|results?|records?|references?|indication|answers?|passages?|documents?|sources?|match(?:es)?|clues?|proof|confirmation)`
)

var (
	// "I couldn't find", "we were unable to determine", "I still don't have".
	reCannot = compile(`(?:\b(?:i|we)(?:'ve)?\s+|^)(?:still |also |then |now |therefore |thus |so )*(?:` + negated + `|` + unable + `)\s+` + adverbs + finds + `\b`)
	// "I did not get the location", "I haven't found it yet".
	reHaveNot = compile(`\b(?:i|we)\s+(?:still |also )*(?:did|have|had)\s*(?:not|n't)\s+(?:yet |been able to )*(?:found|find|gotten|get|got|located|seen|obtained|identified|determined)\b`)
	// "The results do not mention", "it does not specify", "the search did not
	// yield".
	reSilent = compile(`\b(?:` + evidenceNoun + `|none of (?:the|these|them))\b(?:\s+(?:i (?:obtained|retrieved|found|have)|obtained|retrieved|found|provided|returned|above|using ["“]?\w+["”]?|(?:from|about|for|on|of|in) [^,.;]{1,80}?))*\s+(?:still |also |only |just )*(?:(?:do(?:es)?|did|could|can|will|may|might|has|have|had)\s*(?:not|n't)|cannot|never|fail(?:s|ed)? to)\s+` + adverbs + tells)
	// "but it does not say".
	reItSilent = compile(`\b(?:it|they|this|neither)\s+(?:still |also )*(?:do(?:es)?|did)\s*(?:not|n't)\s+` + adverbs + `(?:mention|specify|state|say|list|indicate|tell (?:me|us)|(?:provide|give|contain|include|have|offer|yield|return) (?:me |us )?(?:any |the |specific |enough |much |direct |exact )*(?:` + info + `|names?|dates?|answer))\b`)
	// "X does not mention Y", whatever X is.
	reNoMention = compile(`\b(?:do(?:es)?|did)\s*(?:not|n't)\s+` + adverbs + `(?:mention|specify)\b`)
	// "is not mentioned", "wasn't specified".
	reNotSaid = compile(`\b(?:is|are|was|were|been|be|being)(?:\s+not|n't|\s+never)\s+(?:\w+ly\s+|also\s+|even\s+|yet\s+|itself\s+)*(?:mentioned|specified|stated|disclosed)\b`)
	// "is still not given in the snippet", "was not found".
	reNotThere = compile(`\b(?:is|are|was|were|been|be|being)\s+(?:still |also )*(?:not|n't|nowhere)\s+(?:\w+ly\s+|also\s+|yet\s+)*(?:given|provided|available|found|listed|included|described|known|clear|indicated|shown|documented|present|in|enough|sufficient)\b(?:\s*[.,;:]?\s*$|\s+(?:in|from|by|within|on|among|at|as|either|here|there|anywhere|whether|which|who|what|when|where|how|if|to|for)\b)`)
	// what "is not known for" and "is not given in the 4th edition" assert.
	reNotThereFact = compile(`\bnot\s+(?:\w+ly\s+)?(?:known (?:for|as|to have)|available (?:in|on|from|to)|included (?:in|on|as)|found in|in|listed as|present (?:at|in)|shown (?:in|on|at))\b`)
	reInEvidence   = compile(`\b(?:in|from|by|within|among|on)\s+(?:the|this|these|any(?: of the)?|my|that)\s+` + evidenceNoun + `\b`)
	// "It cannot be determined", "can't be answered".
	reCannotBe = compile(`\b(?:can|could)\s*(?:not|n't)\s+be\s+(?:\w+ly\s+)?(?:determined|found|answered|confirmed|identified|established|verified|known|concluded|inferred|derived|told|deduced|ascertained|located)\b|\b(?:is|are|was|were) (?:unable|impossible|not possible) to (?:determine|tell|say|know|answer|find|identify|confirm|verify)\b|\bcannot be (?:\w+ly\s+)?(?:determined|found|answered|confirmed|identified|established|verified|known|concluded|inferred|derived|told|deduced|ascertained)\b`)
	// "There is no mention of", "no relevant information was found".
	reThereIsNo = compile(`\bthere(?:'s| is| are| was| were| seems? to be| appears? to be)\s+(?:still |also |currently )*(?:no|not any|not enough|not much|insufficient|nothing|little)\s+(?:[\w-]+\s+){0,4}?(?:` + info + `)\b`)
	reNoSuch    = compile(`\bthere(?:'s| is| are| was| were)\s+no\s+[^.]{1,80}?\b(?:mentioned|listed|specified|stated|found|given|provided|available)\b`)
	reNoInfo    = compile(`^(?:still |again,? |but |since |as |because )*(?:no|not enough|insufficient|nothing)\s+(?:[\w-]+\s+){0,3}?(?:` + info + `)\b|\bno\s+(?:[\w-]+\s+){0,2}?` + info + `\s+(?:was|were|is|are|has been|have been|could be)\s+(?:found|available|provided|given|returned)|\b(?:found|returned|gave|yielded|contains?|provides?) no\s+(?:[\w-]+\s+){0,3}?` + info + `\b|\b(?:i|we|results?|search(?:es)?) (?:have |has )?(?:found|got|returned|see|have|yielded) (?:nothing|none)\b`)
	reNothing   = compile(`\bnothing (?:about|on|regarding|relevant|useful|was|is|in (?:the|these)|here|there|else|that (?:says|mentions|tells))\b|\bnone of (?:the|these) ` + evidenceNoun + `\b|\bnone of the similar\b`)
	// "I am still missing the list", "I lack this detail".
	reLack = compile(`\b(?:i|we)\s+(?:am|'m|are)?\s*(?:still |also )?(?:missing|lacking|lack)\b|\b(?:` + evidenceNoun + `)\s+(?:is|are|seems?|remains?)\s+(?:still )?(?:missing|insufficient|lacking|inconclusive|unavailable)\b`)
	// "The answer is unknown", "it remains unclear".
	reUnknown = compile(`\b(?:is|are|was|were|remains?|stays?)\s+(?:still |therefore |currently )*(?:unknown|unclear|uncertain|undetermined|inconclusive|indeterminate)\b(?:\s*[."”]*\s*$|\s+(?:whether|which|who|what|when|where|how|if|from|based|in|at)\b)`)
	// "This is not the band I am looking for".
	reNotSought = compile(`\b(?:is|are|was)\s*(?:not|n't)\s+(?:the|what|who)\b[^.]{0,80}?\b(?:i|we)(?: am|'m| are|'re| was| were)? (?:looking for|need|want|seeking|searching for|after)\b|\b(?:i am|i'm|we are) looking for is not\b|\b(?:did|does|do)(?: not|n't) (?:really )?(?:help|answer (?:the|my|our|this) question)\b`)
	// "but not her mother's name", after something about the evidence.
	reElliptic       = compile(`^(?:do(?:es)?|did)\s*(?:not|n't)\s+` + adverbs + tells + `\b|^(?:not|nothing about|no (?:information|mention|details?))\s+(?:the|her|his|their|its|any|specific(?:ally)?|who|what|when|where|which|how|enough|much|about|an?|exactly|\p{Lu})`)
	reEvidenceSpoken = compile(`^(?:(?:the|this|these|those|both|all|my)\s+)*` + evidenceNoun + `\b`)

	// "I couldn't find anything that suggests otherwise" abstains on nothing.
	reNoCounter = compile(`\b(?:find|found|see|saw)\s+(?:any|no)\s+(?:\w+\s+)?(?:` + info + `|thing)\s+(?:that |which |to )(?:would )?(?:suggests?|contradicts?|indicates? otherwise|disproves?|refutes?)\b`)
	reHowMany   = compile(`\bhow (?:many|much)\b`)

	reAbstainAnswer = compile(`^(?:(?:the answer is|it is|it's|is)\s+)?(?:unknown|unclear|uncertain|undetermined|indeterminate|none|n/?a|nil|null|not (?:found|mentioned|specified|stated|available|known|provided|given|applicable|sure|clear|determined|enough information)|no (?:answer|information|info|data|result|results|idea|such \w+)(?: (?:found|available|given|was found))?|insufficient (?:information|evidence|data)|cannot (?:be )?(?:determined?|answer(?:ed)?|say|tell|find)|can't (?:be )?(?:determined?|answer(?:ed)?|say|tell)|(?:could not|couldn't) (?:be )?(?:determined?|found|find)|unable to (?:determine|answer|find)|undeterminable|i (?:do not|don't|cannot|can't|could not|couldn't) (?:know|determine|find|answer|tell|say)|unanswerable|not in the (?:text|passages?|documents?|results?))\b`)
)

// abstains reports whether a clause says that something was not found.
func abstains(clause string) bool {
	if !mayAbstain(clause) {
		return false
	}
	switch {
	case reCannot.MatchString(clause), reHaveNot.MatchString(clause), reNoMention.MatchString(clause), reItSilent.MatchString(clause),
		reNotSaid.MatchString(clause), reCannotBe.MatchString(clause), reThereIsNo.MatchString(clause),
		reNoSuch.MatchString(clause), reLack.MatchString(clause), reUnknown.MatchString(clause),
		reNotSought.MatchString(clause), reNoInfo.MatchString(clause), reNothing.MatchString(clause),
		reSilent.MatchString(clause):
		return true
	case reNotThere.MatchString(clause):
		return !reNotThereFact.MatchString(clause) || reInEvidence.MatchString(clause)
	}
	return false
}

// mayAbstain is a cheap look for a word of denial, without which none of the
// patterns can fit.
func mayAbstain(clause string) bool {
	lower := strings.ToLower(clause)
	for _, w := range []string{"not", "n't", "n’t", "nʼt", "no", "never", "unable", "fail", "struggled", "lack", "missing", "insufficient",
		"little", "unknown", "unclear", "uncertain", "undetermined", "inconclusive", "indeterminate", "unavailable", "impossible"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// AbstainingAnswer reports whether a final answer declines to answer. "None"
// does, unless a number was asked for.
func AbstainingAnswer(question, answer string) bool {
	a := strings.Trim(strings.TrimSpace(answer), `"'“”.!*`)
	if a == "" || !reAbstainAnswer.MatchString(a) {
		return a != "" && len(strings.Fields(a)) > 3 && abstains(a)
	}
	if strings.EqualFold(a, "none") && reHowMany.MatchString(question) {
		return false
	}
	// "Unknown Pleasures" is an album, "No Such Thing" a song.
	return len(strings.Fields(a)) == 1 || a == strings.ToLower(a) || !titled(a) || abstains(a)
}

// titled reports whether a's later words are capitalised like a title's.
func titled(a string) bool {
	words := strings.Fields(a)
	for _, w := range words[1:] {
		if w[0] >= 'A' && w[0] <= 'Z' {
			return true
		}
	}
	return false
}
