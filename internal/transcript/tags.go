package transcript

import (
	"regexp"
	"sort"
	"strings"
)

// role of a tag in a rollout, whatever a format calls it.
type role int

const (
	roleThink role = iota
	roleQuery
	roleEvidence
	roleAnswer
	roleCall // a tool call in JSON
	roleNote // the policy's own notes, such as AutoRefine's <refine>
	roleTurn // a chat template's marks
)

type tag struct {
	role       role
	name       string
	close      bool
	start, end int
}

var reTag = regexp.MustCompile(`(?i)<(/?)(think|thinking|reasoning|search|information|result|documents|refine|answer|tool_call|tool_response)>|<\|(begin|end)_(of_query|of_documents|search_query|search_result)\|>|<\|im_start\|>[ \t]*(system|user|assistant|tool)?\n?|<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<\|start_header_id\|>[ \t]*(system|user|assistant|tool|ipython)<\|end_header_id\|>|</s>`)

var tagRoles = map[string]role{
	"think": roleThink, "thinking": roleThink, "reasoning": roleThink,
	"search": roleQuery, "of_query": roleQuery, "search_query": roleQuery,
	"information": roleEvidence, "result": roleEvidence, "documents": roleEvidence, "tool_response": roleEvidence,
	"of_documents": roleEvidence, "search_result": roleEvidence,
	"answer": roleAnswer, "tool_call": roleCall, "refine": roleNote,
}

// tagsIn returns the tags of text from an offset on.
func tagsIn(text string, from, to int) []tag {
	var tags []tag
	for _, m := range reTag.FindAllStringSubmatchIndex(text[from:to], -1) {
		sub := func(g int) string {
			if m[2*g] < 0 {
				return ""
			}
			return strings.ToLower(text[from+m[2*g] : from+m[2*g+1]])
		}
		t := tag{start: from + m[0], end: from + m[1]}
		switch {
		case sub(2) != "":
			t.name, t.close = sub(2), sub(1) == "/"
			t.role = tagRoles[t.name]
		case sub(4) != "":
			t.name, t.close = sub(4), sub(3) == "end"
			t.role = tagRoles[t.name]
		default:
			t.role, t.name = roleTurn, sub(5)+sub(6)
		}
		tags = append(tags, t)
	}
	return tags
}

// tagReader reads the part of a text in which policy and environment take
// turns.
type tagReader struct {
	text string
	tags []tag
	// environment are the environment's messages in the part that is read.
	environment []seg
	turns       []turn
	// say collects what the policy wrote since the last action.
	say []seg
	// foreign says that a chat template gave the word to someone else.
	foreign  bool
	warnings []Warning
}

func (p *tagReader) warn(code WarningCode, detail string) {
	p.warnings = append(p.warnings, Warning{Code: code, Detail: detail})
}

// readTags reads text[from:to].
func readTags(text string, from, to int) ([]turn, []Warning) {
	p := &tagReader{text: text}
	p.read(from, to)
	p.boxedAnswer()
	return p.finish(), p.warnings
}

// boxedAnswer takes a \boxed{} in the last words as the answer where no tag
// marks one.
func (p *tagReader) boxedAnswer() {
	for i := len(p.say) - 1; i >= 0; i-- {
		if at, ok := unbox(p.text, p.say[i]); ok {
			p.push(turn{act: actAnswer, at: at, value: at.in(p.text)})
			return
		}
	}
}

// finish closes the last turn.
func (p *tagReader) finish() []turn {
	if len(p.say) > 0 {
		p.turns = append(p.turns, turn{say: p.say})
		p.say = nil
	}
	return p.turns
}

func (p *tagReader) read(from, to int) {
	p.tags = tagsIn(p.text, from, to)
	p.environment = nil
	for _, m := range reEnvMessage.FindAllStringIndex(p.text[from:to], -1) {
		p.environment = append(p.environment, seg{from + m[0], from + m[1]})
	}
	at := from
	for i := 0; i < len(p.tags); {
		t := p.tags[i]
		if t.start < at {
			// swallowed by an environment's message that quotes tags
			i++
			continue
		}
		if end := p.speak(at, t.start); end > t.start {
			at = end
			continue
		}
		at, i = p.step(i, to)
	}
	p.speak(at, to)
}

