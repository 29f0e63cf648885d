package schema

import (
	"fmt"
	"strings"
)

// Transcript is a whole rollout as a trainer without steps has it. It is cut
// into steps and an end by the role transcript-split. At most one of Text,
// Messages and Turns is set; with none of them the policy wrote nothing, and the
// rollout ends without a step.
type Transcript struct {
	Run     string `msgpack:"run,omitempty" json:"run,omitempty"`
	Rollout string `msgpack:"ro,omitempty" json:"rollout,omitempty"`
	// Format says how Text is written; empty or "auto" detects it. Messages and
	// Turns have forms of their own and need none. See TranscriptFormats.
	Format string `msgpack:"f,omitempty" json:"format,omitempty"`
	// Prompt is what the policy was given, where that is known apart from Text.
	// The question is read from it if Question is empty.
	Prompt string `msgpack:"p,omitempty" json:"prompt,omitempty"`
	// Text is the running text: the completion with the evidence that was put
	// into it, or, where Prompt is empty, prompt and completion together. Spans
	// of the steps are offsets into it, in code points.
	Text     string        `msgpack:"tx,omitempty" json:"text,omitempty"`
	Messages []ChatMessage `msgpack:"ms,omitempty" json:"messages,omitempty"`
	Turns    []Turn        `msgpack:"tu,omitempty" json:"turns,omitempty"`
	// Question that the rollout answers; needed unless the text or the prompt
	// holds it.
	Question string `msgpack:"q,omitempty" json:"question,omitempty"`
	// Answer is the final answer that the outcome is scored by; empty takes the
	// one that is read from the transcript.
	Answer string `msgpack:"a,omitempty" json:"answer,omitempty"`
	// Gold lists the accepted answers; without any the reward has no outcome.
	Gold      []string `msgpack:"g,omitempty" json:"gold,omitempty"`
	Group     string   `msgpack:"gr,omitempty" json:"group,omitempty"`
	GroupSize int      `msgpack:"gs,omitempty" json:"group_size,omitempty"`
	// StepDeadlineMS is the deadline of every step, counted from the acceptance
	// of this transcript, in milliseconds; 0 takes the pipeline's default.
	StepDeadlineMS int64 `msgpack:"sd,omitempty" json:"step_deadline_ms,omitempty"`
	// DeadlineMS is that of the end: see RolloutEnd.
	DeadlineMS int64 `msgpack:"dl,omitempty" json:"deadline_ms,omitempty"`
}

// ChatMessage is one message of a chat with tools.
type ChatMessage struct {
	// Role is system, user, assistant or tool.
	Role    string `msgpack:"r" json:"role"`
	Content string `msgpack:"c,omitempty" json:"content,omitempty"`
	// Reasoning is what an assistant thought outside its content.
	Reasoning string     `msgpack:"rc,omitempty" json:"reasoning_content,omitempty"`
	Calls     []ToolCall `msgpack:"tc,omitempty" json:"calls,omitempty"`
	// CallID is the call that a tool's message answers.
	CallID string `msgpack:"ci,omitempty" json:"tool_call_id,omitempty"`
	Name   string `msgpack:"n,omitempty" json:"name,omitempty"`
}

// ToolCall is what an assistant asked a tool for.
type ToolCall struct {
	ID   string `msgpack:"i,omitempty" json:"id,omitempty"`
	Name string `msgpack:"n" json:"name"`
	// Arguments are JSON, as text.
	Arguments string `msgpack:"a,omitempty" json:"arguments,omitempty"`
}

// Turn is one turn of a policy: a thought, then a search with what it brought,
// or an answer.
type Turn struct {
	Think    string     `msgpack:"t,omitempty" json:"think,omitempty"`
	Query    string     `msgpack:"q,omitempty" json:"query,omitempty"`
	Passages []Document `msgpack:"ps,omitempty" json:"passages,omitempty"`
	Answer   string     `msgpack:"a,omitempty" json:"answer,omitempty"`
}

// Document is a retrieved text as a trainer has it.
type Document struct {
	Title string `msgpack:"t,omitempty" json:"title,omitempty"`
	Text  string `msgpack:"x" json:"text"`
}

// TranscriptFormats lists what Transcript.Format may be.
func TranscriptFormats() []string {
	return []string{"auto", "search-r1", "r1-searcher", "research", "autorefine", "search-o1", "react", "chat"}
}

// BindRollout takes run and rollout from id into t; a body that says otherwise
// is refused.
func (t *Transcript) BindRollout(id RolloutID) error {
	if err := sameID(t.Run, t.Rollout, id.Run, id.Rollout); err != nil {
		return err
	}
	t.Run, t.Rollout = id.Run, id.Rollout
	return nil
}

