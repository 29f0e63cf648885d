package stage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// errStuck says that a judge did not come back when its time was up.
var errStuck = errors.New("the judge did not heed the end of its time; it was left behind")

// stuckGrace is how long a judge may take to come back after its context is
// done, so that one that heeds it can say what happened.
const stuckGrace = time.Second

// guarded runs f, and leaves it behind if it stays on after ctx: a call that
// hangs where no context reaches (a C library, a socket without a deadline)
// would hold its worker, and its step, for good. A panic of f is one of the
// caller.
func guarded[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			done <- o
		}()
		o.value, o.err = f()
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(stuckGrace)
		defer timer.Stop()
		select {
		case o = <-done:
		case <-timer.C:
			o.err = fmt.Errorf("%w: %w", errStuck, context.Cause(ctx))
		}
	}
	if o.panic != nil {
		panic(o.panic)
	}
	return o.value, o.err
}
