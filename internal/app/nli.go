package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/off"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// entailment is D and E over one model.
type entailment struct {
	local, cross built
	priority     int // of their pulls
}

// Ranks of workers whose settings give none: a GPU goes first.
const (
	priorityGPU = 0
	priorityCPU = 5
)

// priorityOf is the rank of a worker's pulls.
func priorityOf(cfg Config, device string) int {
	switch {
	case cfg.NLIPriority >= 0:
		return cfg.NLIPriority
	case strings.HasPrefix(device, "cuda"):
		return priorityGPU
	default:
		return priorityCPU
	}
}

// entailment builds D and E. The NLI model is opened where one of them asks it,
// and only there.
func (j *judges) entailment() (entailment, error) {
	kinds := KindsOf(j.cfg)
	d, onLocal, err := j.last(schema.StageLocal, kinds.Local)
	if err != nil {
		return entailment{}, err
	}
	e, onCross, err := j.last(schema.StageCross, kinds.Cross)
	if err != nil {
		return entailment{}, err
	}
	device := onLocal
	if device == "" {
		device = onCross
	}
	return entailment{local: d, cross: e, priority: priorityOf(j.cfg, device)}, nil
}

// last builds D or E, and says on which device its model runs, if it has one.
func (j *judges) last(s schema.Stage, kind judge.Kind) (b built, device string, err error) {
	b.identity = identity{Stage: s, Judge: kind}
	switch kind {
	case judge.KindFree:
		b.decider = free(b.identity)
		return b, "", nil
	case judge.KindOff:
		b.decider = off.Last(s)
		return b, "", nil
	case judge.KindNLI:
		return j.byModel(b)
	case judge.KindLocal:
		opts := nliworker.Defaults() // verdicts have no thresholds to calibrate
		b.Model, b.Options = nliworker.RulesModel, opts
		b, err = over(b, nliworker.NewRules(), opts)
		return b, "", err
	case judge.KindLLM:
		b, err = j.byLLM(b)
		return b, "", err
	case judge.KindStudent:
		return j.byStudent(b)
	}
	return b, "", fmt.Errorf("%s has no judge %q", s, kind)
}

// byModel is D or E over the NLI model.
func (j *judges) byModel(b built) (built, string, error) {
	scorer, err := j.model()
	if err != nil {
		return b, "", err
	}
	opts, err := thresholds(j.cfg, scorer.Info().Hash)
	if err != nil {
		return b, "", fmt.Errorf("thresholds of the NLI model: %w", err)
	}
	opts.Epsilon = nliworker.EpsilonOf(scorer.Info(), j.cfg.NLIEpsilon)
	b.Model, b.Options = scorer.Info().Hash, opts
	if b, err = over(b, scorer, opts.Options); err != nil {
		return b, "", err
	}
	j.log.Info("stage over the NLI model", "stage", string(b.Stage), "model", scorer.Info().Short(), "device", scorer.Info().Device,
		"contradiction", opts.Contradiction, "contradiction_from", opts.ContradictionFrom,
		"entailment", opts.Entailment, "entailment_from", opts.EntailmentFrom)
	return b, scorer.Info().Device, nil
}

// byLLM is D or E over a language model.
func (j *judges) byLLM(b built) (built, error) {
	setup, err := j.llm(&b.identity)
	if err != nil {
		return b, err
	}
	own, err := nliworker.NewLLM(setup, j.cfg.LLMModel)
	if err != nil {
		return b, err
	}
	opts := nliworker.Defaults() // verdicts have no thresholds to calibrate
	b.Prompt, b.Options = own.PromptVersion(), opts
	return over(b, own, opts)
}

// byStudent is D or E, or rather the whole tree, over a student.
func (j *judges) byStudent(b built) (built, string, error) {
	model, err := j.student()
	if err != nil {
		return b, "", err
	}
	info := model.Info()
	b.Model, b.Options = info.Hash, nliworker.StudentForm
	b.decider = nliworker.NewStudent(model, b.Stage, nliworker.EpsilonOf(info, j.cfg.NLIEpsilon))
	j.log.Info("stage over a student", "stage", string(b.Stage), "model", info.Short(), "device", info.Device)
	return b, info.Device, nil
}

// over is D or E over what scores pairs.
func over(b built, scorer nli.Scorer, opts nliworker.Options) (_ built, err error) {
	if b.Stage == schema.StageLocal {
		b.decider, err = nliworker.NewLocal(scorer, opts)
	} else {
		b.decider, err = nliworker.NewCross(scorer, opts)
	}
	if err != nil {
		return b, fmt.Errorf("nli-worker: %w", err)
	}
	return b, nil
}

