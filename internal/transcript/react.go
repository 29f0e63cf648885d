package transcript

import (
	"regexp"
	"strings"
)

// reLabel finds the labels of a ReAct transcript at the head of a line, and
// numbered ones after a blank where a newline was lost.
var reLabel = regexp.MustCompile(`(?m)(?:^[ \t]*(?:#+ |\*\*)?(Thought|Action Input|ActionPath|Action|Observation|Question|Final Answer|Answer|Correct answer|Reflection|Reflections|STATUS|Scratchpad)(?:[ \t]*(\d{1,3}))?(?:\*\*)?[ \t]*:|[ \t](Action|Observation|Thought)[ \t](\d{1,3}):)[ \t]*(?:\*\*)?`)

// reRule is a line between rollouts of a log.
var reRule = regexp.MustCompile(`(?m)^(?:[-#=]{5,}.*|BEGIN TRIAL.*|Trial summary:.*)$`)

var (
	reBracketed = regexp.MustCompile(`(?s)^\s*([A-Za-z_]+)\s*\[(.*)\]\s*[.]?\s*$`)
	reOpenOnly  = regexp.MustCompile(`(?s)^\s*([A-Za-z_]+)\s*\[(.*)$`)
	reFirstCall = regexp.MustCompile(`^\s*([A-Za-z_]+)\s*\[([^\]\n]*)\]`)
)

type label struct {
	name       string
	start, end int // end is where its text begins
}

func labelsIn(text string) []label {
	var out []label
	for _, m := range reLabel.FindAllStringSubmatchIndex(text, -1) {
		name := ""
		for _, g := range []int{2, 6} {
			if m[g] >= 0 {
				name = strings.ToLower(text[m[g]:m[g+1]])
			}
		}
		out = append(out, label{name, m[0], m[1]})
	}
	return out
}

// readReAct reads a ReAct transcript with or without numbers.
func readReAct(text string) *draft {
	d := &draft{format: FormatReAct, text: text}
	labels := labelsIn(text)
	var say []seg
	push := func(t turn) {
		t.say = say
		say = nil
		d.turns = append(d.turns, t)
	}
	var pending *turn // an action whose input follows on a line of its own
	for i, l := range labels {
		end := len(text)
		if i+1 < len(labels) {
			end = labels[i+1].start
		}
		body := seg{l.end, end}
		if m := reRule.FindStringIndex(body.in(text)); m != nil {
			body.end = body.start + m[0]
		}
		body = body.trimmed(text)
		switch l.name {
		case "question":
			if d.question == "" {
				d.question = body.in(text)
			}
		case "thought", "actionpath":
			if l.name == "thought" && !body.empty() {
				say = append(say, body)
			}
		case "action":
			t := readAction(text, body)
			if t.act == actNone && i+1 < len(labels) && labels[i+1].name == "action input" {
				t.act = toolAct(body.in(text))
				t.warnings = nil
				pending = &t
				continue
			}
			push(t)
		case "action input":
			if pending != nil {
				pending.at = seg{body.start, body.end}
				pending.value = strings.Trim(body.in(text), `"`)
				if c, err := parseCalls(`{"name":"search","arguments":` + body.in(text) + `}`); err == nil && strings.HasPrefix(body.in(text), "{") {
					pending.value = c[0].value
				}
				push(*pending)
				pending = nil
			}
		case "final answer", "answer":
			push(turn{act: actAnswer, at: body, value: body.in(text)})
		case "observation":
			d.observed(body.in(text), len(say) > 0)
		case "correct answer":
			if g := strings.TrimSpace(body.in(text)); g != "" {
				d.gold = append(d.gold, g)
			}
		}
	}
	if len(say) > 0 {
		d.turns = append(d.turns, turn{say: say})
	}
	return d
}

// observed gives an observation to the last action.
func (d *draft) observed(body string, spoken bool) {
	n := len(d.turns)
	if n == 0 || spoken {
		d.warn(WarnUnasked, brief(body))
		return
	}
	t := &d.turns[n-1]
	if v := verdictOf(body); v != nil && d.correct == nil {
		d.correct = v
	}
	t.observe(body)
}

// observe takes the answer of an environment to the turn's action.
func (t *turn) observe(body string) {
	docs, warnings := observe(body)
	t.answered = true
	if t.act != actSearch {
		if deny(body) == denyVerdict {
			t.warn(WarnVerdict, brief(body))
		} else if strings.TrimSpace(body) != "" {
			t.warn(WarnEnvironment, brief(body))
		}
		if deny(body) == denyEnvironment {
			t.rejected()
		}
		return
	}
	t.docs = append(t.docs, docs...)
	t.warnings = append(t.warnings, warnings...)
}

// rejected undoes an answer that the environment did not take.
func (t *turn) rejected() {
	if t.act == actAnswer {
		t.act = actNone
		t.warn(WarnInvalidAction, "the environment did not take the answer "+brief(t.value))
		t.value, t.at = "", seg{}
	}
}

// readAction reads "Search[X]". What stands in a bracket that never closes is
// still what the policy asked for.
func readAction(text string, body seg) turn {
	s := body.in(text)
	m := reBracketed.FindStringSubmatchIndex(s)
	if m != nil && strings.Contains(s, "\n") {
		// more than one line: the action is the first call
		if first := reFirstCall.FindStringSubmatchIndex(s); first != nil {
			m = first
		}
	}
	closed := m != nil
	if !closed {
		if m = reFirstCall.FindStringSubmatchIndex(s); m != nil {
			closed = true
		} else {
			m = reOpenOnly.FindStringSubmatchIndex(s)
		}
	}
	if m == nil {
		t := turn{}
		if s != "" {
			t.warn(WarnInvalidAction, brief(s))
		}
		return t
	}
	t := turn{act: toolAct(s[m[2]:m[3]]), at: seg{body.start + m[4], body.start + m[5]}.trimmed(text)}
	t.value = t.at.in(text)
	if !closed {
		t.warn(WarnInvalidAction, "no closing bracket: "+brief(s))
		if t.act == actAnswer {
			t.rejected()
		}
	}
	if t.act == actNone {
		t.warn(WarnInvalidAction, brief(s))
		t.value, t.at = "", seg{}
	}
	return t
}
