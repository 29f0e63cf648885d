package transcript

import (
	"regexp"
	"strings"
)

var (
	reAssistant = regexp.MustCompile(`<\|im_start\|>[ \t]*assistant[ \t]*\n?|<\|start_header_id\|>[ \t]*assistant[ \t]*<\|end_header_id\|>\s*`)
	reUserTurn  = regexp.MustCompile(`(?s)(?:<\|im_start\|>[ \t]*user[ \t]*\n?|<\|start_header_id\|>[ \t]*user[ \t]*<\|end_header_id\|>\s*)(.*?)(?:<\|im_end\|>|<\|eot_id\|>|$)`)
	// reInstruction marks a prompt that explains the tags, in logs without a
	// chat template. It holds tags that are no actions.
	reInstruction = regexp.MustCompile(`(?i)answer the given question|for example, <answer>|you can call a search engine by <search>|the assistant solves it|you are a helpful assistant`)
	reQuestion    = regexp.MustCompile(`(?im)^.*?\b(?:question|user question)[ \t]*:[ \t]*([^\n<]+)`)
	reUserSays    = regexp.MustCompile(`(?m)^[ \t]*User:[ \t]*(.+)$`)
	reSays        = regexp.MustCompile(`(?m)^[ \t]*Assistant:[ \t]*`)
)

// splitPrompt finds where the policy begins to speak in a text that may hold
// its prompt, and the question in that prompt.
func splitPrompt(text string) (question string, from int) {
	if m := reAssistant.FindStringIndex(text); m != nil {
		return questionIn(text[:m[0]]), m[1]
	}
	head := text
	if len(head) > 16<<10 {
		head = head[:16<<10]
	}
	m := reInstruction.FindStringIndex(head)
	if m == nil || strings.TrimSpace(head[:m[0]]) != "" && m[0] > 400 {
		return leadingQuestion(text)
	}
	if s := reSays.FindStringIndex(head[m[0]:]); s != nil {
		return questionIn(head[:m[0]+s[0]]), m[0] + s[1]
	}
	if q := reQuestion.FindStringSubmatchIndex(head[m[0]:]); q != nil {
		return strings.TrimSpace(head[m[0]+q[2] : m[0]+q[3]]), m[0] + q[1]
	}
	return leadingQuestion(text)
}

// leadingQuestion reads a "Question: ..." on the first line.
func leadingQuestion(text string) (string, int) {
	s := strings.TrimLeft(text, " \t\r\n")
	if q := reQuestion.FindStringSubmatchIndex(s); q != nil && q[0] == 0 && strings.HasPrefix(strings.ToLower(s), "question") {
		return strings.TrimSpace(s[q[2]:q[3]]), len(text) - len(s) + q[1]
	}
	return "", 0
}

// questionIn finds the question at the end of a prompt.
func questionIn(prompt string) string {
	user := prompt
	if turns := reUserTurn.FindAllStringSubmatch(prompt, -1); len(turns) > 0 {
		user = turns[len(turns)-1][1]
	}
	return promptQuestion(user)
}

// promptQuestion reads the question from a user's message: after the last
// "Question:" or "User:", else the message itself if it is short, else its
// last paragraph.
func promptQuestion(user string) string {
	user = strings.TrimSpace(user)
	if all := reQuestion.FindAllStringSubmatch(user, -1); len(all) > 0 {
		return strings.TrimSpace(all[len(all)-1][1])
	}
	if all := reUserSays.FindAllStringSubmatch(user, -1); len(all) > 0 {
		return strings.TrimSpace(all[len(all)-1][1])
	}
	if len(user) <= 1000 {
		return user
	}
	if i := strings.LastIndex(user, "\n\n"); i >= 0 {
		return strings.TrimSpace(user[i:])
	}
	return user
}

// detectText names the format of one rollout's text; "" where it is none that
// is known.
func detectText(text string) Format {
	_, from := splitPrompt(text)
	body := text[from:]
	lower := strings.ToLower(body)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(lower, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("<|begin_of_query|>", "<|begin_of_documents|>"):
		return FormatR1Searcher
	case has("<|begin_search_query|>", "<|begin_search_result|>"):
		return FormatSearchO1
	case has("<tool_call>", "<tool_response>"):
		return FormatChat
	case has("<documents>", "<refine>"):
		return FormatAutoRefine
	case has("<search>") && has("<result>"):
		return FormatReSearch
	case has("<information>", "<search>"):
		return FormatSearchR1
	case reReAct.MatchString(body):
		return FormatReAct
	case has("<answer>", "</think>"):
		return FormatSearchR1
	}
	return ""
}

var reReAct = regexp.MustCompile(`(?m)^[ \t]*(?:\*\*)?(?:Thought|Action)(?:[ \t]*\d{1,3})?(?:\*\*)?[ \t]*:`)

// readText reads one rollout's running text.
func readText(text string, format Format) *draft {
	if format == FormatReAct {
		return readReAct(text)
	}
	question, from := splitPrompt(text)
	d := &draft{format: format, question: question, text: text}
	d.turns, d.warnings = readTags(text, from, len(text))
	return d
}