// Lender opens the NLI model of some settings for a process, which does not
// close it: so processes that follow each other in one program share a model
// and what it has scored.
type Lender func(Config, *slog.Logger) (*onnx.Scorer, error)

// model is the process's NLI model. It is opened when it is first asked for, and
// once: D, E and an aggregator that asks it share it. It is closed with the
// process.
func (p *Process) model() (*onnx.Scorer, error) {
	if p.scorer != nil {
		return p.scorer, nil
	}
	open := OpenScorer
	if p.lend != nil {
		open = p.lend
	}
	scorer, err := open(p.cfg, p.log)
	if err != nil {
		return nil, err
	}
	if p.lend == nil {
		p.closers = append(p.closers, func() { closeScorer(scorer, p.log) })
	}
	if err := nliMetrics(p.registry, scorer); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	p.scorer = scorer
	return scorer, nil
}

func closeScorer(s *onnx.Scorer, log *slog.Logger) {
	if err := s.Close(); err != nil {
		log.Warn("closing the NLI model", "error", err)
	}
}

// OpenScorer opens the NLI model of the settings, warm and ready to score.
func OpenScorer(cfg Config, log *slog.Logger) (*onnx.Scorer, error) {
	dir, file, err := ModelFolder(cfg)
	if err != nil {
		return nil, err
	}
	lib, err := library(cfg)
	if err != nil {
		return nil, err
	}
	scorer, err := onnx.OpenScorer(
		onnx.Options{Dir: dir, File: file, Library: lib, Device: cfg.Device, Threads: cfg.NLIThreads, Deterministic: cfg.Deterministic, Log: log},
		nli.BatcherOptions{Lanes: cfg.NLILanes},
	)
	if err != nil {
		return nil, err // it names the folder
	}
	return scorer, nil
}

// library finds ONNX Runtime.
func library(cfg Config) (string, error) {
	if cfg.ORTLib != "" {
		return cfg.ORTLib, nil
	}
	lib, err := onnx.FindLibrary()
	if err != nil {
		return "", fmt.Errorf("no ONNX Runtime: %w; run `make setup`, or name the library with --ort-lib", err)
	}
	return lib, nil
}

// OpenStudent opens the model of the judge student.
func OpenStudent(cfg Config, log *slog.Logger) (*onnx.Classifier, error) {
	if cfg.StudentModel == "" {
		return nil, errors.New("the judge student needs student_model (--student-model FOLDER): a classifier with the labels of docs/judges.md")
	}
	lib, err := library(cfg)
	if err != nil {
		return nil, err
	}
	return onnx.OpenClassifier(
		onnx.Options{Dir: cfg.StudentModel, Library: lib, Device: cfg.Device, Threads: cfg.NLIThreads, Log: log},
		nliworker.StudentLabels(), onnx.ClassifierOptions{Lanes: cfg.NLILanes},
	)
}

// studentModel is the process's student, opened when it is first asked for.
func (p *Process) studentModel() (nliworker.Classifier, error) {
	if p.student != nil {
		return p.student, nil
	}
	c, err := OpenStudent(p.cfg, p.log)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() { closeStudent(c, p.log) })
	p.student = c
	return c, nil
}

func closeStudent(c *onnx.Classifier, log *slog.Logger) {
	if err := c.Close(); err != nil {
		log.Warn("closing the student", "error", err)
	}
}

// free ends every step as none, at no cost.
func free(id identity) tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		entry := schema.TrailEntry{Stage: id.Stage, Outcome: "fixed", Judge: string(id.Judge)}
		return tree.Verdict(item, schema.GapNone, "", "", entry), nil
	})
}

// Entailment opens stages D and E as a process would, without their loops. They
// ask no language model: that takes a process.
func Entailment(cfg Config, log *slog.Logger) (local, cross tree.Decider, closeModels func(), err error) {
	var closers []func()
	closeModels = func() {
		for _, c := range closers {
			c()
		}
	}
	var scorer *onnx.Scorer
	j := &judges{cfg: cfg, log: log, model: func() (*onnx.Scorer, error) {
		if scorer != nil {
			return scorer, nil
		}
		s, err := OpenScorer(cfg, log)
		if err == nil {
			scorer = s
			closers = append(closers, func() { closeScorer(s, log) })
		}
		return s, err
	}}
	var student *onnx.Classifier
	j.student = func() (nliworker.Classifier, error) {
		if student != nil {
			return student, nil
		}
		c, err := OpenStudent(cfg, log)
		if err != nil {
			return nil, err
		}
		student = c
		closers = append(closers, func() { closeStudent(c, log) })
		return c, nil
	}
	e, err := j.entailment()
	if err != nil {
		closeModels()
		return nil, nil, nil, err
	}
	return e.local.decider, e.cross.decider, closeModels, nil
}
