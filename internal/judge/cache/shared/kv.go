// Package shared keeps verdicts in a NATS key-value bucket, so that the
// processes of a deployment share them.
package shared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/internal/judge/cache"
)

// claim stands under a key while a process is asking. No verdict reads so.
var claim = []byte("claim")

// KV is a cache.Store over a bucket. A claim and the verdict that follows have
// the same key, so that taking one and seeing the other is one request. The
// server ends the claim of a process that died.
type KV struct{ bucket jetstream.KeyValue }

// New returns the store over bucket, which allows keys to expire on their own.
func New(bucket jetstream.KeyValue) *KV { return &KV{bucket} }

// Begin implements cache.Store.
func (s *KV) Begin(ctx context.Context, key string, hold time.Duration) (cache.Standing, error) {
	// Expiry has a resolution of a second.
	hold = max(time.Second, hold.Round(time.Second))
	// Two rounds: what stood in the way of a claim can be gone when it is read.
	var err error
	for range 2 {
		var revision uint64
		if revision, err = s.bucket.Create(ctx, key, claim, jetstream.KeyTTL(hold)); err == nil {
			return cache.Standing{Claim: revision}, nil
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			break
		}
		var entry jetstream.KeyValueEntry
		if entry, err = s.bucket.Get(ctx, key); err == nil {
			if bytes.Equal(entry.Value(), claim) {
				return cache.Standing{Taken: true}, nil
			}
			return cache.Standing{Value: entry.Value()}, nil
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) {
			break
		}
	}
	return cache.Standing{}, fmt.Errorf("looking for a shared verdict: %w", err)
}

// Wait implements cache.Store.
func (s *KV) Wait(ctx context.Context, key string) ([]byte, error) {
	watcher, err := s.bucket.Watch(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("waiting for a shared verdict: %w", err)
	}
	defer func() { _ = watcher.Stop() }() // it ends with the connection too
	for stands := false; ; {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a shared verdict: %w", ctx.Err())
		case entry, ok := <-watcher.Updates():
			switch {
			case !ok:
				return nil, errors.New("waiting for a shared verdict: the watch ended")
			case entry == nil: // all that stood before has been told
				if !stands {
					return nil, nil // the claim ended before we looked
				}
			case entry.Operation() != jetstream.KeyValuePut:
				return nil, nil // the claim ended
			case !bytes.Equal(entry.Value(), claim):
				return entry.Value(), nil
			default:
				stands = true
			}
		}
	}
}

// Keep implements cache.Store.
func (s *KV) Keep(ctx context.Context, key string, value []byte) error {
	if _, err := s.bucket.Put(ctx, key, value); err != nil {
		return fmt.Errorf("sharing a verdict: %w", err)
	}
	return nil
}

// Drop implements cache.Store.
func (s *KV) Drop(ctx context.Context, key string, held uint64) error {
	if err := s.bucket.Delete(ctx, key, jetstream.LastRevision(held)); err != nil {
		return fmt.Errorf("giving up a claim: %w", err)
	}
	return nil
}

var _ cache.Store = (*KV)(nil)
