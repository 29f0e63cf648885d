// Package spend counts what the processes of a deployment spend on language
// models, and holds their stages back where a cap is reached.
package spend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// units is how finely money is counted: parts of a unit of the currency.
const units = 1e9

const (
	spentKey = ".spent."
	capKey   = ".cap"
	// opTimeout bounds one request to the bucket.
	opTimeout = 5 * time.Second
)

// Account is what the processes of an account have spent, and their cap. Each
// process writes what it spent in all under a key of its own, so that no two
// write the same and a write that is sent again counts once. It is safe for
// concurrent use.
type Account struct {
	bucket jetstream.KeyValue
	name   string
	self   string
	log    *slog.Logger

	mu      sync.Mutex
	spent   map[string]int64 // by process key, in 1/units
	cap     int64            // 0: none
	stopped bool
	changed chan struct{} // closed when stopped turns

	dirty   chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup
}

// State is how an account stands, in units of the currency.
type State struct {
	Spent float64 `json:"spent"`
	// Cap is nil where there is none.
	Cap *float64 `json:"cap"`
	// Stopped: the cap is reached, and nothing is pulled.
	Stopped bool `json:"stopped"`
}

// Open joins the account name in bucket. A limit above 0 becomes the account's
// cap; with 0 the cap stays as it stands.
func Open(ctx context.Context, bucket jetstream.KeyValue, name string, limit float64, log *slog.Logger) (*Account, error) {
	if limit > 0 {
		if err := SetCap(ctx, bucket, name, limit); err != nil {
			return nil, err
		}
	}
	a := &Account{
		bucket: bucket, name: name, self: name + spentKey + rand.Text(), log: log,
		spent: map[string]int64{}, changed: make(chan struct{}), dirty: make(chan struct{}, 1),
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	watcher, err := bucket.Watch(running, name+".>")
	if err != nil {
		stop()
		return nil, fmt.Errorf("watching the spending of account %s: %w", name, err)
	}
	if err := a.learn(ctx, watcher.Updates()); err != nil {
		stop()
		return nil, fmt.Errorf("reading the spending of account %s: %w", name, err)
	}
	a.stop = stop
	a.running.Go(func() { a.follow(running, watcher.Updates()) })
	a.running.Go(func() { a.write(running) })
	return a, nil
}

// errWatch says that the bucket tells no more, which it does only where the
// connection was closed.
var errWatch = errors.New("the watch ended; is the NATS connection closed?")

// learn takes in what stands.
func (a *Account) learn(ctx context.Context, updates <-chan jetstream.KeyValueEntry) error {
	for {
		select {
		case entry, ok := <-updates:
			switch {
			case !ok:
				return errWatch
			case entry == nil:
				return nil
			}
			a.see(entry)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follow takes in what changes, until ctx is done or the watch ends.
func (a *Account) follow(ctx context.Context, updates <-chan jetstream.KeyValueEntry) {
	for {
		select {
		case entry, ok := <-updates:
			if !ok {
				if ctx.Err() == nil {
					a.log.Error("what other processes spend is not seen any more", "account", a.name, "error", errWatch)
				}
				return
			}
			a.see(entry)
		case <-ctx.Done():
			return
		}
	}
}

// Close writes what is left to write and leaves the account.
func (a *Account) Close() {
	a.stop()
	a.running.Wait()
	select {
	case <-a.dirty:
		if err := a.put(context.Background()); err != nil {
			a.log.Warn("what was spent last is not counted", "error", err)
		}
	default:
	}
}

// Add counts amount units of the currency.
func (a *Account) Add(amount float64) {
	if n := int64(math.Round(amount * units)); n > 0 {
		a.mu.Lock()
		a.spent[a.self] += n
		a.settle()
		a.mu.Unlock()
		select {
		case a.dirty <- struct{}{}:
		default: // the next write has it
		}
	}
}

// Wait returns once less than the cap is spent, or with ctx's error.
func (a *Account) Wait(ctx context.Context) error {
	for {
		a.mu.Lock()
		stopped, changed := a.stopped, a.changed
		a.mu.Unlock()
		if !stopped {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// State returns how the account stands, as far as this process knows.
func (a *Account) State() State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return stateOf(a.spent, a.cap)
}

// see takes in a key of the bucket.
func (a *Account) see(entry jetstream.KeyValueEntry) {
	if entry == nil {
		return
	}
	var n int64
	if entry.Operation() == jetstream.KeyValuePut {
		var err error
		if n, err = strconv.ParseInt(string(entry.Value()), 10, 64); err != nil {
			a.log.Warn("an amount can't be read", "key", entry.Key(), "error", err)
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case entry.Key() == a.name+capKey:
		a.cap = n
	case entry.Key() == a.self:
		if entry.Operation() != jetstream.KeyValuePut {
			a.spent[a.self] = 0 // somebody began anew
		}
	case strings.HasPrefix(entry.Key(), a.name+spentKey):
		a.spent[entry.Key()] = n
	}
	a.settle()
}

// settle says so when the state turns. a.mu is held.
func (a *Account) settle() {
	s := stateOf(a.spent, a.cap)
	if s.Stopped == a.stopped {
		return
	}
	a.stopped = s.Stopped
	close(a.changed)
	a.changed = make(chan struct{})
	if s.Stopped {
		a.log.Error("the spend cap is reached: stages that ask a language model stop pulling; steps wait in their streams until it is raised (stepgap spend --cap)",
			"account", a.name, "spent", s.Spent, "cap", *s.Cap)
	} else {
		a.log.Info("below the spend cap: pulling goes on", "account", a.name, "spent", s.Spent)
	}
}

func stateOf(spent map[string]int64, limit int64) State {
	var sum int64
	for _, n := range spent {
		sum += n
	}
	s := State{Spent: float64(sum) / units}
	if limit > 0 {
		c := float64(limit) / units
		s.Cap, s.Stopped = &c, sum >= limit
	}
	return s
}

// write puts what this process spent into the bucket, as often as one write
// after the other can.
func (a *Account) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.dirty:
		}
		if err := a.put(ctx); err != nil {
			if ctx.Err() == nil {
				a.log.Warn("what was spent is not shared yet", "account", a.name, "error", err)
			}
			select {
			case a.dirty <- struct{}{}:
			default:
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

func (a *Account) put(ctx context.Context) error {
	a.mu.Lock()
	n := a.spent[a.self]
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	_, err := a.bucket.Put(ctx, a.self, []byte(strconv.FormatInt(n, 10)))
	return err
}

// SetCap sets an account's cap for all of its processes; 0 removes it.
func SetCap(ctx context.Context, bucket jetstream.KeyValue, name string, limit float64) error {
	if limit < 0 || math.IsNaN(limit) || limit > math.MaxInt64/units {
		return fmt.Errorf("spend cap %v: it must be 0 or above", limit)
	}
	n := strconv.FormatInt(int64(math.Round(limit*units)), 10)
	if _, err := bucket.Put(ctx, name+capKey, []byte(n)); err != nil {
		return fmt.Errorf("setting the spend cap of account %s: %w", name, err)
	}
	return nil
}

// Reset counts an account's spending from 0 again.
func Reset(ctx context.Context, bucket jetstream.KeyValue, name string) error {
	keys, err := keysOf(ctx, bucket, name+spentKey+">")
	for _, key := range keys {
		if err == nil {
			err = bucket.Delete(ctx, key)
		}
	}
	if err != nil {
		return fmt.Errorf("resetting the spending of account %s: %w", name, err)
	}
	return nil
}

// Read returns how an account stands.
func Read(ctx context.Context, bucket jetstream.KeyValue, name string) (State, error) {
	keys, err := keysOf(ctx, bucket, name+".>")
	spent, limit := map[string]int64{}, int64(0)
	for _, key := range keys {
		var entry jetstream.KeyValueEntry
		var n int64
		if err == nil {
			entry, err = bucket.Get(ctx, key)
		}
		if err == nil {
			n, err = strconv.ParseInt(string(entry.Value()), 10, 64)
		}
		if key == name+capKey {
			limit = n
		} else {
			spent[key] = n
		}
	}
	if err != nil {
		return State{}, fmt.Errorf("reading the spending of account %s: %w", name, err)
	}
	return stateOf(spent, limit), nil
}

func keysOf(ctx context.Context, bucket jetstream.KeyValue, filter string) ([]string, error) {
	lister, err := bucket.ListKeysFiltered(ctx, filter)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var keys []string
	for key := range lister.Keys() {
		keys = append(keys, key)
	}
	return keys, ctx.Err() // a list that was cut short is none
}
