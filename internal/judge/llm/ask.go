package llm

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Ask sends req and reads the answer into a T, a struct whose json tags are
// the schema's fields. An unusable answer is asked for once more, telling the
// model what was wrong; a refusal is not argued with.
//
// Meta counts every call made, also inside the error, which is always a
// *judge.Error: those of Complete, and judge_malformed (or judge_error for a
// refusal) with an *AnswerError as its cause. Where c was made by WithMemory,
// a question that was answered before is not asked again.
func Ask[T any](ctx context.Context, c Completer, req Request) (T, judge.Meta, error) {
	if r, ok := c.(*remembering); ok && req.Input != "" {
		return recall[T](ctx, r, req)
	}
	return askOnce[T](ctx, c, req)
}

// askOnce is Ask without a memory.
func askOnce[T any](ctx context.Context, c Completer, req Request) (T, judge.Meta, error) {
	var zero T
	done, err := c.Complete(ctx, req)
	if err != nil {
		return zero, done.Meta, err
	}
	meta := done.Meta
	value, fault := readCompletion[T](done)
	if fault != nil && repairable(fault.Fault) {
		again, err := c.Complete(ctx, repair(req, done, fault))
		meta = add(meta, again.Meta)
		if err != nil {
			var je *judge.Error
			if errors.As(err, &je) {
				wrapped := *je
				wrapped.Meta = meta
				wrapped.Err = fmt.Errorf("asking again after an %w: %w", fault, je.Err)
				err = &wrapped
			}
			return zero, meta, err
		}
		done = again
		value, fault = readCompletion[T](done)
	}
	if fault != nil {
		reason := schema.ReasonJudgeMalformed
		if fault.Fault == FaultRefusal || fault.Fault == FaultFiltered {
			reason = schema.ReasonJudgeError
		}
		return zero, meta, &judge.Error{Reason: reason, Meta: meta, Err: fault}
	}
	meta.Confidence = confidence(done.Tokens, req.Verdict, stringField(value, req.Verdict), req.Legal)
	return value, meta, nil
}

// readCompletion reads a completion, or says what is wrong with it. The finish
// reason comes first: what is cut or withheld may still look like an answer.
func readCompletion[T any](done Completion) (T, *AnswerError) {
	var zero T
	switch {
	case done.Choices == 0:
		return zero, faultf(FaultNoChoice, "the response has no choices")
	case done.Finish == "content_filter":
		return zero, faultf(FaultFiltered, "the endpoint's content filter withheld the answer")
	case done.Refusal != "":
		return zero, faultf(FaultRefusal, "%s", clip(done.Refusal, 100))
	case done.Finish == "length":
		return zero, faultf(FaultLength, "cut after %d tokens", done.Meta.TokensOut)
	}
	value, err := readAnswer[T](done.Content)
	var fault *AnswerError
	switch {
	case err == nil:
		return value, nil
	case errors.As(err, &fault):
		return zero, fault
	default:
		return zero, faultf(FaultNotJSON, "%v", err)
	}
}

func repairable(fault Fault) bool { return fault != FaultRefusal && fault != FaultFiltered }

// maxRepeat bounds how much of an unusable answer is shown to the model again.
const maxRepeat = 2000

// repair is the one further request after an unusable answer. A cut answer is
// given more room; another is shown with what was wrong.
func repair(req Request, done Completion, fault *AnswerError) Request {
	switch fault.Fault {
	case FaultLength:
		if room := done.Meta.TokensOut; room > 0 || req.MaxTokens > 0 {
			req.MaxTokens = 2 * max(room, req.MaxTokens)
		}
		return req
	case FaultNoChoice, FaultEmpty:
		return req
	}
	messages := make([]Message, 0, len(req.Messages)+2)
	messages = append(messages, req.Messages...)
	req.Messages = append(messages,
		Message{Role: RoleAssistant, Text: clip(done.Content, maxRepeat)},
		Message{Role: RoleUser, Text: fmt.Sprintf(
			"That could not be read: %s. Answer the same question again with one JSON object of the given form, and nothing else.", fault.Detail)},
	)
	return req
}

// add sums what two calls cost; the rest is a's.
func add(a, b judge.Meta) judge.Meta {
	a.Calls += b.Calls
	a.TokensIn += b.TokensIn
	a.TokensOut += b.TokensOut
	a.TokensCached += b.TokensCached
	return a
}

// stringField returns the string field of v whose json name is name, or "".
func stringField(v any, name string) string {
	rv := reflect.ValueOf(v)
	for i, f := range fieldsOf(rv.Type()) {
		if f.name == name && rv.Field(i).Kind() == reflect.String {
			return rv.Field(i).String()
		}
	}
	return ""
}
