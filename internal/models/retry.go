package models

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	attempts    = 6
	backoffBase = time.Second
	backoffMax  = 30 * time.Second
	// patience is the longest wait that a server may ask for.
	patience = 10 * time.Minute
)

// retrier runs attempts until one succeeds, what failed can't pass, or too many
// in a row got no further.
type retrier struct {
	client *client
	wait   func(context.Context, time.Duration) error
	note   func(string)
}

// do runs op. An attempt that says it got further starts the count anew, so
// that a long download survives any number of breaks.
func (r *retrier) do(ctx context.Context, what string, op func() (further bool, err error)) error {
	failures := 0
	for {
		further, err := op()
		if err == nil {
			return nil
		}
		if further {
			failures = 0
		}
		failures++
		wait, passing := r.passing(err, failures)
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("%s: %w", what, cause)
		}
		if !passing {
			return fmt.Errorf("%s: %w", what, err)
		}
		if failures >= attempts {
			return fmt.Errorf("%s: %w; tried %d times", what, err, attempts)
		}
		if wait > patience {
			return fmt.Errorf("%s: %w; it asks to come back in %s: try again then", what, err, wait.Round(time.Second))
		}
		r.note(fmt.Sprintf("%s: %v; again in %s", what, err, wait.Round(100*time.Millisecond)))
		if err := r.wait(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// passing says whether an error may be gone the next time, and when to try.
func (r *retrier) passing(err error, failures int) (time.Duration, bool) {
	var s *statusError
	var n *netError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errAgain):
		return 0, true
	case errors.As(err, &s):
		switch s.code {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return max(s.wait, backoff(failures)), true
		}
	case errors.As(err, &cert):
		return 0, false // the same one will be shown again
	case errors.As(err, &n):
		// A host that never answered is not there; one that did will be back.
		return backoff(failures), !n.dial || r.client.reached.Load()
	}
	return 0, false
}

// backoff doubles with every failure, of which the upper half is jitter.
func backoff(failures int) time.Duration {
	limit := min(float64(backoffBase)*math.Pow(2, float64(failures-1)), float64(backoffMax))
	return time.Duration(limit/2 + rand.Float64()*limit/2)
}

// retryAfter reads Retry-After in seconds or as a date; 0 where there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// sleep waits, or ends with the context.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