// speak takes text[from:to] as the policy's words, without the environment's
// error messages among them. It returns where it stopped: after to, if such a
// message runs on beyond it.
func (p *tagReader) speak(from, to int) int {
	if p.foreign {
		return to
	}
	for from < to {
		m := p.message(from)
		if m.empty() || m.start >= to {
			p.add(seg{from, to})
			return to
		}
		p.add(seg{from, m.start})
		p.warn(WarnEnvironment, brief(m.in(p.text)))
		from = m.end
	}
	return from
}

// message returns the first of the environment's messages that begins at or
// after an offset.
func (p *tagReader) message(offset int) seg {
	i := sort.Search(len(p.environment), func(i int) bool { return p.environment[i].start >= offset })
	if i == len(p.environment) {
		return seg{}
	}
	return p.environment[i]
}

// reEnvMessage is Search-R1's reply to an action that it can't read. It quotes
// tags, which are no actions.
var reEnvMessage = regexp.MustCompile(`My (?:previous )?action is (?:invalid|not correct)\.(?:\s*(?:(?:If I want to|I should|Let me)[^\n.]*\.|\[\.\.\.\]))*`)

func (p *tagReader) add(s seg) {
	if s = s.trimmed(p.text); !s.empty() {
		p.say = append(p.say, s)
	}
}

// step handles the tag at index i and returns where to go on: the offset, and
// the index of the next tag.
func (p *tagReader) step(i, to int) (int, int) {
	t := p.tags[i]
	switch t.role {
	case roleTurn:
		p.foreign = t.name != "" && t.name != "assistant"
		return t.end, i + 1
	case roleThink, roleNote:
		return t.end, i + 1
	case roleEvidence:
		return p.evidence(i, to)
	}
	if p.foreign {
		return t.end, i + 1
	}
	if t.close {
		if t.role != roleQuery || !p.justAsked() {
			p.warn(WarnStrayTag, p.text[t.start:t.end])
		}
		return t.end, i + 1
	}
	end, next, closed := p.content(i, to)
	body := seg{t.end, end}
	switch t.role {
	case roleQuery:
		p.query(body, closed)
	case roleAnswer:
		p.answer(body, closed)
	case roleCall:
		p.call(body)
	}
	if !closed {
		return end, next
	}
	return p.tags[next-1].end, next
}

// content finds the end of what the opening tag i encloses: its own closing
// tag, or else the next tag that can't stand inside.
func (p *tagReader) content(i, to int) (end, next int, closed bool) {
	open := p.tags[i]
	for j := i + 1; j < len(p.tags); j++ {
		t := p.tags[j]
		if t.role == open.role && t.close {
			return t.start, j + 1, true
		}
		if open.role == roleCall && t.role != roleCall && t.role != roleEvidence && t.role != roleTurn {
			continue // a JSON string may hold any word
		}
		return t.start, j, false
	}
	return to, len(p.tags), false
}

// justAsked reports whether the last action was a search without an answer
// yet, and nothing was said since.
func (p *tagReader) justAsked() bool {
	n := len(p.turns)
	return n > 0 && len(p.say) == 0 && p.turns[n-1].act == actSearch && !p.turns[n-1].answered
}

func (p *tagReader) push(t turn) {
	t.say = p.say
	p.say = nil
	p.turns = append(p.turns, t)
}

func (p *tagReader) query(body seg, closed bool) {
	t := turn{act: actSearch}
	if !closed {
		// what follows an unclosed query on later lines is no query
		if i := strings.IndexByte(strings.TrimLeft(body.in(p.text), " \t\r\n"), '\n'); i >= 0 {
			lead := len(body.in(p.text)) - len(strings.TrimLeft(body.in(p.text), " \t\r\n"))
			body.end = body.start + lead + i
		}
		t.warn(WarnUnclosedQuery, brief(body.in(p.text)))
	}
	t.at = body.trimmed(p.text)
	t.value = t.at.in(p.text)
	p.push(t)
}

func (p *tagReader) answer(body seg, closed bool) {
	t := turn{act: actAnswer}
	if !closed {
		t.warn(WarnUnclosedAnswer, brief(body.in(p.text)))
	}
	t.at = body.trimmed(p.text)
	if boxed, ok := unbox(p.text, t.at); ok {
		t.at = boxed
	}
	t.value = t.at.in(p.text)
	p.push(t)
}

