package cache

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/pkg/schema"
)

// ErrNotRecorded says that a replay was asked something that its recording has
// no verdict on. It is the cause inside a *judge.Error, which is permanent.
var ErrNotRecorded = errors.New("the recording has no verdict on this")

// Replayer is an llm.Memory over a recording. It never asks.
type Replayer struct {
	scope Scope
	have  map[string]llm.Remembered
}

// Replay reads the recording at path.
func Replay(path string) (*Replayer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replaying verdicts: %w", err)
	}
	defer f.Close()
	r := &Replayer{have: map[string]llm.Remembered{}}
	_, scope, err := read(f, r.have)
	if err == nil && scope == nil {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("replaying verdicts from %s: %w", path, err)
	}
	r.scope = *scope
	return r, nil
}

// Scope is what the recording is of.
func (r *Replayer) Scope() Scope { return r.scope }

// Len is how many verdicts it has.
func (r *Replayer) Len() int { return len(r.have) }

// Recall implements llm.Memory.
func (r *Replayer) Recall(_ context.Context, q llm.Question, _ func(context.Context) (llm.Remembered, error)) (llm.Remembered, error) {
	if v, ok := r.have[q.Input]; ok {
		return v.Recalled(), nil
	}
	return llm.Remembered{Meta: r.meta(q)}, r.missing(q)
}

// Complete implements llm.Completer, for what is not asked by way of a memory.
func (r *Replayer) Complete(_ context.Context, req llm.Request) (llm.Completion, error) {
	q := llm.Question{Prompt: req.Prompt, Input: req.Input}
	return llm.Completion{Meta: r.meta(q)}, r.missing(q)
}

func (r *Replayer) meta(q llm.Question) judge.Meta {
	return judge.Meta{Judge: r.scope.Judge, Model: r.scope.Model, Prompt: q.Prompt}
}

func (r *Replayer) missing(q llm.Question) error {
	return &judge.Error{Reason: schema.ReasonJudgeError, Meta: r.meta(q), Err: fmt.Errorf(
		"stage %s (prompt %s): %w; record the run again, with the same rollouts, model and prompts", q.Stage(), q.Prompt, ErrNotRecorded)}
}

var (
	_ llm.Memory    = (*Replayer)(nil)
	_ llm.Completer = (*Replayer)(nil)
)
