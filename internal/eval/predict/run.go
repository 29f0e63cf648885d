package predict

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options of a runner.
type Options struct {
	// Prints and Program fingerprint what decides labels.
	Prints  *systems.Prints
	Program string
	// AnyBuild goes on with predictions that another build of the program made,
	// as one does where they cost money and the code that decides is the same.
	AnyBuild bool
	// Retry asks again about rollouts with an ungraded step.
	Retry bool
	// Window is how many rollouts are under way at once; default 32.
	Window int
	Log    *slog.Logger
	// Models lends pipelines their NLI model, if set: systems that ask about the
	// same pairs have each scored once.
	Models *systems.Models
	// Progress, if set, is told of each rollout that is done, of those that a
	// call of Run has to do.
	Progress func(done, of int)
}

// Runner has one system label sets. Its pipeline is started when the first
// rollout needs it, and serves all of them.
type Runner struct {
	system systems.System
	print  string
	o      Options
	pipe   *pipeline.Pipeline
	// name starts the ids of runs, so that none is that of an earlier process,
	// whose labels a lasting store would give back.
	name string
	runs int
}

// NewRunner prepares a system. Close ends its pipeline.
func NewRunner(s systems.System, o Options) (*Runner, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Prints == nil {
		o.Prints = systems.NewPrints()
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	print, err := o.Prints.Of(s.Config)
	if err != nil {
		return nil, fmt.Errorf("system %s: %w", s.Name, err)
	}
	name := fmt.Sprintf("eval-%s-%d", time.Now().UTC().Format("20060102T150405.000000"), os.Getpid())
	return &Runner{system: s, print: print, o: o, name: strings.ReplaceAll(name, ".", "-")}, nil
}

// Close ends the pipeline, if one was started.
func (r *Runner) Close() error {
	if r.pipe == nil {
		return nil
	}
	return r.pipe.Stop()
}

// Run labels the rollouts of a set that path holds no predictions of yet, and
// returns all predictions, in the set's order. A file of other inputs is
// replaced.
func (r *Runner) Run(ctx context.Context, set stepset.Set, path string) (*File, error) {
	hash, err := set.Hash()
	if err != nil {
		return nil, err
	}
	f := &File{Head: Head{
		Kind: Kind, Set: set.Name, About: set.Mapping, System: r.system.Name, Judges: r.system.About,
		SetHash: hash, Config: r.print, Program: r.o.Program,
	}}
	before, err := exists(path)
	if err != nil && !errors.Is(err, ErrNoPredictions) {
		return nil, err
	}
	done := map[string]bool{}
	if before != nil && r.continues(before.Head, f.Head) {
		for _, p := range before.Rollouts {
			if done[p.Rollout] || r.o.Retry && ungraded(p) {
				continue
			}
			done[p.Rollout] = true
			f.Rollouts = append(f.Rollouts, p)
		}
	}
	if err := f.Save(path); err != nil {
		return nil, err
	}
	var left []*stepset.Rollout
	for i := range set.Rollouts {
		if p := &set.Rollouts[i]; !done[p.ID] {
			left = append(left, p)
		}
	}
	if len(left) > 0 {
		if err := r.label(ctx, left, f, path); err != nil {
			return nil, fmt.Errorf("set %s by %s: %w", set.Name, r.system.Name, err)
		}
	}
	order := map[string]int{}
	for i := range set.Rollouts {
		order[set.Rollouts[i].ID] = i
	}
	slices.SortStableFunc(f.Rollouts, func(a, b Rollout) int { return order[a.Rollout] - order[b.Rollout] })
	return f, f.Save(path)
}

// continues reports whether predictions under a head may be gone on with.
func (r *Runner) continues(had, wanted Head) bool {
	return had.SetHash == wanted.SetHash && had.Config == wanted.Config && had.System == wanted.System &&
		(r.o.AnyBuild || had.Program == wanted.Program)
}

func ungraded(p Rollout) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Pred == schema.GapUngraded })
}

// label appends the predictions of rollouts to f and to its file as they come.
func (r *Runner) label(ctx context.Context, rollouts []*stepset.Rollout, f *File, path string) (err error) {
	pipe, err := r.started(ctx)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing predictions: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	// A pipeline that stops by itself ends the run.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-pipe.Done():
			cancel(pipe.Err())
		case <-ctx.Done():
		}
	}()
	r.runs++
	o := check.Options{Run: fmt.Sprintf("%s-%d", r.name, r.runs), Window: r.o.Window, Trail: true}
	n := 0
	_, err = check.Run(ctx, pipe.Client, transcripts(rollouts), o, func(result *check.Result) error {
		if result.Source != rollouts[n].ID || len(result.Steps) != len(rollouts[n].Steps) {
			return fmt.Errorf("the result of rollout %q came where that of %q was due", result.Source, rollouts[n].ID)
		}
		p := prediction(rollouts[n], result)
		n++
		f.Rollouts = append(f.Rollouts, p)
		w := bufio.NewWriter(out)
		if err := errors.Join(line(w, p), w.Flush()); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		r.o.Progress(n, len(rollouts))
		return nil
	})
	return err
}

func (r *Runner) started(ctx context.Context) (*pipeline.Pipeline, error) {
	if r.pipe != nil {
		return r.pipe, nil
	}
	var lenders []app.Lender
	if r.o.Models != nil {
		lenders = append(lenders, r.o.Models.Open)
	}
	pipe, err := pipeline.Start(ctx, r.system.Config, r.o.Log, lenders...)
	if err != nil {
		return nil, fmt.Errorf("starting the pipeline of %s: %w", r.system.Name, err)
	}
	r.pipe = pipe
	return pipe, nil
}

func transcripts(rollouts []*stepset.Rollout) iter.Seq2[*transcript.Rollout, error] {
	return func(yield func(*transcript.Rollout, error) bool) {
		for _, r := range rollouts {
			t, err := r.Transcript()
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// prediction joins a rollout of a set with what came of it.
func prediction(source *stepset.Rollout, result *check.Result) Rollout {
	p := Rollout{Rollout: source.ID, Question: source.QuestionID, Text: source.Question}
	for i := range source.Steps {
		s := &source.Steps[i]
		got := result.Steps[i]
		group := s.Perturbation
		if group == "" && s.Abstains {
			group = "abstains"
		}
		for k := range got.Trail { // what differs from run to run
			e := &got.Trail[k]
			e.LatencyUS, e.CacheHit, e.TokensCached = 0, false, 0
		}
		p.Steps = append(p.Steps, Step{
			Step: source.StepID(i + 1), Gold: s.Label, Pred: got.Label, Reason: got.Code, Stage: got.Stage,
			Detail: got.Reason, Query: s.Query, Claim: claimed(s), Quote: got.Quote, Why: s.Why, Group: group, Trail: got.Trail,
		})
	}
	return p
}

// claimed is what a step claims, or its text where the pipeline is to find that.
func claimed(s *stepset.Step) string {
	if s.Claim != "" {
		return s.Claim
	}
	return s.Text
}
