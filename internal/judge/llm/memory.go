package llm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/judge"
)

// Question names what is asked, for a Memory.
type Question struct {
	// Prompt is the version of the prompt: the stage's name, "@", and a hash.
	Prompt string
	// Input is a hash of the prompt's version and of the inputs that it uses,
	// as they are before they are fenced: the same step text in another run,
	// rollout or deployment is the same question.
	Input string
}

// Stage is the name of the prompt, which is the stage's.
func (q Question) Stage() string {
	stage, _, _ := strings.Cut(q.Prompt, "@")
	return stage
}

// Remembered is a verdict that was read successfully.
type Remembered struct {
	// Answer is the answer's value in JSON.
	Answer json.RawMessage
	// Meta says who answered. On recall it has CacheHit set and no bill:
	// nothing was spent again.
	Meta judge.Meta
}

// Recalled returns r as it is handed out later: the verdict as it was, the
// bill empty.
func (r Remembered) Recalled() Remembered {
	m := r.Meta
	m.Calls, m.TokensIn, m.TokensOut, m.TokensCached, m.CacheHit = 0, 0, 0, 0, true
	return Remembered{Answer: r.Answer, Meta: m}
}

// Memory answers questions that were answered before, and asks for those that
// were not. Only what was read successfully may be kept. Errors are those of
// ask, or a *judge.Error.
type Memory interface {
	Recall(ctx context.Context, q Question, ask func(context.Context) (Remembered, error)) (Remembered, error)
}

// WithMemory returns a Completer whose answers, as Ask reads them, are kept in
// m.
//
// Memories stand at Ask, above Completer and below the stages' judges. At
// Completer they would hold answers that nobody has read yet, unusable ones
// among them, and would have to keep the repair call apart from the first; and
// the request there already carries a fence code of the deployment. At the
// stages' judges each stage would need its own. At Ask an answer is known to be
// good, all stages share the code, and what lies below (limits, retries, the
// meter) sees only calls that are really made.
func WithMemory(c Completer, m Memory) Completer { return &remembering{c, m} }

type remembering struct {
	Completer
	memory Memory
}

// recall is Ask by way of c's memory. An answer that was kept is read as
// strictly as one that comes from a model; one that can't be read is none.
func recall[T any](ctx context.Context, c *remembering, req Request) (T, judge.Meta, error) {
	var zero, fresh T
	asked := false
	ask := func(ctx context.Context) (Remembered, error) {
		value, meta, err := askOnce[T](ctx, c.Completer, req)
		if err != nil {
			return Remembered{Meta: meta}, err
		}
		answer, err := json.Marshal(value)
		if err != nil {
			return Remembered{Meta: meta}, fmt.Errorf("keeping an answer: %w", err)
		}
		fresh, asked = value, true
		return Remembered{Answer: answer, Meta: meta}, nil
	}
	got, err := c.memory.Recall(ctx, Question{Prompt: req.Prompt, Input: req.Input}, ask)
	if err != nil {
		return zero, got.Meta, err
	}
	value, err := readAnswer[T](string(got.Answer))
	switch {
	case err == nil:
		return value, got.Meta, nil
	case asked:
		return fresh, got.Meta, nil
	default:
		return askOnce[T](ctx, c.Completer, req)
	}
}

// inputOf hashes a prompt's version and inputs, each with its length, so that
// no two lists of inputs run together alike.
func inputOf(version string, fields []string, values map[string]string) string {
	h := sha256.New()
	write := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	write(version)
	for _, name := range fields {
		write(name)
		write(values[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}
