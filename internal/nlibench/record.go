package nlibench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/local"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// errNothingAsked: no step of the rollouts reached D or E.
var errNothingAsked = errors.New("no step reached the NLI model")

// recorder is a scorer that notes what it is asked.
type recorder struct {
	nli.Scorer

	mu       sync.Mutex
	requests [][]nli.Pair
}

func (r *recorder) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	r.mu.Lock()
	r.requests = append(r.requests, append([]nli.Pair(nil), pairs...))
	r.mu.Unlock()
	return r.Scorer.Score(ctx, pairs)
}

// Record walks rollouts through the tree with the judges by rules and returns
// what D and E ask scorer, a request a call. It stops early once it has as many
// pairs as wanted, when that is positive.
func Record(ctx context.Context, rollouts []*transcript.Rollout, scorer nli.Scorer, wanted int) ([][]nli.Pair, error) {
	rec := &recorder{Scorer: scorer}
	d, err := nliworker.NewLocal(rec, nliworker.Defaults())
	if err != nil {
		return nil, err
	}
	e, err := nliworker.NewCross(rec, nliworker.Defaults())
	if err != nil {
		return nil, err
	}
	rules := local.New()
	stages := map[tree.Hop]tree.Decider{
		tree.HopDone: entitycheck.New(rules), tree.HopAbstain: abstaincheck.New(rules), tree.HopQuote: quoteextract.New(rules),
		tree.HopLocal: d, tree.HopCross: e,
	}
	for _, r := range rollouts {
		if err := walk(ctx, stages, r); err != nil {
			return nil, fmt.Errorf("recording rollout %s: %w", r.ID, err)
		}
		pairs := 0
		for _, request := range rec.requests {
			pairs += len(request)
		}
		if wanted > 0 && pairs >= wanted {
			break
		}
	}
	if len(rec.requests) == 0 {
		return nil, fmt.Errorf("recording pairs: %w", errNothingAsked)
	}
	return rec.requests, nil
}

func walk(ctx context.Context, stages map[tree.Hop]tree.Decider, r *transcript.Rollout) error {
	earlier := map[int]*schema.Label{}
	for i := range r.Steps {
		step, err := asSent(&r.Steps[i])
		if err != nil {
			return err
		}
		item := &tree.Item{Step: step, Earlier: earlier, Final: true}
		// A stage that can't decide a step ends it; there is nothing to ask then.
		// But where the model fails, its questions would be missing unseen.
		for hop := tree.HopDone; ; {
			d, err := stages[hop].Decide(ctx, item)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var failed *judge.Error
			if errors.As(err, &failed) && failed.Reason == schema.ReasonModelError {
				return err
			}
			if err != nil {
				break
			}
			item.Trail = append(item.Trail, d.Entry)
			item.Abstaining, item.Quotes = d.Abstaining, d.Quotes
			if hop = d.Next; hop == tree.HopDone {
				earlier[step.Index] = &schema.Label{Index: step.Index, Label: d.Gap, Quotes: d.Quotes, Trail: item.Trail}
				break
			}
		}
	}
	return nil
}

// asSent is the step as a stage gets it.
func asSent(s *schema.Step) (*schema.Step, error) {
	sent := *s
	sent.Run, sent.Rollout = "bench-nli", "bench-nli"
	body, err := client.EncodeStep(&sent)
	if err != nil {
		return nil, fmt.Errorf("step %d: %w", s.Index, err)
	}
	out := &schema.Step{}
	if err := schema.Decode(body, out); err != nil {
		return nil, fmt.Errorf("step %d: %w", s.Index, err)
	}
	return out, out.BindStep(schema.StepID{Run: sent.Run, Rollout: sent.Rollout, Index: s.Index})
}

// Comparable drops pairs that peers would read differently for other reasons
// than speed: a literal "[SEP]" is text to us and a special token to most.
func Comparable(requests [][]nli.Pair) [][]nli.Pair {
	special := []string{"[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "\x00"}
	odd := func(text string) bool {
		for _, s := range special {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	var out [][]nli.Pair
	for _, pairs := range requests {
		var kept []nli.Pair
		for _, p := range pairs {
			if !odd(p.Premise) && !odd(p.Hypothesis) {
				kept = append(kept, p)
			}
		}
		out = append(out, kept)
	}
	return out
}
