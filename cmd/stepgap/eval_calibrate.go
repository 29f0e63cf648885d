package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/eval/calibrate"
	"github.com/stepgap/stepgap/internal/eval/matrix"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
	"github.com/stepgap/stepgap/internal/nli"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

func evalCalibrateCommand() *cobra.Command {
	var f evalFlags
	var out, objective string
	var asJSON, write bool
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Find the thresholds of D and E that label sets best",
		Long: "calibrate labels sets under a grid of thresholds, reading labels from the trails of\n" +
			"earlier runs where those suffice, and chooses by cross-validation over\n" +
			"questions. With --write it stores the choice in thresholds.json beside the model,\n" +
			"under the model's hash, if no set loses by it on questions that did not choose.",
		Example: "  stepgap eval calibrate --set own,musique --out calibration\n" +
			"  stepgap eval calibrate --set my-steps.jsonl --write",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(metrics.All(), metrics.Metric(objective)) {
				return fmt.Errorf("there is no metric %q; --objective takes one of %s", objective, metricNames())
			}
			cfg, err := f.config(cmd)
			if err != nil {
				return err
			}
			sets, err := f.open(f.defaultSets()...)
			if err != nil {
				return err
			}
			dir, hash, base, err := calibrated(cmd, cfg)
			if err != nil {
				return err
			}
			bar := newEvalBar(cmd, f.quiet)
			predicting, err := f.predicting(cmd, cfg, bar)
			if err != nil {
				return err
			}
			predicting.Models = &systems.Models{}
			grid := calibrate.Grid(base)
			runs, err := anchored(cmd.Context(), sets, cfg, grid, matrix.Options{Options: predicting, Dir: out, Each: bar.begin})
			bar.end()
			err = errors.Join(err, predicting.Models.Close())
			if err != nil {
				return err
			}
			r, err := calibrate.Choose(cmd.Context(), runs, grid, metrics.Metric(objective), f.options())
			if err != nil {
				return err
			}
			print := r.WriteText
			if asJSON {
				print = r.WriteJSON
			}
			if err := print(cmd.OutOrStdout()); err != nil || !write {
				return err
			}
			return keepThresholds(cmd, dir, hash, r, sets)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&out, "out", "calibration", "folder of the runs' predictions")
	cmd.Flags().StringVar(&objective, "objective", string(metrics.MacroF1), "metric to choose by: "+metricNames())
	cmd.Flags().BoolVar(&write, "write", false, "store the thresholds beside the model")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func metricNames() string {
	var names []string
	for _, m := range metrics.All() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// calibrated is the model to calibrate, and the thresholds that it has now.
func calibrated(cmd *cobra.Command, cfg app.Config) (dir, hash string, base nliworker.Thresholds, err error) {
	if dir, _, err = app.ModelFolder(cfg); err != nil {
		return dir, hash, base, err
	}
	scorer, err := app.OpenScorer(cfg, app.NewLogger(cmd.ErrOrStderr(), cfg))
	if err != nil {
		return dir, hash, base, err
	}
	hash = scorer.Info().Hash
	if err = scorer.Close(); err != nil {
		return dir, hash, base, err
	}
	base = nliworker.ThresholdsOf(nliworker.Defaults())
	had, found, err := nli.ReadThresholds(dir, hash)
	if err != nil && !errors.Is(err, nli.ErrOtherModel) {
		return dir, hash, base, err
	}
	if found {
		base = nliworker.Thresholds{Entailment: had.Entailment, Contradiction: had.Contradiction}
	}
	if cfg.NLIEntailment != 0 {
		base.Entailment = cfg.NLIEntailment
	}
	if cfg.NLIContradiction != 0 {
		base.Contradiction = cfg.NLIContradiction
	}
	return dir, hash, base, base.Validate()
}

// anchored has the hybrid label sets under each pair of the grid that the
// trails of the earlier ones don't suffice for.
func anchored(ctx context.Context, sets []stepset.Set, cfg app.Config, grid []nliworker.Thresholds, o matrix.Options) ([]calibrate.SetRuns, error) {
	runs := make([]calibrate.SetRuns, len(sets))
	for i := range sets {
		runs[i].Set = sets[i]
	}
	for _, t := range grid {
		known := true
		for _, r := range runs {
			ok, err := r.Known(t)
			if err != nil {
				return nil, err
			}
			known = known && ok
		}
		if known {
			continue
		}
		c := cfg
		c.NLIEntailment, c.NLIContradiction = t.Entailment, t.Contradiction
		s := systems.Of(fmt.Sprintf("%s-e%g-c%g", systems.Hybrid, t.Entailment, t.Contradiction), c)
		files, err := matrix.Label(ctx, sets, s, o)
		if err != nil {
			return nil, err
		}
		for i, file := range files {
			runs[i].Anchors = append(runs[i].Anchors, calibrate.Anchor{Thresholds: t, File: file})
		}
	}
	return runs, nil
}

// keepThresholds stores a choice that cross-validation bears out.
func keepThresholds(cmd *cobra.Command, dir, hash string, r *calibrate.Result, sets []stepset.Set) error {
	if r.Chosen == r.Base || !r.Gains() {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), "nothing was stored: on questions that did not choose, no set gains or one loses")
		return err
	}
	var on []string
	for i := range sets {
		on = append(on, fmt.Sprintf("%s (%d steps)", sets[i].Name, sets[i].Count().Steps))
	}
	t := nli.Thresholds{
		Entailment: r.Chosen.Entailment, Contradiction: r.Chosen.Contradiction,
		MeasuredOn: fmt.Sprintf("%s, %s by cross-validation over questions", strings.Join(on, ", "), r.Objective),
	}
	if err := nli.WriteThresholds(dir, hash, t); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "stored in %s/%s for the model %.12s\n", dir, nli.ThresholdsFile, hash)
	return err
}
