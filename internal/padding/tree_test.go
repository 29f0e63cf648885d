package padding_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge/local"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// stages is the whole tree, without a wire between its stages: the rules for A
// to C, and D and E over the real model.
type stages map[tree.Hop]tree.Decider

func wholeTree(t *testing.T) stages {
	t.Helper()
	model, library := os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if model == "" || library == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	scorer, err := onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Device: "cpu", Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, nli.BatcherOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, scorer.Close()) })
	d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	e, err := nliworker.NewCross(scorer, nliworker.Defaults())
	require.NoError(t, err)
	j := local.New()
	return stages{
		"": entitycheck.New(j), tree.HopAbstain: abstaincheck.New(j), tree.HopQuote: quoteextract.New(j), tree.HopLocal: d, tree.HopCross: e,
	}
}

// label moves a step through the tree until it has a label.
func (s stages) label(t *testing.T, step *schema.Step, earlier map[int]*schema.Label) *schema.Label {
	t.Helper()
	item := &tree.Item{Step: step, Earlier: earlier, Final: true}
	for hop := tree.Hop(""); ; {
		d, err := s[hop].Decide(t.Context(), item)
		require.NoError(t, err)
		item.Trail = append(item.Trail, d.Entry)
		item.Abstaining, item.Quotes = d.Abstaining, d.Quotes
		if d.Next == tree.HopDone {
			return &schema.Label{Index: step.Index, Label: d.Gap, Stage: d.Entry.Stage, Detail: d.Detail, Quotes: d.Quotes, Trail: item.Trail}
		}
		hop = d.Next
	}
}

// rollout is one or more steps that follow each other.
type rollout struct {
	id    string
	steps []*schema.Step
	// pad is the passage, by digest, that is padded in all steps.
	pads map[string]bool
}

func (r rollout) label(t *testing.T, s stages) []*schema.Label {
	earlier := map[int]*schema.Label{}
	var out []*schema.Label
	for _, step := range r.steps {
		l := s.label(t, step, earlier)
		earlier[step.Index] = l
		out = append(out, l)
	}
	return out
}

// padded is the rollout with the text of the padded passages rewritten.
func (r rollout) padded(rewrite func(text string) string) rollout {
	out := rollout{id: r.id}
	for _, s := range r.steps {
		c := *s
		c.Passages = slices.Clone(s.Passages)
		for i, p := range c.Passages {
			if r.pads[p.Digest] {
				c.Passages[i] = passage(p.Title, rewrite(p.Text), p.ByStep)
			}
		}
		out.steps = append(out.steps, &c)
	}
	return out
}

// variant is a way to pad a rollout.
type variant struct {
	name    string
	rewrite func(text string) string
}

// outcome of holding padded labels against plain ones.
type outcome struct {
	mu                 sync.Mutex
	steps, padded      int
	pairs, pairsPadded int
	deciding           int // deciding premises of D and E that changed, labels alike
	moved              []string
	labels             map[schema.Gap]int
}

func (o *outcome) String() string {
	var labels []string
	for g, n := range o.labels {
		labels = append(labels, fmt.Sprintf("%s %d", g.Short(), n))
	}
	sort.Strings(labels)
	return fmt.Sprintf("%d steps (%s), %d padded; %d labels moved, %d deciding premises moved; %.2f pairs a step plain, %.2f padded",
		o.steps, strings.Join(labels, ", "), o.padded, len(o.moved), o.deciding,
		float64(o.pairs)/float64(max(o.steps, 1)), float64(o.pairsPadded)/float64(max(o.padded, 1)))
}

func calls(l *schema.Label) int {
	n := 0
	for _, e := range l.Trail {
		if e.Judge == "nli" {
			n += e.Calls
		}
	}
	return n
}

func last(l *schema.Label) schema.TrailEntry { return l.Trail[len(l.Trail)-1] }

// hold labels every rollout plain and in each of its variants.
func hold(t *testing.T, s stages, rollouts []rollout, variants func(i int) []variant) *outcome {
	t.Helper()
	o := &outcome{labels: map[schema.Gap]int{}}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, r := range rollouts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			plain := r.label(t, s)
			o.mu.Lock()
			for _, l := range plain {
				o.steps++
				o.pairs += calls(l)
				o.labels[l.Label]++
			}
			o.mu.Unlock()
			for _, v := range variants(i) {
				got := r.padded(v.rewrite).label(t, s)
				o.mu.Lock()
				for k, l := range got {
					o.padded++
					o.pairsPadded += calls(l)
					switch {
					case l.Label != plain[k].Label:
						o.moved = append(o.moved, fmt.Sprintf("%s, %s: claim %q\n  plain  %s at %s: %.400q %v %s\n  padded %s at %s: %.400q %v %s", r.id, v.name, r.steps[k].Claim+"|"+r.steps[k].Text,
							plain[k].Label.Short(), plain[k].Stage.Letter(), last(plain[k]).Premise, last(plain[k]).Scores, plain[k].Detail,
							l.Label.Short(), l.Stage.Letter(), last(l).Premise, last(l).Scores, l.Detail))
					case last(l).Premise != last(plain[k]).Premise:
						o.deciding++
					}
				}
				o.mu.Unlock()
			}
		})
	}
	wg.Wait()
	sort.Strings(o.moved)
	return o
}
