package distill

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/single"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// Message is a turn of a chat, as trainers read it.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Chat is a line of a chat file. Only Messages is trained on.
type Chat struct {
	Messages []Message  `json:"messages"`
	ID       string     `json:"id"`
	Question string     `json:"question_id"`
	Label    schema.Gap `json:"label"`
}

// Pair is a line of an encoder's file: what the judge student is asked, and the
// answer.
type Pair struct {
	Premise    string     `json:"premise"`
	Hypothesis string     `json:"hypothesis"`
	Label      schema.Gap `json:"label"`
	ID         string     `json:"id"`
	Question   string     `json:"question_id"`
	Split      string     `json:"split"`
}

// PairOf writes an example as an encoder reads it. Without evidence there is
// nothing to learn: code decides such steps.
func PairOf(e Example) (Pair, bool) {
	premise, hypothesis := nliworker.StudentInput(e.Step)
	return Pair{premise, hypothesis, e.Verdict.Label, e.ID, e.Question, e.Split}, premise != ""
}

// Chats writes examples as chats.
type Chats struct{ judge *single.LLM }

// NewChats returns a writer of chats by the prompt of single-llm in dir, or the
// built-in one.
func NewChats(dir string) (*Chats, error) {
	j, err := single.New(llm.Setup{
		Completer: nobody{},
		// Trainees meet many codes, each of its own step. They are anyone's to
		// know; the student's deployment has a secret of its own.
		Fencer: llm.NewFencer(llm.NewSecret("stepgap distill")), PromptDir: dir,
	})
	if err != nil {
		return nil, err
	}
	return &Chats{j}, nil
}

// PromptVersion names the prompt that the chats are made by.
func (c *Chats) PromptVersion() string { return c.judge.PromptVersion() }

// Of writes an example as a chat that ends with the teacher's answer.
func (c *Chats) Of(e Example) (Chat, error) {
	messages, err := c.judge.Messages(e.Step)
	if err != nil {
		return Chat{}, fmt.Errorf("%s: %w", e.ID, err)
	}
	answer, err := single.Answer(e.Verdict.Label, e.Verdict.Quote)
	if err != nil {
		return Chat{}, fmt.Errorf("%s: %w", e.ID, err)
	}
	out := Chat{ID: e.ID, Question: e.Question, Label: e.Verdict.Label}
	for _, m := range messages {
		out.Messages = append(out.Messages, Message{string(m.Role), m.Text})
	}
	out.Messages = append(out.Messages, Message{string(llm.RoleAssistant), answer})
	return out, nil
}

// Manifest says what was exported, and from what.
type Manifest struct {
	Counts Counts `json:"counts"`
	// Splits counts examples by split and label.
	Splits map[string]map[schema.Gap]int `json:"splits"`
	// Teachers are the judges that decided, with models and prompts.
	Teachers      []string `json:"teachers"`
	MinConfidence float64  `json:"min_confidence"`
	Agreed        bool     `json:"agreed_with_second"`
	Seed          uint64   `json:"seed"`
	// Prompt is the version of the chats' prompt, Form that of the pairs' text.
	Prompt string `json:"prompt,omitempty"`
	Form   string `json:"form,omitempty"`
	// NoEvidence counts examples without any text to read, which no pair is made
	// of.
	NoEvidence int `json:"pairs_without_evidence,omitempty"`
}

// The files of an export.
const (
	ManifestFile = "manifest.json"
	PairsFile    = "encoder.jsonl"
	PromptFolder = "prompts"
)

// ChatsFile is the chat file of a split.
func ChatsFile(split string) string { return "sft-" + split + ".jsonl" }

// Write writes examples into folder dir, which is made: chats, a file a split,
// and the prompt that they are made by; or, for an encoder, pairs. The manifest
// comes last, so that an export without one is known to be cut off.
func Write(dir string, examples []Example, m Manifest, encoder bool) (Manifest, error) {
	if len(examples) == 0 {
		return m, fmt.Errorf("no step is left to train on: %+v", m.Counts)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return m, fmt.Errorf("making the folder of the export: %w", err)
	}
	if err := os.Remove(filepath.Join(dir, ManifestFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("replacing an export: %w", err)
	}
	m.Teachers, m.Splits = teachers(examples), map[string]map[schema.Gap]int{}
	var err error
	if encoder {
		err = writePairs(dir, examples, &m)
	} else {
		err = writeChats(dir, examples, &m)
	}
	if err != nil {
		return m, err
	}
	body, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ManifestFile), append(body, '\n'), 0o644)
	}
	if err != nil {
		return m, fmt.Errorf("writing the manifest: %w", err)
	}
	return m, nil
}

func (m *Manifest) count(e Example) {
	if m.Splits[e.Split] == nil {
		m.Splits[e.Split] = map[schema.Gap]int{}
	}
	m.Splits[e.Split][e.Verdict.Label]++
}

func writePairs(dir string, examples []Example, m *Manifest) error {
	m.Form = nliworker.StudentForm
	f, err := createLines(filepath.Join(dir, PairsFile))
	if err != nil {
		return err
	}
	for _, e := range examples {
		p, ok := PairOf(e)
		if !ok {
			m.NoEvidence++
			continue
		}
		m.count(e)
		f.write(p)
	}
	return f.close()
}

func writeChats(dir string, examples []Example, m *Manifest) error {
	prompts := filepath.Join(dir, PromptFolder)
	if err := os.MkdirAll(prompts, 0o755); err != nil {
		return fmt.Errorf("making the folder of the prompt: %w", err)
	}
	spec := single.PromptSpec()
	if err := os.WriteFile(filepath.Join(prompts, spec.Name+".txt"), []byte(WithoutExamples(spec.Text)), 0o644); err != nil {
		return fmt.Errorf("writing the prompt: %w", err)
	}
	chats, err := NewChats(prompts)
	if err != nil {
		return err
	}
	m.Prompt = chats.PromptVersion()
	files := map[string]*lines{}
	for _, e := range examples {
		f := files[e.Split]
		if f == nil {
			if f, err = createLines(filepath.Join(dir, ChatsFile(e.Split))); err != nil {
				return errors.Join(err, closeAll(files))
			}
			files[e.Split] = f
		}
		chat, err := chats.Of(e)
		if err != nil {
			return errors.Join(err, closeAll(files))
		}
		m.count(e)
		f.write(chat)
	}
	return closeAll(files)
}

// WithoutExamples drops the examples of a prompt: a student learns the form by
// training and need not read them each time.
func WithoutExamples(prompt string) string {
	first, last := strings.Index(prompt, "=== example"), strings.LastIndex(prompt, "=== user")
	if first < 0 || last < first {
		return prompt
	}
	return prompt[:first] + prompt[last:]
}

// lines writes a file of JSON lines; its first failure is told by close.
type lines struct {
	path string
	file *os.File
	buf  *bufio.Writer
	json *json.Encoder
	err  error
}

func createLines(path string) (*lines, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("writing training data: %w", err)
	}
	l := &lines{path: path, file: f, buf: bufio.NewWriter(f)}
	l.json = json.NewEncoder(l.buf)
	l.json.SetEscapeHTML(false)
	return l, nil
}

func (l *lines) write(v any) {
	if l.err == nil {
		l.err = l.json.Encode(v)
	}
}

func (l *lines) close() error {
	if err := errors.Join(l.err, l.buf.Flush(), l.file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", l.path, err)
	}
	return nil
}

func closeAll(files map[string]*lines) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
