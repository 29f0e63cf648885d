package transcript

import (
	"encoding/json"
	"strings"
)

type message struct {
	Role       string          `json:"role"`
	From       string          `json:"from"`
	Content    json.RawMessage `json:"content"`
	Value      json.RawMessage `json:"value"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCalls  []wireCall      `json:"tool_calls"`
	Function   *wireCall       `json:"function_call"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
}

func (m *message) who() string {
	switch strings.ToLower(m.Role + m.From) {
	case "assistant", "gpt", "model", "ai":
		return "assistant"
	case "tool", "function", "ipython", "observation", "environment", "tool_response":
		return "tool"
	case "user", "human":
		return "user"
	case "system", "developer":
		return "system"
	}
	return strings.ToLower(m.Role + m.From)
}

// text of a message: a string, or the texts of a list of parts.
func (m *message) text() string {
	raw := m.Content
	if len(raw) == 0 {
		raw = m.Value
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		var b []string
		for _, p := range parts {
			b = append(b, p.Text)
		}
		return strings.Join(b, "\n")
	}
	if len(raw) > 0 && string(raw) != "null" {
		return string(raw)
	}
	return ""
}

// chatEvent is what one message adds, in order.
type chatEvent struct {
	say         seg        // of an assistant
	calls       []toolCall // of an assistant, beside its content
	at          []seg      // where the calls' queries stand
	observation string
	observes    bool
	callID      string
}

// readChat reads chat messages: the policy's are those of the assistant.
func readChat(messages []message) *draft {
	d := &draft{format: FormatChat}
	var w script
	var events []chatEvent
	asked := false
	for i := range messages {
		m := &messages[i]
		switch m.who() {
		case "assistant":
			events = append(events, writeAssistant(&w, m))
			asked = true
		case "user":
			if !asked {
				d.question = promptQuestion(m.text())
				continue
			}
			events = append(events, chatEvent{observation: m.text(), observes: true})
		case "tool":
			events = append(events, chatEvent{observation: m.text(), observes: true, callID: m.ToolCallID})
		}
	}
	d.text = w.b.String()
	p := &tagReader{text: d.text}
	for i, e := range events {
		if e.observes {
			p.heard(e)
			continue
		}
		p.read(e.say.start, e.say.end)
		for k, c := range e.calls {
			t := turn{act: c.act, value: c.value, at: e.at[k], callID: c.id}
			if c.act == actNone {
				t.warn(WarnOtherTool, c.name)
			}
			p.push(t)
		}
		if i == len(events)-1 {
			p.endWithAnswer()
		}
	}
	d.turns, d.warnings = p.finish(), p.warnings
	return d
}

func writeAssistant(w *script, m *message) chatEvent {
	w.gap()
	var e chatEvent
	content := m.text()
	if m.Reasoning != "" {
		content = "<think>\n" + m.Reasoning + "\n</think>\n" + content
	}
	e.say = w.line(content)
	calls := m.ToolCalls
	if m.Function != nil {
		calls = append(calls, *m.Function)
	}
	for _, c := range calls {
		raw, err := json.Marshal(c)
		if err != nil {
			continue
		}
		call, err := parseCall(raw)
		if err != nil {
			continue
		}
		e.calls = append(e.calls, call)
		e.at = append(e.at, w.line(call.value))
	}
	return e
}

// heard gives a tool's or user's message to the call that it answers.
func (p *tagReader) heard(e chatEvent) {
	body := e.observation
	if tags := tagsIn(body, 0, len(body)); len(tags) > 0 {
		// ChatML: the tool's words stand inside <tool_response>.
		for i, t := range tags {
			if t.role == roleEvidence && !t.close {
				end := len(body)
				if i+1 < len(tags) {
					end = tags[i+1].start
				}
				for j := i + 1; j < len(tags); j++ {
					if tags[j].role == roleEvidence && tags[j].close {
						end = tags[j].start
						break
					}
				}
				p.heardOne(body[t.end:end], e.callID)
			}
		}
		if strings.Contains(body, "<tool_response>") || strings.Contains(body, "<information>") || strings.Contains(body, "<result>") {
			return
		}
	}
	if e.callID == "" && p.awaiting() == nil {
		p.warn(WarnEnvironment, brief(body))
		return
	}
	p.heardOne(body, e.callID)
}

func (p *tagReader) heardOne(body, callID string) {
	t := p.awaiting()
	if callID != "" {
		for i := len(p.turns) - 1; i >= max(0, len(p.turns)-maxParallel); i-- {
			if p.turns[i].callID == callID {
				t = &p.turns[i]
				break
			}
		}
	}
	if t == nil {
		p.warn(WarnUnasked, brief(body))
		return
	}
	t.observe(body)
}

// endWithAnswer takes what the last message says after its thoughts as the
// answer, where no tag marks one.
func (p *tagReader) endWithAnswer() {
	if len(p.say) == 0 {
		return
	}
	last := p.say[len(p.say)-1]
	p.say = p.say[:len(p.say)-1]
	p.push(turn{act: actAnswer, at: last, value: last.in(p.text)})
}
