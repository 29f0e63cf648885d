package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/lru"
	"github.com/stepgap/stepgap/pkg/schema"
)

const (
	// DefaultEntries is how many verdicts a process keeps, at about 0.5 KB.
	DefaultEntries = 65_536
	// storeTimeout bounds one request to the Store: a slow one must cost less
	// than the call that it saves.
	storeTimeout = 2 * time.Second
	// defaultHold and defaultPatience hold where the context has no deadline.
	defaultHold, defaultPatience = time.Minute, 15 * time.Second
)

// Options configure a Cache.
type Options struct {
	Scope Scope
	// Entries bounds the verdicts kept in the process; 0 takes DefaultEntries.
	Entries int
	// Store shares verdicts between processes; nil for none.
	Store Store
	Log   *slog.Logger
}

// Cache is an llm.Memory: in-process, then shared. Of those that ask the same
// at the same time one does and the others wait for it, but each at most for a
// quarter of the time it has left: a call that hangs delays its own step and no
// other.
type Cache struct {
	o       Options
	memory  *lru.Cache[string, llm.Remembered]
	flights *flights
	stats   [tiers]atomic.Int64
}

// Tier says where a verdict came from.
type Tier int

// Where verdicts come from.
const (
	Memory  Tier = iota // kept in this process
	Flight              // asked by another goroutine at the same time
	Shared              // kept in the Store
	Waited              // asked by another process at the same time
	Asked               // not kept anywhere
	Overdue             // asked again, because whoever was asking took too long
	tiers
)

func (t Tier) String() string {
	return [tiers]string{"memory", "flight", "shared", "waited", "asked", "overdue"}[t]
}

// Tiers lists every tier.
func Tiers() []Tier { return []Tier{Memory, Flight, Shared, Waited, Asked, Overdue} }

// New returns an empty cache over o.Store.
func New(o Options) *Cache {
	if o.Entries <= 0 {
		o.Entries = DefaultEntries
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Cache{o: o, memory: lru.New[string, llm.Remembered](o.Entries), flights: newFlights()}
}

// Count is how many verdicts came from t so far.
func (c *Cache) Count(t Tier) int64 { return c.stats[t].Load() }

type askFunc = func(context.Context) (llm.Remembered, error)

// Recall implements llm.Memory.
func (c *Cache) Recall(ctx context.Context, q llm.Question, ask func(context.Context) (llm.Remembered, error)) (llm.Remembered, error) {
	key, err := c.o.Scope.key(q)
	if err != nil {
		return llm.Remembered{}, err
	}
	patience, cancel := context.WithTimeout(ctx, share(ctx, defaultPatience))
	defer cancel()
	for {
		if v, ok := c.memory.Get(key); ok {
			return c.found(Memory, v), nil
		}
		f, first := c.flights.join(key)
		if first {
			return c.lead(ctx, patience, key, f, ask)
		}
		select {
		case <-f.done:
			if f.verdict != nil {
				return c.found(Flight, *f.verdict), nil
			}
			// Whoever asked got no verdict. Its failure is its own: one of
			// those that waited asks now.
		case <-patience.Done():
			if err := ctx.Err(); err != nil {
				return llm.Remembered{}, cutShort(err)
			}
			return c.alone(ctx, Overdue, key, ask)
		}
	}
}

func (c *Cache) found(t Tier, v llm.Remembered) llm.Remembered {
	c.stats[t].Add(1)
	return v.Recalled()
}

// lead answers for all that wait on f. A panic of ask ends the flight too.
func (c *Cache) lead(ctx, patience context.Context, key string, f *flight, ask askFunc) (llm.Remembered, error) {
	defer c.flights.end(key, f)
	v, err := c.shared(ctx, patience, key, ask)
	if err == nil {
		f.verdict = &v
	}
	return v, err
}

// shared looks in the process once more, since a flight may have ended since,
// and then in the Store. A Store that fails costs the sharing, not the verdict.
func (c *Cache) shared(ctx, patience context.Context, key string, ask askFunc) (llm.Remembered, error) {
	if v, ok := c.memory.Get(key); ok {
		return c.found(Memory, v), nil
	}
	if c.o.Store == nil {
		return c.alone(ctx, Asked, key, ask)
	}
	for from := Shared; ; from = Waited {
		standing, err := c.begin(ctx, key)
		if err != nil {
			c.o.Log.Debug("the shared verdicts can't be reached; asking", "error", err)
			return c.alone(ctx, Asked, key, ask)
		}
		value := standing.Value
		if standing.Taken {
			if value, err = c.o.Store.Wait(patience, key); err == nil && value == nil && patience.Err() == nil {
				// Whoever asked got no verdict, here as in the process: one of
				// those that waited takes the claim and asks.
				continue
			}
			from = Waited
		}
		switch {
		case value != nil:
			if v, ok := decode(value); ok {
				c.memory.Put(key, v)
				return c.found(from, v), nil
			}
			return c.alone(ctx, Asked, key, ask)
		case standing.Taken && ctx.Err() != nil:
			return llm.Remembered{}, cutShort(ctx.Err())
		case standing.Taken:
			return c.alone(ctx, Overdue, key, ask)
		}
		v, err := c.alone(ctx, Asked, key, ask)
		if err != nil {
			c.release(ctx, key, standing.Claim)
		}
		return v, err
	}
}

// alone asks, and keeps the verdict.
func (c *Cache) alone(ctx context.Context, t Tier, key string, ask askFunc) (llm.Remembered, error) {
	c.stats[t].Add(1)
	v, err := ask(ctx)
	if err != nil {
		return v, err
	}
	c.memory.Put(key, v)
	if c.o.Store == nil {
		return v, nil
	}
	b, err := encode(v)
	if err == nil {
		// The verdict was paid for: it is kept even if its own step ran out of
		// time meanwhile.
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		err = c.o.Store.Keep(short, key, b)
	}
	if err != nil {
		c.o.Log.Debug("a verdict is not shared", "error", err)
	}
	return v, nil
}

func (c *Cache) begin(ctx context.Context, key string) (Standing, error) {
	hold := defaultHold
	if deadline, ok := ctx.Deadline(); ok {
		hold = time.Until(deadline)
	}
	short, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return c.o.Store.Begin(short, key, hold)
}

func (c *Cache) release(ctx context.Context, key string, claim uint64) {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if err := c.o.Store.Drop(short, key, claim); err != nil {
		c.o.Log.Debug("a claim is left to expire", "error", err)
	}
}

// share is a quarter of the time that ctx has left.
func share(ctx context.Context, otherwise time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline) / 4
	}
	return otherwise
}

// cutShort types the end of a wait for another's call.
func cutShort(err error) error {
	je := &judge.Error{Reason: schema.ReasonJudgeTimeout, Err: fmt.Errorf("waiting for the same question's answer: %w", err)}
	je.Temporary = errors.Is(err, context.Canceled)
	return je
}

var _ llm.Memory = (*Cache)(nil)
