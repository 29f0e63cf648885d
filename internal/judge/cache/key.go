package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
)

// Scope is what a verdict depends on beside the question: who is asked, and
// how.
type Scope struct {
	Judge judge.Kind `json:"judge"`
	Model string     `json:"model"`
	// Options are those settings of a call that can change the answer or its
	// confidence, in words.
	Options string `json:"options,omitempty"`
}

// key is a cryptographic hash, so that hostile text can't make two questions
// share a verdict. The stage and the prompt's version are within the question.
func (s Scope) key(q llm.Question) (string, error) {
	b, err := json.Marshal(struct {
		Scope
		Prompt, Input string
	}{s, q.Prompt, q.Input})
	if err != nil {
		return "", fmt.Errorf("key of a verdict: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// entry is a verdict as it is kept outside of the process.
type entry struct {
	Judge      judge.Kind      `json:"judge"`
	Model      string          `json:"model"`
	Prompt     string          `json:"prompt"`
	Confidence *float64        `json:"confidence,omitempty"`
	Answer     json.RawMessage `json:"answer"`
}

func entryOf(r llm.Remembered) entry {
	return entry{r.Meta.Judge, r.Meta.Model, r.Meta.Prompt, r.Meta.Confidence, r.Answer}
}

func (e entry) recalled() llm.Remembered {
	return llm.Remembered{Answer: e.Answer, Meta: judge.Meta{
		Judge: e.Judge, Model: e.Model, Prompt: e.Prompt, Confidence: e.Confidence, CacheHit: true,
	}}
}

func encode(r llm.Remembered) ([]byte, error) { return json.Marshal(entryOf(r)) }

// decode reads a kept verdict; ok is false for what is none.
func decode(b []byte) (llm.Remembered, bool) {
	var e entry
	if json.Unmarshal(b, &e) != nil || len(e.Answer) == 0 {
		return llm.Remembered{}, false
	}
	return e.recalled(), true
}
