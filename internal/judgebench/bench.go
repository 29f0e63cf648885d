package judgebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options configure a measurement.
type Options struct {
	// Config is that of the pipeline; what concerns the endpoint is replaced.
	Config app.Config
	// Generated is how many groups of GroupSize are generated; default 24.
	Generated int
	// Seed of the generator.
	Seed uint64
	// Delay is how long the endpoint takes over an answer; default 20 ms.
	Delay time.Duration
	Log   *slog.Logger
	// Progress is told what is being done.
	Progress io.Writer
}

// Side is what one set of groups cost.
type Side struct {
	Groups   int `json:"groups"`
	Rollouts int `json:"rollouts"`
	Steps    int `json:"steps"`
	// NaiveCalls and Calls are requests that the endpoint got from the naive
	// client and from the pipeline.
	NaiveCalls int `json:"naive_calls"`
	Calls      int `json:"calls"`
	// Ratio is Calls through NaiveCalls.
	Ratio float64 `json:"ratio"`
	// Changed counts steps whose label, reason, detail or quotes differ; First
	// tells of the first.
	Changed int    `json:"labels_changed"`
	First   string `json:"first_change,omitempty"`
}

// Report is what Run measures.
type Report struct {
	// Real is on the groups of the data set as they are, Generated on generated
	// ones.
	Real      Side `json:"real"`
	Generated Side `json:"generated"`
	// Measured are the rates of the real groups, Reached those of the generated.
	Measured Rates  `json:"measured_rates"`
	Reached  Rates  `json:"generated_rates"`
	Seed     uint64 `json:"seed"`
}

// atOnce is how many rollouts are under way at once, on either side.
const atOnce = 16

// model is the name that the endpoint is asked for by.
const model = "rules-over-http"

// Run measures on rollouts, whose questions with several rollouts are the real
// groups.
func Run(ctx context.Context, rollouts iter.Seq2[*transcript.Rollout, error], o Options) (Report, error) {
	if o.Generated == 0 {
		o.Generated = 24
	}
	if o.Delay == 0 {
		o.Delay = 20 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	r := Report{Seed: o.Seed}
	real, err := Groups(rollouts)
	if err != nil {
		return r, err
	}
	if r.Measured, err = Measure(real); err != nil {
		return r, err
	}
	made := Generate(real, r.Measured, o.Generated, o.Seed)
	if r.Reached, err = Measure(made); err != nil {
		return r, err
	}
	if r.Generated, err = o.side(ctx, "generated groups", made); err != nil {
		return r, err
	}
	r.Real, err = o.side(ctx, "real groups", real)
	return r, err
}

// side has the same groups labelled by both.
func (o Options) side(ctx context.Context, name string, groups []Group) (s Side, err error) {
	s.Groups = len(groups)
	for _, g := range groups {
		s.Rollouts += len(g.Rollouts)
		for _, r := range g.Rollouts {
			s.Steps += len(r.Steps)
		}
	}
	fmt.Fprintf(o.Progress, "%s: %d rollouts, %d steps: the naive client\n", name, s.Rollouts, s.Steps)
	want, calls, err := o.naive(ctx, groups)
	if err != nil {
		return s, fmt.Errorf("%s: the naive client: %w", name, err)
	}
	s.NaiveCalls = calls
	fmt.Fprintf(o.Progress, "%s: the pipeline\n", name)
	got, calls, err := o.pipeline(ctx, groups)
	if err != nil {
		return s, fmt.Errorf("%s: the pipeline: %w", name, err)
	}
	s.Calls = calls
	s.Ratio = float64(s.Calls) / float64(s.NaiveCalls)
	s.Changed, s.First = differences(groups, want, got)
	return s, nil
}

func (o Options) naive(ctx context.Context, groups []Group) (_ Labels, calls int, err error) {
	endpoint, err := StartEndpoint(o.Delay)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, endpoint.Close()) }()
	cfg := llm.DefaultConfig()
	cfg.BaseURL, cfg.Model, cfg.TopLogProbs = endpoint.URL, model, 0
	client, err := llm.New(cfg)
	if err != nil {
		return nil, 0, err
	}
	local, cross, closeNLI, err := app.Entailment(o.Config, o.Log)
	if err != nil {
		return nil, 0, err
	}
	defer closeNLI()
	n, err := NewNaive(llm.Setup{Completer: client, Fencer: llm.NewFencer(llm.NewSecret(o.Config.Secret))}, local, cross)
	if err != nil {
		return nil, 0, err
	}
	labels, err := n.Run(ctx, groups, atOnce)
	return labels, endpoint.Calls(), err
}

func (o Options) pipeline(ctx context.Context, groups []Group) (_ Labels, calls int, err error) {
	endpoint, err := StartEndpoint(o.Delay)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, endpoint.Close()) }()
	cfg := o.Config
	cfg.Judge, cfg.JudgeEntity, cfg.JudgeAbstain, cfg.JudgeQuote = "llm", "", "", ""
	cfg.LLMURL, cfg.LLMModel, cfg.LLMConcurrency = endpoint.URL, model, 64
	pipe, err := pipeline.Start(ctx, cfg, o.Log)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, pipe.Stop()) }()
	const run = "bench-judge"
	labels := Labels{}
	all := func(yield func(*transcript.Rollout, error) bool) {
		for _, g := range groups {
			for _, r := range g.Rollouts {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	_, err = check.Run(ctx, pipe.Client, all, check.Options{Run: run, Window: atOnce}, func(result *check.Result) error {
		byIndex, err := bus.LabelsOf(ctx, pipe.Conn.JS, schema.RolloutID{Run: run, Rollout: result.Rollout})
		if err != nil {
			return err
		}
		list := make([]*schema.Label, len(result.Steps))
		for i := range list {
			list[i] = byIndex[i+1]
		}
		labels[result.Source] = list
		return nil
	})
	return labels, endpoint.Calls(), err
}

// verdict is what must not differ.
type verdict struct {
	Label  schema.Gap
	Reason schema.Reason
	Detail string
	Quotes []schema.Quote
	Needed []string // what A's judge named, with the digest of what it was asked
}

func verdictOf(l *schema.Label) verdict {
	if l == nil {
		return verdict{}
	}
	v := verdict{Label: l.Label, Reason: l.Reason, Detail: l.Detail, Quotes: l.Quotes}
	if len(v.Quotes) == 0 {
		v.Quotes = nil
	}
	for _, e := range l.Trail {
		if e.Judge == "llm" {
			v.Needed = append(v.Needed, string(e.Stage)+" "+e.Outcome+" "+e.Detail)
		}
	}
	return v
}

func differences(groups []Group, want, got Labels) (changed int, first string) {
	for _, g := range groups {
		for _, r := range g.Rollouts {
			for i := range r.Steps {
				var w, h verdict
				if i < len(want[r.ID]) {
					w = verdictOf(want[r.ID][i])
				}
				if i < len(got[r.ID]) {
					h = verdictOf(got[r.ID][i])
				}
				diff := cmp.Diff(w, h)
				if diff == "" && w.Label != "" {
					continue
				}
				changed++
				if first == "" {
					first = fmt.Sprintf("%s step %d (naive -, pipeline +):\n%s", r.ID, i+1, diff)
				}
			}
		}
	}
	return changed, first
}
