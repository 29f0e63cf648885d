package transcript

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// FromMessage reads a transcript of the wire: the same reader as for files. It
// is a function of the message alone, so that a transcript that is read twice
// gives the same steps. A policy that wrote nothing gives a rollout without
// steps; a rollout whose question is known nowhere is a *schema.FieldError.
func FromMessage(t *schema.Transcript) (*Rollout, error) {
	rec, err := recordOf(t)
	if err != nil {
		return nil, err
	}
	out := &Rollout{Question: t.Question, Format: Format(t.Format)}
	if rec != nil {
		d, err := rec.draft(Format(t.Format))
		if err != nil {
			return nil, &schema.FieldError{Field: "text", Problem: err.Error(), Reason: schema.ReasonMalformed}
		}
		d.fill(rec)
		out = build(d)
	}
	out.ID = t.Rollout
	out.tidy()
	if len(out.Steps) > 0 && out.Question == "" {
		return nil, &schema.FieldError{Field: "question", Reason: schema.ReasonMalformed,
			Problem: "is missing, and neither text nor prompt holds one; give the question that the rollout answers"}
	}
	out.Gold, out.Group = t.Gold, t.Group
	if t.Answer != "" {
		out.Answer = t.Answer
	}
	return out, nil
}

// recordOf writes t as the record that files hold; nil if the policy wrote
// nothing.
func recordOf(t *schema.Transcript) (record, error) {
	fields := map[string]any{}
	switch {
	case len(t.Messages) > 0:
		messages := make([]wireMessage, len(t.Messages))
		for i, m := range t.Messages {
			messages[i] = wireMessage{Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, ToolCallID: m.CallID, Name: m.Name}
			for _, c := range m.Calls {
				messages[i].ToolCalls = append(messages[i].ToolCalls, map[string]any{
					"id": c.ID, "function": map[string]any{"name": c.Name, "arguments": c.Arguments},
				})
			}
		}
		fields["messages"] = messages
	case len(t.Turns) > 0:
		turns := make([]map[string]any, len(t.Turns))
		for i, turn := range t.Turns {
			turns[i] = map[string]any{"think": turn.Think}
			switch {
			case turn.Query != "":
				turns[i]["query"] = turn.Query
				turns[i]["passages"] = turn.Passages
			case turn.Answer != "":
				turns[i]["answer"] = turn.Answer
			}
		}
		fields["steps"] = turns
	case strings.TrimSpace(t.Text) != "":
		fields["completion"] = t.Text
	default:
		return nil, nil
	}
	if t.Question != "" {
		fields["question"] = t.Question
	}
	if t.Prompt != "" {
		fields["prompt"] = t.Prompt
	}
	rec := record{}
	for k, v := range fields {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("writing %s of a transcript: %w", k, err)
		}
		rec[k] = b
	}
	return rec, nil
}

// wireMessage is a chat message as OpenAI's interface has it.
type wireMessage struct {
	Role       string           `json:"role"`
	Content    string           `json:"content"`
	Reasoning  string           `json:"reasoning_content,omitempty"`
	ToolCalls  []map[string]any `json:"tool_calls,omitempty"`
	ToolCallID string           `json:"tool_call_id,omitempty"`
	Name       string           `json:"name,omitempty"`
}
