package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Rollout is a rollout as it is posted: a transcript (text, messages or turns),
// or steps that were cut already.
type Rollout struct {
	Run            string        `json:"run" doc:"the training run: 1 to 128 of A-Z a-z 0-9 _ -; a fresh one for each start"`
	Rollout        string        `json:"rollout,omitempty" doc:"the rollout within the run, of the same characters; give one, so that posting again is safe. Without it the gateway makes one up"`
	Question       string        `json:"question,omitempty" doc:"the question that is answered; needed unless prompt, text or messages hold it"`
	Prompt         string        `json:"prompt,omitempty" doc:"what the policy was given, where text holds the completion alone"`
	Format         string        `json:"format,omitempty" doc:"how text is written: auto (the default), search-r1, r1-searcher, research, autorefine, search-o1, react, chat"`
	Text           string        `json:"text,omitempty" doc:"the running text with the evidence in it; spans are offsets into it, in code points"`
	Messages       []Message     `json:"messages,omitempty" doc:"chat messages with tool calls, as OpenAI's interface has them"`
	Turns          []schema.Turn `json:"turns,omitempty" doc:"thoughts, each with a search and what it brought, or with the answer"`
	Steps          []Step        `json:"steps,omitempty" doc:"steps that were cut already; text may stand beside them, for their spans"`
	Answer         string        `json:"answer,omitempty" doc:"the final answer, for the outcome; by default the one in the transcript"`
	Gold           []string      `json:"gold,omitempty" doc:"accepted answers; without any the reward has no outcome"`
	Group          string        `json:"group,omitempty" doc:"the GRPO group, usually the question's id"`
	GroupSize      int           `json:"group_size,omitempty" doc:"how many rollouts the group has"`
	StepDeadlineMS int64         `json:"step_deadline_ms,omitempty" doc:"time for each step, from its acceptance, in milliseconds; 0 for the pipeline's default"`
	DeadlineMS     int64         `json:"deadline_ms,omitempty" doc:"how long after the end missing labels are waited for, in milliseconds; 0 for the pipeline's default"`
}

// Step is a step as it is posted. What can be known is filled in: its index, the
// passages' digests and who fetched them, earlier steps.
type Step struct {
	Kind     schema.Kind       `json:"kind,omitempty" doc:"search (the default) or conclusion"`
	Plan     string            `json:"plan,omitempty"`
	Query    string            `json:"query,omitempty"`
	Text     string            `json:"text,omitempty" doc:"what the policy wrote after the evidence"`
	Claim    string            `json:"claim,omitempty" doc:"the sentences of text that assert facts; by default read from text"`
	Answer   string            `json:"answer,omitempty" doc:"the final answer; conclusions only"`
	Passages []schema.Document `json:"passages,omitempty" doc:"what this step's query brought"`
	Spans    []schema.Span     `json:"spans,omitempty" doc:"offsets into the rollout's text, in code points"`
	Saw      int               `json:"saw,omitempty" doc:"the highest step whose label the policy had seen"`
}

