package stage_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// mostHandlings is how often a message that kills its worker may get to do so.
const mostHandlings = 10

func TestPromise_P1_AStepThatPanicsItsHandlerIsGivenUp(t *testing.T) {
	t.Parallel()
	// first is what the poisoned step's first two handlings come to.
	firsts := map[string]error{
		"at once":                     nil,
		"after retries in good order": &judge.Error{Reason: schema.ReasonJudgeError, Temporary: true, Err: errors.New("429")},
	}
	for name, first := range firsts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
				const n, poison = 20, 1
				var calls atomic.Int32
				w.runStage(s, tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
					if item.Step.Index == poison {
						if n := calls.Add(1); n <= 2 && first != nil {
							return tree.Decision{}, first
						}
						panic("a poisoned step")
					}
					return tree.Verdict(item, schema.GapNone, "", "", schema.TrailEntry{Outcome: "entailment"}), nil
				}))
				all := ids("o", n)
				for _, id := range all {
					w.publish(s.input(t, id, bodyOf(t, id)))
				}
				for _, id := range all[poison:] {
					require.Equal(t, schema.GapNone, w.label(id).Label)
				}
				l := w.label(all[poison-1])
				require.Equal(t, schema.ReasonCrash, l.Reason)
				require.Equal(t, schema.Digest(bodyOf(t, all[poison-1])), l.Digest)
				require.Equal(t, schema.ReasonCrash, w.dead(s.stage, all[poison-1]).Reason)
				require.LessOrEqual(t, int(calls.Load()), mostHandlings+2)
				w.empty(s.stream)
				w.exactly(bus.StreamLabels, n)
			})
		})
	}
}

// A step that ends the whole process, as a fault in C code or the kernel's OOM
// killer would: the count of attempts outlives every process, and the steps in
// flight beside it are not taken for the culprit.
func TestPromise_P1_AStepThatKillsItsProcessIsGivenUpAloneByTheNext(t *testing.T) {
	t.Parallel()
	for name, culprit := range map[string]int{"first in line": 1, "in the middle": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
				const n = 12
				all := ids("o", n)
				for _, id := range all {
					w.publish(s.input(t, id, bodyOf(t, id)))
				}
				bad := all[culprit-1]
				end := make(chan struct{})
				defer close(end) // before the loops are waited for
				deaths := 0
				for {
					died := make(chan struct{})
					var once sync.Once
					l := w.run(s.stage, func(conn *bus.Conn) stage.Handler {
						return tap{Handler: w.handler(conn, s, verdict(schema.GapNone)), before: func(m *stage.Message) {
							if m.Subject() == bad.Subject(s.prefix) {
								conn.Close()
								once.Do(func() { close(died) })
								<-end
							}
							select { // still in flight when the process dies
							case <-died:
							case <-time.After(100 * time.Millisecond):
							}
						}}
					}, func(r *stage.Runner) { r.Workers = n })
					given := make(chan struct{})
					stop := make(chan struct{})
					go func() {
						defer close(given)
						for {
							if l, err := bus.LabelOf(context.Background(), w.conn.JS, bad); err == nil && l != nil {
								return
							}
							select {
							case <-stop:
								return
							case <-time.After(tick):
							}
						}
					}()
					select {
					case <-died:
						l.kill()
						close(stop)
						<-given
						deaths++
						require.LessOrEqual(t, deaths, mostHandlings)
						continue
					case <-given:
					case <-time.After(patience):
						require.FailNow(t, "neither died nor gave up")
					}
					close(stop)
					break
				}
				require.Equal(t, schema.ReasonCrash, w.label(bad).Reason)
				require.Equal(t, schema.ReasonCrash, w.dead(s.stage, bad).Reason)
				for _, id := range all {
					if id != bad {
						require.Equal(t, schema.GapNone, w.label(id).Label, "%s was only in bad company", id)
					}
				}
				w.empty(s.stream)
				w.exactly(bus.StreamLabels, n)
				w.exactly(bus.StreamDead, 1)
			})
		})
	}
}
