package claim

const will = `(?:will|'ll|need|should|must|want|have to|ought|am going to|are going to|plan|would like|would need|may need|might need|decided|intend|aim|can (?:then |now |also |instead |next |start |begin |try |simply )*(?:try|search|look|use|check|start|begin|compare|proceed|call|perform|retrieve|switch|query|do|go|instead|focus|verify|consider|find out|combine|move)|could (?:also |then )?(?:try|search|look|check|use)|shall|still need|now need|then need|also need|next need|first need|don't need|do not need|(?:am|are) (?:looking for|trying to|searching for))`

var (
	rePlanStart = compile(`^(?:to [^,.]{2,240}, |in order to [^,.]{2,240}, |for (?:this|that), |next |then |now |so |first |instead |therefore |once [^,]{2,120}, |now that [^,]{2,160}, )*(?:i|we)\s*(?:also |now |then |next |first |still |just |instead |therefore |may |might )*` + will + `\b`)
	rePlanWord  = compile(`^(?:let's|let us|let me|lets)\b|^(?:so |then |now |next |instead |or |and |but |therefore |maybe |perhaps )*(?:maybe|perhaps|possibly) (?:i|we|it|the|there|a|an|this|that|he|she|they|\p{L}+ )|^(?:the|my) (?:next|first|second|third|following|final|last|key|main) (?:step|task|thing|action|search|query|goal|key)\b|^the key (?:here|terms?|is|question)\b|^(?:it|this) (?:is|may be|might be|seems|will be|would be) (?:necessary|needed|best|better|important|required|helpful|useful|appropriate|worth|time) (?:to|that i)\b|^the goal is\b|^this will (?:help|give|allow)\b|^(?:in order )?to (?:find|determine|identify|answer|solve|know|confirm|verify|compare|figure|locate|establish|get|see|check|understand)\b`)
	// imperatives: "Identify the director of ...".
	reImperative = compile(`^(?:and |then |next,? |now,? |first,? |finally,? )*(?:identify|determine|find(?: out)?|look(?:ing)?(?: up| for| into)?|compare|check|verify|calculate|understand|consider|retrieve|start|begin|conclude (?:which|what|who|whether)|confirm|analyze|analyse|establish|figure out|gather|locate|combine|summarize|examine|decide|search(?:ing)? (?:for|the|about|on|again|up|in|\p{Lu})|use (?:the|a|another|search)|read|recall|note that i|assess|evaluate|break down|list the|provide (?:the|an|a)|ask|query|explore|investigate|proceed|continue|try)\b`)
	reQueryIs    = compile(`^(?:the |my |a |another |first |next |second )*(?:search )?quer(?:y|ies)\b[^.]{0,40}?\b(?:is|are|will be|would be|could be|should be|:)`)
	// what is only wondered.
	reWonder = compile(`^(?:maybe|perhaps|possibly|alternatively|wait|hmm+|or maybe|not sure|i wonder|i'm not sure|i am not sure|i'm (?:pretty|fairly|not entirely)|could it be|what if|if (?:i|we|that|the|it|not|so|this)\b|unless|assuming|suppose|presumably|i think maybe|i guess|it could be|it might be|that could be|that might be|there might be|there may be|this could be|i should)\b`)
	// a policy's word that it knows nothing yet, before it has searched.
	reNoKnowledge = compile(`\b(?:i|we) (?:do not|don't|did not|didn't|currently lack|lack) (?:currently |yet |already )*(?:have|possess)?\s*(?:any |the |enough |sufficient |much |specific |prior |direct |detailed |exact )*(?:knowledge|memory)\b|\b(?:i|we) (?:do not|don't) (?:know|recall|remember)\b[^.]{0,80}\bso\b`)

	reTool = compile(`^(?:after|from) ["“”]*\w+,?["“”]*,? (?:the|there) (?:is |are )?(?:only |available |adjacent |possible )*(?:actions?|nodes?)\b` +
		`|^no further (?:actions?|search(?:es)?|steps?|information|research|quer(?:y|ies)) (?:is|are) (?:needed|necessary|required)` +
		`|^(?:my|the|your) previous action (?:is|was) invalid|^if i want to (?:search|give)|^let me try again` +
		`|^(?:i|we)(?:'ve| have| now have| already have| have now| have already| had| already| now)\s+(?:now |already |just |successfully )*(?:searched|found|obtained|got|gathered|retrieved|looked|collected|have|completed|done|answered|identified|determined|know|confirmed|verified)?\s*(?:for |up |at |all |both |enough |about |through )*(?:it|this|these|them|everything|all|both|enough|(?:the |this |that |some |my )?(?:final |necessary |required |needed |relevant |correct |requested |specific |above |same )*(?:answers?|information|results?|details?|data|character's name|names?|dates?|years?|searches|quer(?:y|ies)|steps?))\b` +
		`|\b(?:necessary|required|needed|requested) information (?:has been|was|is|have been) (?:obtained|found|gathered|available)` +
		`|^(?:search )?(?:query|queries|action|tool|function|keyword|keywords)\s*(?:\d+\s*)?:|^reasoning (?:re)?starts?\b|^the (?:\w+ ){0,3}(?:action|choice) (?:here )?(?:is|was|would be|should be|seems to be|might be)\b|^(?:an?|the) ["“]?(?:search|lookup|retrieve|finish)["”]? action\b` +
		`|^(?:this|the|my) (?:conclusion|answer|information|claim|fact|data)\b[^.]{0,40}\b(?:is|are|was|can be|has been)\s+(?:\w+ly\s+)?(?:supported|confirmed|based|found|verified|corroborated|consistent|backed|available|derived|clear)\b` +
		`|^(?:the|this) (?:original |main |user's )?(?:question|user|query|problem|task|prompt)\b(?:\s+\w+ly)?\s+(?:is |was |also |specifically |just )*(?:seems|appears|ask(?:s|ing|ed)?|want(?:s|ed|ing)?|mention(?:s|ed|ing)?|request(?:s|ed|ing)?|seek(?:s|ing)?|require(?:s|d)?|need(?:s)?|say(?:s)?|state(?:s|d)?|specif(?:y|ies|ied)|about|refers?|does|doesn't|did|only|involves?|can be)\b` +
		`|^(?:no (?:conflicting|contradict\w+) |all (?:the )?(?:search |top )?(?:results|sources|searches) (?:align|agree|point|confirm|support))` +
		`|^(?:this|that|it) (?:directly |fully |also )*(?:answers|addresses|resolves|completes) (?:the|this|my|our|your) (?:question|query|task)` +
		// the policy about its own words: taking back says nothing of the world
		`|^(?:i|we) (?:was|were|am|must have been|may have been) (?:wrong|mistaken|incorrect|in error|confused)\b` +
		`|^(?:i|we)(?:'ve| have)? (?:made (?:a|an|the|some) (?:\w+ )?(?:mistake|error|slip)|misread|misunderstood|misinterpreted|misstated|mixed up|conflated|stand corrected|apologi[sz]e|retract|withdraw|take back)\b` +
		`|^(?:i|we) (?:had )?(?:previously|earlier|initially|first|wrongly|incorrectly|mistakenly|erroneously) (?:said|stated|claimed|assumed|thought|wrote|concluded|identified|noted|believed|reported|answered)\b` +
		`|^(?:my|our|the) (?:previous|earlier|initial|first|last|prior) (?:claim|answer|statement|assumption|conclusion|reading|step|thought)s? (?:was|were|is|are)\b` +
		`|^(?:that|this|it) (?:was|is|isn't|wasn't)(?: actually| not)? (?:wrong|incorrect|inaccurate|mistaken|a mistake|an error|right|correct|accurate|true)[.!]?$` +
		`|^(?:oops|my mistake|my bad|my apologies|scratch that|strike that|sorry)\b` +
		`|^(?:yep|yeah|okay|ok|alright|right|great|good|perfect|hmm+|that (?:matches|fits|makes sense|checks out|should be|seems))\b`)

	// talk about the evidence that asserts nothing of the world.
	reAboutEvidence = compile(`^there (?:are|is) (?:some |several |many |other |an? )*(?:similar|related|relevant|matching|multiple|various)\b|^(?:the|this|these|those|all|both|my|most of the|several|some|multiple)?\s*` + evidenceNoun + `(?:\s+(?:i (?:obtained|retrieved|found)|obtained|retrieved|found|above|returned|from [^,.]{1,60}))?\s+(?:also |only |mainly |mostly |primarily |just |briefly )*(?:provides?|provided|gives?|gave|contains?|contained|includes?|included|offers?|discuss(?:es|ed)?|talks? about|focus(?:es|ed)? on|(?:is|are|seems? to be|appears? to be) (?:about|related|focused|mostly|mainly|relevant|not relevant|irrelevant|unrelated|incorrect|not (?:about|related)|similar|from|consistent))\b`)
)

func isPlan(core string) bool {
	return rePlanStart.MatchString(core) || rePlanWord.MatchString(core) || reImperative.MatchString(core) ||
		reQueryIs.MatchString(core) || reWonder.MatchString(core)
}
