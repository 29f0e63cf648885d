package claim

import "regexp"

// lead is an opening that says nothing of the world; concludes marks those
// that introduce a conclusion.
type lead struct {
	re        *regexp.Regexp
	concludes bool
}

const seen = `(?:see|found|find|learn(?:ed|t)?|know|discover(?:ed)?|observed?|noticed?|understand|believe|think|recall|remember|assume|infer(?:red)?|gather(?:ed)?|say|confirm(?:ed)?|determined?|identif(?:y|ied)|verif(?:y|ied)|establish(?:ed)?)`

// leads are tried again and again until none fits.
var leads = []lead{
	{re: compile(`^(?:however|additionally|also|moreover|furthermore|in addition|meanwhile|specifically|again|indeed|similarly|likewise|next|now|ok(?:ay)?|alright|well|yes|no|great|good|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|then|still|importantly|notably|interestingly|in fact|of course|on the other hand|overall|unfortunately|fortunately|in this case|in such cases|yet|for example|in other words),\s+`)},
	{re: compile(`^(?:(?:a )?correction|(?:i|we) (?:was|were|am) (?:wrong|mistaken|incorrect)(?: about (?:that|this|it))?|i misread (?:it|that|the \w+)|my mistake|that (?:was|is) (?:wrong|incorrect|a mistake)|oops|wait|no)\s*(?:[:;]|,| [-–—])\s+(?:actually,?\s+|in fact,?\s+)?`)},
	{re: compile(`^actually,?\s+`)},
	{re: compile(`^(?:and|but|yet|however|also|although|though|while|whereas|because|since)\s+`)},
	{re: compile(`^(?:based (?:up)?on|from|according to|per|given|looking at|in|as (?:stated|mentioned|seen|shown|noted|described|indicated|found) (?:in|by|above)|after (?:reviewing|reading|analy[sz]ing|checking)|using|considering|with|upon reviewing|judging (?:by|from)|thanks to)\s+(?:(?:all|both|each|any|one)\s+(?:of\s+)?)?(?:the|this|these|those|that|my|our)\s+` + evidenceNoun + `\b[^,.;:]{0,80},["”]?\s+`)},
	{re: compile(`^(?:combining|putting together|taking|comparing|reviewing|considering)\s+(?:all |both )?(?:the|this|these|those)?\s*[^,.]{0,80},\s+`), concludes: true},
	{re: compile(`^(?:i|we)(?:'ll| will| can| could| would| must)*\s+assume\s+(?:that\s+)?`)},
	{re: compile(`^(?:i|we) (?:now )?have (?:the )?(?:information|evidence|confirmation) that\s+`)},
	{re: compile(`^(?:based on (?:this|that|these|it|what [^,.]{1,40})|from (?:this|these|that|there|here)|with (?:this|that)(?: in mind)?|given (?:this|that)),?\s+`)},
	{re: compile(`^(?:i|we)(?:'ll|'ve|'d| will| can| could| would| may| have| must| now| also| already| then| just| do)*\s+(?:conclude|concluded|deduce|deduced|say with \w+)(?:\s+from [^,.]{1,60}?)?\s+that\s+`), concludes: true},
	{re: compile(`^(?:i|we)(?:'ll|'ve|'d| will| can| could| would| may| have| had| must| now| also| already| then| just| do| still)*\s+` + seen + `(?:\s+out)?(?:\s+(?:here|there|from [^,.]{1,60}?))?\s+that\s+`)},
	{re: compile(`^it\s*(?:'s| is| was| has been| can be| becomes| became)\s+(?:now |also |quite |very )*(?:clear|evident|apparent|obvious|known|stated|mentioned|confirmed|noted|said|seen|established|reported|found|indicated)\s+(?:from [^,.]{1,80}? |in [^,.]{1,60}? |here )?that\s+`)},
	{re: compile(`^it\s*(?:'s| is| can be|can also be)\s+(?:safe to say|concluded|inferred|deduced|reasonable to \w+)\s+that\s+`), concludes: true},
	{re: compile(`^it\s+(?:also |now )?(?:appears|seems|turns out|looks)\s+(?:that|like|as if|as though)\s+`)},
	{re: compile(`^(?:(?:the|this|these|those|that|all(?: of)?(?: the)?|both|my|one of the|another|one|several|multiple|some)\s+)*` + evidenceNoun + `(?:\s+(?:i (?:obtained|retrieved|found|have)|obtained|retrieved|found|provided|returned|above|given|(?:from|about|for|on|of) [^,.;]{1,80}?))?\s+(?:also |only |clearly |now |explicitly |do |does |further |both |all |consistently |seem to |appear to )*(?:mention|mentions|mentioned|state|states|stated|say|says|said|show|shows|showed|indicate|indicates|indicated|confirm|confirms|confirmed|reveal|reveals|revealed|suggest|suggests|suggested|note|notes|noted|tells?(?: me| us)?|describes?|specif(?:y|ies)|reports?|explains?|reads?)\s+that\s+`)},
	{re: compile(`^(?:it|this|he|she|they) (?:also |further )?(?:mentions|states|says|shows|indicates|confirms|reveals|notes|tells (?:me|us))\s+that\s+`)},
	{re: compile(`^(?:therefore|thus|hence|consequently|accordingly|as a result|in conclusion|to conclude|in summary|to sum up|overall|ultimately)\b,?\s+(?:then,?\s+)?`), concludes: true},
	{re: compile(`^\**(?:conclusion|final answer|summary|in summary|result)\s*:\**\s*`), concludes: true},
	{re: compile(`^\**(?:answer|reasoning|analysis|findings?|observation|note|evidence)\s*:\**\s*`)},
	{re: compile(`^so,\s+|^so\s+(?:then,?\s+)?`), concludes: true},
	{re: compile(`^(?:this|that|which|it|these)\s+(?:clearly |also |all |would |then )*(?:means?|implies|imply|follows|proves?)\s+(?:that\s+)?`), concludes: true},
}

var (
	// "So far", "so that", "so many" open no conclusion.
	reNotSo = compile(`^so (?:far|that|many|much|long|called|few|little|as)\b`)
	// reAnswerIs states an answer without saying what it answers.
	reAnswerIs = compile(`^(?:the|my|our) (?:final |correct |short |best |most likely )*answer(?: to (?:the|this|that|your|our) (?:original |main |user's )?(?:question|query))?(?:\s+(?:should|would|must|will|could|may|might))?\s*(?:is|be|:|seems to be|appears to be)\s*(?:that\s+)?`)
	// in the middle of a sentence: "..., I can conclude that".
	reConcludesInside = compile(`\b(?:i|we) (?:can |could |may |must |now |would )*(?:conclude|infer|deduce)\b|\bcan be concluded\b`)
)

// stripLeads returns the offset in body at which its core begins, and whether
// an opening marks a conclusion.
func stripLeads(body string) (core int, concludes bool) {
	for {
		rest := body[core:]
		n := 0
		for _, l := range leads {
			m := l.re.FindStringIndex(rest)
			if m == nil || m[1] == 0 || m[1] >= len(rest) {
				continue
			}
			if reNotSo.MatchString(rest) {
				break
			}
			n = m[1]
			concludes = concludes || l.concludes
			break
		}
		if n == 0 {
			return core, concludes
		}
		core += n
	}
}
