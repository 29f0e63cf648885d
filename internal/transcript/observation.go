package transcript

import (
	"regexp"
	"strings"
)

var (
	// reVerdict is a grader's word on the answer. Taken as evidence it would
	// leak the gold answer into the judgement of a step.
	reVerdict = regexp.MustCompile(`(?i)^\s*(?:(?:the )?(?:final )?answer is (?:in)?correct[.!]?|episode finished\b.*|episode (?:ended|over|done)[,.! ]*(?:reward\b.*)?|correct answer\s*:.*|(?:the )?(?:gold(?:en)?|ground[- ]truth|expected|reference|true) answers?\s*(?:is|are|:).*|(?:final )?(?:reward|em|f1)\s*[=:]\s*\S+|status\s*:\s*(?:success|fail(?:ed|ure)?)|your answer is (?:in)?correct.*|(?:in)?correct[.!]?)\s*$`)

	// reMiss is a retriever or an environment saying that there is nothing.
	reMiss = regexp.MustCompile(`(?is)^\s*(?:` +
		`could ?n[o']t find\b.*|cannot find\b.*|unable to find\b.*|` +
		`no (?:more |further |relevant |search |matching |useful |helpful )*(?:results?|information|documents?|passages?|matches|data|content|pages?|articles?|hits)\b(?: (?:were |was |is |are |have been )?(?:found|available|returned|retrieved|matched))?(?: (?:for|on|about|in) .*)?[.!]?|` +
		`none[.!]?|null|nil|n/?a|\[\s*\]|\{\s*\}|""|'')\s*$`)
	reSimilar = regexp.MustCompile(`(?is)^\s*(?:could ?n[o']t|can(?:no|')t|did ?n[o']t) find .*similar\s*:\s*\[`)

	// reEnvironment is an environment about the action, not about the world.
	reEnvironment = regexp.MustCompile(`(?is)^\s*(?:` +
		`invalid (?:action|tool|query|search|input|argument|format|request|function)\b.*|(?:my|your|the) (?:previous |last )?action is invalid\b.*|(?:this|that) (?:action|tool) is (?:not (?:valid|supported|allowed)|invalid)\b.*|` +
		`(?:http )?error\b[: (].*|(?:an |unknown |internal |unexpected |search |tool |api |request |connection |timeout )+(?:error|exception)\b.*|traceback \(most recent call last\).*|` +
		`(?:the )?(?:search|request|tool|retrieval|query|fetch)(?: call| engine| server)? (?:failed|timed out|error|was rejected|is unavailable|is not available).*|(?:request|connection|read|search|tool) (?:timed out|timeout)\b.*|timed? ?out[.!]?|timeout(?: ?error)?\b[: ].*|` +
		`(?:the )?last page searched\b.*|please (?:try again|search first|rewrite)\b.*|there is no page\b.*|you (?:have|are|can|must|should|need)\b.*\b(?:search(?:ed|es)?|limit|quer(?:y|ies)|format|tag|action|tool)s?\b.*|` +
		`(?:the )?(?:maximum|max) (?:search|number of search(?:es)?|turn|tool[- ]call)\b.*|(?:search|turn) limit (?:reached|exceeded)\b.*|(?:http |status(?: code)?:? ?)(?:4\d\d|5\d\d)\b.*|(?:4\d\d|5\d\d)[: ]+(?:client |server |internal |bad |not |forbidden|unauthorized|too many |service |gateway |request |error)\b.*|(?:page|file|url|404) not found\b.*|too many requests\b.*|rate limit\b.*|` +
		`rollout (?:ended|stopped|truncated)\b.*|ended[.!]?|` +
		`a google search for '.*' found 0 results.*` +
		`)\s*$`)

	reResultPrefix = regexp.MustCompile(`^\s*\(Result \d+\s*/\s*\d+\)\s*`)
)

// denial tells why a text is no evidence; "" means that it may be.
type denial string

const (
	denyNothing     denial = ""
	denyEmpty       denial = "empty"
	denyVerdict     denial = "verdict"
	denyMiss        denial = "miss"
	denyEnvironment denial = "environment"
)

// deny looks at a whole observation or document.
func deny(text string) denial {
	s := strings.TrimSpace(text)
	switch {
	case s == "":
		return denyEmpty
	case reVerdict.MatchString(s):
		return denyVerdict
	case reSimilar.MatchString(s), len(s) < 600 && reMiss.MatchString(s):
		return denyMiss
	case len(s) < 1500 && reEnvironment.MatchString(s):
		return denyEnvironment
	}
	return denyNothing
}

// withoutVerdicts cuts lines that are nothing but a grader's or environment's
// word from an observation.
func withoutVerdicts(text string) (string, bool) {
	if !strings.ContainsAny(text, "\n") {
		return text, false
	}
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	cut := false
	for _, l := range lines {
		if len(l) < 400 && strings.TrimSpace(l) != "" && (reVerdict.MatchString(l) || reEnvLine.MatchString(l)) {
			cut = true
			continue
		}
		kept = append(kept, l)
	}
	if !cut {
		return text, false
	}
	return strings.Join(kept, "\n"), true
}

// reEnvLine is an environment's line among a retriever's.
var reEnvLine = regexp.MustCompile(`(?i)^\s*(?:A Google search for '.*' found \d+ results:?|## Web Results|My previous action is invalid\..*|Invalid action:.*|No more results\.|Episode finished\b.*)\s*$`)

// verdictOf reads a grader's word as right or wrong; nil where it is neither.
func verdictOf(text string) *bool {
	right, wrong := true, false
	s := strings.ToLower(text)
	switch {
	case strings.Contains(s, "answer is incorrect"), strings.Contains(s, "reward = 0"), strings.Contains(s, "reward = false"):
		return &wrong
	case strings.Contains(s, "answer is correct"), strings.Contains(s, "reward = 1"), strings.Contains(s, "reward = true"):
		return &right
	}
	return nil
}

// observe turns an observation into documents, and says what was left out.
func observe(text string) (docs []document, warnings []Warning) {
	note := func(d denial) {
		switch d {
		case denyVerdict:
			warnings = append(warnings, Warning{Code: WarnVerdict, Detail: brief(text)})
		case denyNothing:
		default:
			warnings = append(warnings, Warning{Code: WarnNoEvidence, Detail: string(d) + ": " + brief(text)})
		}
	}
	if d := deny(text); d != denyNothing {
		note(d)
		return nil, warnings
	}
	body, cut := withoutVerdicts(text)
	if cut && verdictOf(text) != nil {
		note(denyVerdict)
	}
	for _, d := range splitDocuments(body) {
		d.text = strings.TrimSpace(reResultPrefix.ReplaceAllString(d.text, ""))
		d.title = strings.TrimSpace(d.title)
		if why := deny(d.text); why != denyNothing {
			if why != denyEmpty {
				note(why)
			}
			continue
		}
		docs = append(docs, d)
	}
	if len(docs) == 0 && len(warnings) == 0 {
		note(denyEmpty)
	}
	return docs, warnings
}

// brief is the head of a text for people.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