// Validate checks every field of a bound transcript and returns a *FieldError
// naming the first that is wrong.
func (t *Transcript) Validate() error {
	if err := (RolloutID{t.Run, t.Rollout}).Check(); err != nil {
		return err
	}
	if err := t.format(); err != nil {
		return err
	}
	if err := firstOf(
		text("prompt", t.Prompt, MaxPrompt),
		text("text", t.Text, MaxTranscript),
		text("question", t.Question, MaxQuestion),
		text("answer", t.Answer, MaxAnswer),
		text("group", t.Group, maxGroupID),
		count("messages", len(t.Messages), MaxTurns),
		count("turns", len(t.Turns), MaxTurns),
		count("gold", len(t.Gold), MaxGold),
	); err != nil {
		return err
	}
	for i, g := range t.Gold {
		if err := text(fmt.Sprintf("gold[%d]", i), g, MaxAnswer); err != nil {
			return err
		}
	}
	if t.GroupSize < 0 || t.GroupSize > 1<<20 {
		return malformed("group_size", "%d is out of range", t.GroupSize)
	}
	if t.StepDeadlineMS < 0 || t.StepDeadlineMS > maxDeadlineMS {
		return malformed("step_deadline_ms", "%d is out of range, 0 to %d", t.StepDeadlineMS, int64(maxDeadlineMS))
	}
	if t.DeadlineMS < 0 || t.DeadlineMS > maxDeadlineMS {
		return malformed("deadline_ms", "%d is out of range, 0 to %d", t.DeadlineMS, int64(maxDeadlineMS))
	}
	return t.bodies()
}

// maxDeadlineMS is a year, so that no duration overflows.
const maxDeadlineMS = 365 * 24 * 60 * 60 * 1000

func (t *Transcript) format() error {
	forms := 0
	for _, given := range []bool{t.Text != "", len(t.Messages) > 0, len(t.Turns) > 0} {
		if given {
			forms++
		}
	}
	if forms > 1 {
		return malformed("text", "more than one of text, messages and turns is given; give one")
	}
	if t.Format == "" || t.Format == "auto" {
		return nil
	}
	for _, f := range TranscriptFormats() {
		if t.Format != f {
			continue
		}
		if len(t.Turns) > 0 || len(t.Messages) > 0 && f != "chat" {
			return malformed("format", "%q is a way of writing text; leave it out beside messages or turns", f)
		}
		return nil
	}
	return malformed("format", "%.40q is none; use one of %s", t.Format, strings.Join(TranscriptFormats(), ", "))
}

// bodies checks messages and turns; what they hold together is bounded.
func (t *Transcript) bodies() error {
	room := MaxTranscript
	take := func(field, s string, limit int) error {
		if room -= len(s); room < 0 {
			return tooLarge(field, MaxTranscript-room, MaxTranscript, "bytes up to here")
		}
		return text(field, s, limit)
	}
	for i := range t.Messages {
		if err := t.Messages[i].validate(fmt.Sprintf("messages[%d]", i), take); err != nil {
			return err
		}
	}
	for i := range t.Turns {
		if err := t.Turns[i].validate(fmt.Sprintf("turns[%d]", i), take); err != nil {
			return err
		}
	}
	return nil
}

type taker func(field, s string, limit int) error

func (m *ChatMessage) validate(field string, take taker) error {
	switch m.Role {
	case "system", "developer", "user", "assistant", "tool", "function":
	default:
		return malformed(field+".role", "%.40q is none; use system, user, assistant or tool", m.Role)
	}
	if err := firstOf(
		take(field+".content", m.Content, MaxTranscript),
		take(field+".reasoning_content", m.Reasoning, MaxTranscript),
		take(field+".tool_call_id", m.CallID, maxDetail),
		take(field+".name", m.Name, maxDetail),
		count(field+".calls", len(m.Calls), MaxCalls),
	); err != nil {
		return err
	}
	for i, c := range m.Calls {
		at := fmt.Sprintf("%s.calls[%d]", field, i)
		if c.Name == "" {
			return malformed(at+".name", "is missing; a tool call names its tool")
		}
		if err := firstOf(take(at+".id", c.ID, maxDetail), take(at+".name", c.Name, maxDetail), take(at+".arguments", c.Arguments, MaxText)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Turn) validate(field string, take taker) error {
	switch {
	case t.Query != "" && t.Answer != "":
		return malformed(field, "has both query and answer; a turn searches or answers")
	case len(t.Passages) > 0 && t.Query == "":
		return malformed(field+".passages", "stand in a turn without a query; only a search brings passages")
	}
	if err := firstOf(
		take(field+".think", t.Think, MaxText),
		take(field+".query", t.Query, MaxQuery),
		take(field+".answer", t.Answer, MaxAnswer),
		count(field+".passages", len(t.Passages), MaxPassages),
	); err != nil {
		return err
	}
	for i, p := range t.Passages {
		at := fmt.Sprintf("%s.passages[%d]", field, i)
		if p.Text == "" {
			return malformed(at+".text", "is empty")
		}
		if err := firstOf(take(at+".title", p.Title, MaxTitle), take(at+".text", p.Text, MaxPassageText)); err != nil {
			return err
		}
	}
	return nil
}