// Message is a chat message. Fields that other programs add are ignored.
type Message struct {
	Role      string  `json:"role"`
	Content   Content `json:"content,omitempty"`
	Reasoning string  `json:"reasoning_content,omitempty"`
	Calls     []Call  `json:"tool_calls,omitempty"`
	CallID    string  `json:"tool_call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
}

// UnmarshalJSON reads a message without minding what it doesn't know.
func (m *Message) UnmarshalJSON(b []byte) error {
	type lenient Message
	return json.Unmarshal(b, (*lenient)(m))
}

// Call is a tool call.
type Call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string    `json:"name"`
		Arguments Arguments `json:"arguments,omitempty"`
	} `json:"function"`
}

// Arguments of a tool call: JSON in a string, or JSON itself.
type Arguments string

// UnmarshalJSON reads either.
func (a *Arguments) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*a = Arguments(s)
		return nil
	}
	*a = Arguments(b)
	return nil
}

// Content of a message: a string, null, or a list of parts, whose texts count.
type Content string

// UnmarshalJSON reads either.
func (c *Content) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*c = Content(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return invalid("messages.content", "", "the content of a message is a string, or a list of parts with text")
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	*c = Content(strings.Join(texts, "\n"))
	return nil
}

// transcript is the rollout as the role transcript-split takes it.
func (r *Rollout) transcript() *schema.Transcript {
	t := &schema.Transcript{
		Run: r.Run, Rollout: r.Rollout, Question: r.Question, Prompt: r.Prompt, Format: r.Format, Text: r.Text,
		Turns: r.Turns, Answer: r.Answer, Gold: r.Gold, Group: r.Group, GroupSize: r.GroupSize,
		StepDeadlineMS: r.StepDeadlineMS, DeadlineMS: r.DeadlineMS,
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		out := schema.ChatMessage{Role: m.Role, Content: string(m.Content), Reasoning: m.Reasoning, CallID: m.CallID, Name: m.Name}
		for _, c := range m.Calls {
			out.Calls = append(out.Calls, schema.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: string(c.Function.Arguments)})
		}
		t.Messages = append(t.Messages, out)
	}
	return t
}

// check refuses a transcript that transcript-split would end in a null reward:
// whoever posts it can still mend it.
func (r *Rollout) check() (*schema.Transcript, error) {
	t := r.transcript()
	if err := t.Validate(); err != nil {
		return nil, err
	}
	_, err := transcript.FromMessage(t)
	return t, err
}

// cut is a rollout whose steps were given.
type cut struct {
	steps    []schema.Step
	end      *schema.RolloutEnd
	warnings []Warning
}

// Warning says what was odd about posted steps and what was made of it.
type Warning struct {
	Code   string `json:"code"`
	Step   int    `json:"step,omitempty"`
	Detail string `json:"detail"`
}

// cut makes whole steps of those given, by the reader of files, and checks each
// before any is published.
func (r *Rollout) cut() (*cut, error) {
	switch {
	case len(r.Messages) > 0 || len(r.Turns) > 0 || r.Prompt != "" || r.Format != "":
		return nil, invalid("steps", "leave out messages, turns, prompt and format", "steps that were cut already stand beside a transcript")
	case strings.TrimSpace(r.Question) == "":
		return nil, invalid("question", "give the question that the rollout answers", "field question is missing")
	case len(r.Steps) > schema.MaxSteps:
		return nil, invalid("steps", "", "%d steps, the limit is %d", len(r.Steps), schema.MaxSteps)
	}
	// The end alone tells whether ids, answers and deadlines are sound.
	end := &schema.RolloutEnd{Run: r.Run, Rollout: r.Rollout, Question: r.Question, Answer: r.Answer, Gold: r.Gold, Group: r.Group, GroupSize: r.GroupSize, DeadlineMS: r.DeadlineMS}
	if err := end.Validate(); err != nil {
		return nil, err
	}
	// Their deadlines have the bounds of a transcript's.
	times := &schema.Transcript{Run: r.Run, Rollout: r.Rollout, StepDeadlineMS: r.StepDeadlineMS, DeadlineMS: r.DeadlineMS}
	if err := times.Validate(); err != nil {
		return nil, err
	}
	rollout, err := r.fill()
	if err != nil {
		return nil, err
	}
	out := &cut{steps: rollout.Steps, end: end}
	if end.Answer == "" {
		end.Answer = rollout.Answer
	}
	for _, w := range rollout.Warnings {
		out.warnings = append(out.warnings, Warning{Code: string(w.Code), Step: w.Step, Detail: w.Detail})
	}
	for i := range out.steps {
		s := &out.steps[i]
		s.Run, s.Rollout = r.Run, r.Rollout
		if _, err := client.EncodeStep(s); err != nil {
			return nil, fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	return out, nil
}

func (r *Rollout) fill() (*transcript.Rollout, error) {
	steps := make([]schema.Step, len(r.Steps))
	total := utf8.RuneCountInString(r.Text)
	for i, s := range r.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		if s.Kind == "" {
			s.Kind = schema.KindSearch
		}
		switch {
		case s.Kind != schema.KindSearch && s.Kind != schema.KindConclusion:
			return nil, invalid(at+".kind", "use search or conclusion", "%.40q is no kind of step", string(s.Kind))
		case s.Kind == schema.KindConclusion && (s.Query != "" || len(s.Passages) > 0):
			return nil, invalid(at+".kind", "make the search a step of its own", "a conclusion has a query or passages")
		case s.Saw < 0 || s.Saw > i:
			return nil, invalid(at+".saw", "", "%d; a step can only have seen labels of earlier steps, 0 to %d", s.Saw, i)
		case len(s.Spans) > 0 && r.Text == "":
			return nil, invalid(at+".spans", "give the text that they are offsets into", "there are spans but no text")
		}
		for k, sp := range s.Spans {
			if sp.Start < 0 || sp.End < sp.Start || sp.End > total {
				return nil, invalid(fmt.Sprintf("%s.spans[%d]", at, k), "count code points, not bytes", "[%d, %d) is no range of a text of %d code points", sp.Start, sp.End, total)
			}
		}
		steps[i] = schema.Step{Index: i + 1, Kind: s.Kind, Plan: s.Plan, Query: s.Query, Text: s.Text, Claim: s.Claim, Answer: s.Answer, Spans: s.Spans, Saw: s.Saw}
		for k, p := range s.Passages {
			if p.Text == "" {
				return nil, invalid(fmt.Sprintf("%s.passages[%d].text", at, k), "", "the passage is empty")
			}
			steps[i].Passages = append(steps[i].Passages, schema.Passage{Title: p.Title, Text: p.Text})
		}
	}
	b, err := json.Marshal(map[string]any{"question": r.Question, "text": r.Text, "answer": r.Answer, "steps": steps})
	if err != nil {
		return nil, fmt.Errorf("writing posted steps: %w", err)
	}
	for rollout, err := range transcript.Decode(bytes.NewReader(b), "steps", transcript.Options{Format: transcript.FormatStepGap, MaxRecord: len(b) + 1}) {
		if err != nil {
			var record *transcript.RecordError
			if errors.As(err, &record) {
				err = record.Err
			}
			return nil, invalid("steps", "", "the steps could not be read: %v", err)
		}
		return rollout, nil
	}
	return nil, errors.New("posted steps were read as nothing")
}
