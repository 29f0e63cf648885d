package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/stepgap/stepgap/internal/judge"
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

// openEntailment builds D and E over the NLI model that open gives; it is not
// asked where no model is needed.
func openEntailment(cfg Config, open func() (*onnx.Scorer, error), log *slog.Logger) (entailment, error) {
	local := built{identity: identity{Stage: schema.StageLocal, Judge: judge.Kind(cfg.JudgeNLI)}}
	cross := built{identity: identity{Stage: schema.StageCross, Judge: judge.Kind(cfg.JudgeNLI)}}
	if local.Judge == judge.KindFree {
		local.decider, cross.decider = free(local.identity), free(cross.identity)
		return entailment{local: local, cross: cross, priority: priorityOf(cfg, "")}, nil
	}
	scorer, err := open()
	if err != nil {
		return entailment{}, err
	}
	opts, err := thresholds(cfg, scorer.Info().Hash)
	if err != nil {
		return entailment{}, fmt.Errorf("thresholds of the NLI model: %w", err)
	}
	opts.Epsilon = nliworker.EpsilonOf(scorer.Info(), cfg.NLIEpsilon)
	local.Model, cross.Model = scorer.Info().Hash, scorer.Info().Hash
	local.Options, cross.Options = opts, opts
	d, err := nliworker.NewLocal(scorer, opts.Options)
	if err == nil {
		local.decider = d
		var e *nliworker.Cross
		if e, err = nliworker.NewCross(scorer, opts.Options); err == nil {
			cross.decider = e
		}
	}
	if err != nil {
		return entailment{}, fmt.Errorf("nli-worker: %w", err)
	}
	log.Info("NLI model loaded", "model", scorer.Info().Short(), "device", scorer.Info().Device,
		"contradiction", opts.Contradiction, "contradiction_from", opts.ContradictionFrom,
		"entailment", opts.Entailment, "entailment_from", opts.EntailmentFrom)
	return entailment{local, cross, priorityOf(cfg, scorer.Info().Device)}, nil
}

// model is the process's NLI model. It is opened when it is first asked for, and
// once: D, E and an aggregator that asks it share it. It is closed with the
// process.
func (p *Process) model() (*onnx.Scorer, error) {
	if p.scorer != nil {
		return p.scorer, nil
	}
	scorer, err := OpenScorer(p.cfg, p.log)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() { closeScorer(scorer, p.log) })
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
	lib := cfg.ORTLib
	if lib == "" {
		if lib, err = onnx.FindLibrary(); err != nil {
			return nil, fmt.Errorf("no ONNX Runtime: %w; run `make setup`, or name the library with --ort-lib", err)
		}
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

// free ends every step as none, at no cost.
func free(id identity) tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		entry := schema.TrailEntry{Stage: id.Stage, Outcome: "fixed", Judge: string(id.Judge)}
		return tree.Verdict(item, schema.GapNone, "", "", entry), nil
	})
}

// Entailment opens stages D and E as a process would, without their loops.
func Entailment(cfg Config, log *slog.Logger) (local, cross tree.Decider, closeModel func(), err error) {
	closeModel = func() {}
	e, err := openEntailment(cfg, func() (*onnx.Scorer, error) {
		s, err := OpenScorer(cfg, log)
		if err == nil {
			closeModel = func() { closeScorer(s, log) }
		}
		return s, err
	}, log)
	if err != nil {
		closeModel()
		return nil, nil, nil, err
	}
	return e.local.decider, e.cross.decider, closeModel, nil
}
