package cache

import (
	"context"
	"time"
)

// Store shares verdicts between processes. All its methods may be called at
// once; none is retried.
type Store interface {
	// Begin returns what stands under key, or else takes a claim on it for at
	// most hold, so that other processes wait for this one's verdict.
	Begin(ctx context.Context, key string, hold time.Duration) (Standing, error)
	// Wait returns the value that comes to stand under key; nil if the claim on
	// it ends without one.
	Wait(ctx context.Context, key string) ([]byte, error)
	// Keep puts value under key, and ends the claim, if there is one.
	Keep(ctx context.Context, key string, value []byte) error
	// Drop ends a claim of ours without a value.
	Drop(ctx context.Context, key string, claim uint64) error
}

// Standing is what a Store has under a key: a value, another process's claim,
// or a claim that was just taken.
type Standing struct {
	Value []byte
	// Taken says that another process is asking.
	Taken bool
	// Claim names the claim that is ours.
	Claim uint64
}
