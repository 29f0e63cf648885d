package app

import (
	"context"
	"fmt"
	"log/slog"

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
	close        func()
}

// openEntailment loads the NLI model and builds D and E over it.
func openEntailment(cfg Config, log *slog.Logger) (entailment, error) {
	local := built{identity: identity{Stage: schema.StageLocal, Judge: judge.Kind(cfg.JudgeNLI)}}
	cross := built{identity: identity{Stage: schema.StageCross, Judge: judge.Kind(cfg.JudgeNLI)}}
	if local.Judge == judge.KindFree {
		local.decider, cross.decider = free(local.identity), free(cross.identity)
		return entailment{local, cross, func() {}}, nil
	}
	scorer, err := openScorer(cfg, log)
	if err != nil {
		return entailment{}, err
	}
	closeScorer := func() {
		if err := scorer.Close(); err != nil {
			log.Warn("closing the NLI model", "error", err)
		}
	}
	opts := nliworker.Defaults()
	if cfg.NLIContradiction != 0 {
		opts.Contradiction = cfg.NLIContradiction
	}
	if cfg.NLIEntailment != 0 {
		opts.Entailment = cfg.NLIEntailment
	}
	local.Model, cross.Model = scorer.Info().Hash, scorer.Info().Hash
	local.Options, cross.Options = opts, opts
	d, err := nliworker.NewLocal(scorer, opts)
	if err == nil {
		local.decider = d
		var e *nliworker.Cross
		if e, err = nliworker.NewCross(scorer, opts); err == nil {
			cross.decider = e
		}
	}
	if err != nil {
		closeScorer()
		return entailment{}, fmt.Errorf("nli-worker: %w", err)
	}
	log.Info("NLI model loaded", "model", scorer.Info().Short(), "device", scorer.Info().Device)
	return entailment{local, cross, closeScorer}, nil
}

func openScorer(cfg Config, log *slog.Logger) (*onnx.Scorer, error) {
	dir, lib := cfg.NLIModel, cfg.ORTLib
	var err error
	if dir == "" {
		if dir, err = onnx.FindModel(); err != nil {
			return nil, fmt.Errorf("no NLI model: %w; run `make setup`, or name a folder with --nli-model", err)
		}
	}
	if lib == "" {
		if lib, err = onnx.FindLibrary(); err != nil {
			return nil, fmt.Errorf("no ONNX Runtime: %w; run `make setup`, or name the library with --ort-lib", err)
		}
	}
	scorer, err := onnx.OpenScorer(
		onnx.Options{Dir: dir, File: cfg.NLIFile, Library: lib, Device: cfg.Device, Log: log},
		nli.BatcherOptions{Lanes: cfg.NLILanes},
	)
	if err != nil {
		return nil, fmt.Errorf("opening the NLI model in %s: %w", dir, err)
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
	e, err := openEntailment(cfg, log)
	if err != nil {
		return nil, nil, nil, err
	}
	return e.local.decider, e.cross.decider, e.close, nil
}