// call reads a tool call: {"name": ..., "arguments": {...}}.
func (p *tagReader) call(body seg) {
	calls, err := parseCalls(body.in(p.text))
	if err != nil {
		p.warn(WarnUnreadableCall, brief(body.in(p.text)))
		p.push(turn{act: actSearch, value: strings.TrimSpace(body.in(p.text)), at: body.trimmed(p.text)})
		p.turns[len(p.turns)-1].warn(WarnInvalidAction, "the tool call is no JSON")
		return
	}
	for _, c := range calls {
		t := turn{act: c.act, value: c.value, at: body.trimmed(p.text), callID: c.id}
		if c.act == actNone {
			t.warn(WarnOtherTool, c.name)
		}
		p.push(t)
	}
}

// evidence reads the block that the tag i opens. It counts only right after a
// search: a block that nothing asked for was written by the policy.
func (p *tagReader) evidence(i, to int) (int, int) {
	t := p.tags[i]
	if t.close {
		p.warn(WarnStrayTag, p.text[t.start:t.end])
		return t.end, i + 1
	}
	closeAt := p.closing(i)
	if closeAt >= 0 {
		p.observed(p.text[t.end:p.tags[closeAt].start], true)
		return p.tags[closeAt].end, closeAt + 1
	}
	end, next := to, len(p.tags)
	if i+1 < len(p.tags) {
		end, next = p.tags[i+1].start, i+1
		if p.tags[i+1].close && p.tags[i+1].role != roleThink {
			next = i + 2 // the stray tag with which the policy ended it
		}
	}
	if m := p.message(t.end); !m.empty() && m.start <= end {
		end, next = m.start, i+1
	}
	p.observed(p.text[t.end:end], false)
	if next == i+2 {
		return p.tags[i+1].end, next
	}
	return end, next
}

// closing returns the index of the tag that closes the evidence block i: the
// next tag of evidence, if it is that; -1 where another block opens first.
func (p *tagReader) closing(i int) int {
	for j := i + 1; j < len(p.tags); j++ {
		if t := p.tags[j]; t.role == roleEvidence {
			if t.close && t.name == p.tags[i].name {
				return j
			}
			return -1
		}
	}
	return -1
}

// observed gives an evidence block to the search that it answers.
func (p *tagReader) observed(body string, closed bool) {
	t := p.awaiting()
	if t == nil {
		p.warn(WarnUnasked, brief(body))
		return
	}
	docs, warnings := observe(body)
	if !closed {
		// Where the retriever's words end and the policy's begin can't be told,
		// so the document in which the block broke off is not used.
		if len(docs) > 0 {
			docs = docs[:len(docs)-1]
		}
		t.warn(WarnCutEvidence, "no end of the evidence block; its last document is not used")
	}
	t.docs = append(t.docs, docs...)
	t.warnings = append(t.warnings, warnings...)
	t.answered = true
}

// maxParallel is how many searches may wait for their observations at once.
const maxParallel = 64

// awaiting returns the first of the searches just made that has no answer yet.
func (p *tagReader) awaiting() *turn {
	if len(p.say) > 0 {
		return nil
	}
	var first *turn
	for i := len(p.turns) - 1; i >= max(0, len(p.turns)-maxParallel); i-- {
		t := &p.turns[i]
		if t.act == actAnswer || t.answered {
			break
		}
		first = t
		if len(t.say) > 0 {
			break
		}
	}
	return first
}

var reBoxed = regexp.MustCompile(`\\boxed\{`)

// unbox finds the answer inside \boxed{...}.
func unbox(text string, at seg) (seg, bool) {
	m := reBoxed.FindStringIndex(at.in(text))
	if m == nil {
		return at, false
	}
	start := at.start + m[1]
	depth := 1
	for i := start; i < at.end; i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				inner := seg{start, i}
				if s := text[start:i]; strings.HasPrefix(s, `\text{`) && strings.HasSuffix(s, "}") {
					inner = seg{start + len(`\text{`), i - 1}
				}
				return inner.trimmed(text), true
			}
		}
	}
	return at, false
}
