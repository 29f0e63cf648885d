package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// task is a decoded message: the item to decide, and the step's body as it was
// published.
type task struct {
	item tree.Item
	body []byte
}

// errPassing marks an error that can pass by itself.
var errPassing = errors.New("will be tried again")

// open decodes, binds and validates. The task it returns beside an error holds
// what could be read.
func (h *stepHandler) open(ctx context.Context, m *Message, id schema.StepID) (*task, error) {
	t := &task{body: m.Data()}
	if !h.place.first {
		var work schema.Work
		if err := schema.Decode(m.Data(), &work); err != nil {
			return t, err
		}
		t.body = work.Step
		t.item = tree.Item{Abstaining: work.Abstaining, Quotes: work.Quotes, Trail: work.Trail}
	}
	step := &schema.Step{}
	if err := schema.Decode(t.body, step); err != nil {
		return t, err
	}
	if err := step.BindStep(id); err != nil {
		return t, fmt.Errorf("%s: %w", id, err)
	}
	if err := step.Validate(); err != nil {
		return t, fmt.Errorf("%s: %w", id, err)
	}
	if err := resolve(ctx, h.o.Conn, step); err != nil {
		return t, fmt.Errorf("%s: %w", id, err)
	}
	t.item.Step = step
	return t, nil
}

// resolve fills in the text of passages that the step carries by reference.
func resolve(ctx context.Context, conn *bus.Conn, step *schema.Step) error {
	var kv jetstream.KeyValue
	for i := range step.Passages {
		p := &step.Passages[i]
		if p.Ref == "" {
			continue
		}
		if kv == nil {
			var err error
			if kv, err = conn.JS.KeyValue(ctx, bus.BucketPassages); err != nil {
				return fmt.Errorf("opening bucket %s: %w: %w", bus.BucketPassages, errPassing, err)
			}
		}
		entry, err := kv.Get(ctx, p.Ref)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return &schema.FieldError{Field: fmt.Sprintf("passages[%d].ref", i), Problem: fmt.Sprintf("no passage %.64s in bucket %s; publish passages before the steps that name them", p.Ref, bus.BucketPassages), Reason: schema.ReasonPassageMissing}
		}
		if err != nil {
			return fmt.Errorf("reading passage %.64s: %w: %w", p.Ref, errPassing, err)
		}
		text := string(entry.Value())
		if schema.PassageDigest(p.Title, text) != p.Digest {
			return &schema.FieldError{Field: fmt.Sprintf("passages[%d].ref", i), Problem: "the stored text does not have the digest", Reason: schema.ReasonMalformed}
		}
		p.Text, p.Ref = text, ""
	}
	return nil
}
