package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/pkg/schema"
)

// OutcomeRetried is the trail entry of what failed tries of a stage cost. It
// stands before the entry of the try that came to an end.
const OutcomeRetried = "retried"

// owedTimeout bounds a look at the bucket.
const owedTimeout = 5 * time.Second

// owed keeps what a step has cost so far while it waits to be tried again: the
// message in the stream can't be changed, and another process may take it. What
// is owed goes into the label's trail, so that the sum of the labels' trails is
// what was spent. It is written only where a try failed after a call.
type owed struct {
	js    jetstream.JetStream
	stage schema.Stage
	// paid: the stage's judge costs something; waits and retries of the others
	// need no look.
	paid bool

	mu sync.Mutex
	kv jetstream.KeyValue // nil until it is needed
}

func newOwed(js jetstream.JetStream, stage schema.Stage, paid bool) *owed {
	return &owed{js: js, stage: stage, paid: paid}
}

func (o *owed) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kv == nil {
		kv, err := o.js.KeyValue(ctx, bus.BucketOwed)
		if err != nil {
			return nil, fmt.Errorf("opening bucket %s: %w", bus.BucketOwed, err)
		}
		o.kv = kv
	}
	return o.kv, nil
}

func (o *owed) key(id schema.StepID) string {
	return fmt.Sprintf("%s.%s.%s.%d", o.stage, id.Run, id.Rollout, id.Index)
}

// read returns the trail that is owed: what stood before this stage and, last,
// one entry for its failed tries. It is only asked for messages that were
// delivered before.
func (o *owed) read(ctx context.Context, m *Message, id schema.StepID, digest string) ([]schema.TrailEntry, error) {
	if !o.paid || m.Delivered < 2 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, owedTimeout)
	defer cancel()
	kv, err := o.bucket(ctx)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(ctx, o.key(id))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what %s has cost so far: %w", id, err)
	}
	l := &schema.Label{}
	if err := schema.Decode(entry.Value(), l); err != nil {
		return nil, fmt.Errorf("reading what %s has cost so far: %w", id, err)
	}
	if l.Digest != digest {
		return nil, nil // another step's, under a reused id
	}
	return l.Trail, nil
}

// owe adds what try cost to what is owed; before is the trail of the stages
// before this one.
func (o *owed) owe(ctx context.Context, m *Message, id schema.StepID, digest string, before []schema.TrailEntry, try schema.TrailEntry) error {
	if !o.paid || try.Calls == 0 {
		return nil
	}
	// Also while the process is being stopped: the calls were made.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), owedTimeout)
	defer cancel()
	trail, err := o.read(ctx, m, id, digest)
	if err != nil {
		return err
	}
	if n := len(trail); n > 0 {
		try = sum(trail[n-1], try)
		trail = trail[:n-1]
	} else {
		trail = slices.Clone(before)
	}
	try.Outcome, try.Confidence, try.CacheHit, try.Detail = OutcomeRetried, nil, false, clip(try.Detail, 256)
	kv, err := o.bucket(ctx)
	if err != nil {
		return err
	}
	// The form of a label holds a digest and a trail, and has a bounded decoder.
	body, err := schema.Encode(&schema.Label{Digest: digest, Trail: append(trail, try)})
	if err == nil {
		_, err = kv.Put(ctx, o.key(id), body)
	}
	if err != nil {
		return fmt.Errorf("keeping what %s has cost so far: %w", id, err)
	}
	return nil
}

// sum is what two tries cost together; the rest is b's.
func sum(a, b schema.TrailEntry) schema.TrailEntry {
	b.Calls += a.Calls
	b.TokensIn += a.TokensIn
	b.TokensOut += a.TokensOut
	b.TokensCached += a.TokensCached
	b.LatencyUS += a.LatencyUS
	return b
}

// owe keeps what a try of ours cost, for the next one's trail.
func (h *stepHandler) owe(ctx context.Context, m *Message, id schema.StepID, digest string, before []schema.TrailEntry, try schema.TrailEntry) {
	if err := h.owed.owe(ctx, m, id, digest, before, try); err != nil {
		h.o.Log.Warn("the trail will lack what a failed try cost", "error", err)
	}
}

// paid is trail with what failed tries of this stage cost.
func (h *stepHandler) paid(ctx context.Context, m *Message, id schema.StepID, digest string, trail []schema.TrailEntry) []schema.TrailEntry {
	owes, err := h.owed.read(ctx, m, id, digest)
	if err != nil {
		h.o.Log.Warn("the trail lacks what failed tries cost", "error", err)
	}
	trail = slices.Clone(trail)
	if n := len(owes); n > 0 {
		trail = append(trail, owes[n-1])
	}
	return trail
}

// past is the trail of a step that is not looked at any more: what is owed, or
// what came with the message. The step within it stays as it is.
func (h *stepHandler) past(ctx context.Context, m *Message, id schema.StepID, digest string) []schema.TrailEntry {
	owes, err := h.owed.read(ctx, m, id, digest)
	if err == nil && len(owes) > 0 {
		return owes
	}
	if h.place.first {
		return nil
	}
	work := &schema.Work{}
	if schema.Decode(m.Data(), work) != nil {
		return nil // its label needs no trail
	}
	return work.Trail
}
