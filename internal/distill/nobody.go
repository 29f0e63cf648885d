package distill

import (
	"context"
	"errors"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

// nobody is asked nothing: chats are only written.
type nobody struct{}

func (nobody) Complete(context.Context, llm.Request) (llm.Completion, error) {
	return llm.Completion{}, errors.New("an export asks no model")
}
