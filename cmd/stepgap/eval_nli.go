package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/docblock"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/nlieval"
)

func evalNLICommand() *cobra.Command {
	var data, out, docs, predictions string
	var files []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval-nli",
		Short: "Measure the NLI model on held-out pairs",
		Long: "eval-nli measures the NLI model on the parts of public sets that the training of\n" +
			"the default model left out, and on quote and claim pairs written by hand: accuracy\n" +
			"and macro-F1 with intervals, for the model alone and for stage D, beside what can\n" +
			"be had without a model. Without a data set it measures the hand-written pairs.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			sets, missing, err := evalSets(data)
			if err != nil {
				return err
			}
			models, closeAll, err := openForEval(cmd, cfg, files)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeAll()) }()
			report, err := nlieval.Run(cmd.Context(), models, sets, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if missing != "" {
				report.Missing["sets"] = missing
			}
			if err := writeJSON(out, report); err != nil {
				return err
			}
			if predictions != "" {
				if err := writePredictions(predictions, report.Predictions(models[0].File, sets)); err != nil {
					return err
				}
			}
			if docs != "" {
				if err := writeCardTable(docs, report); err != nil {
					return err
				}
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(report)
			}
			return report.Print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&data, "data", os.Getenv("STEPGAP_DATA"), "folder of the data set")
	cmd.Flags().StringSliceVar(&files, "files", nil, "ONNX files of the model to measure; default: nli_file, and model_int8.onnx beside it")
	cmd.Flags().String("nli-model", "", "the NLI model: a folder, or a name that stepgap models list shows; empty looks beside the program")
	cmd.Flags().StringVar(&out, "out", "", "also write the figures to this file (JSON)")
	cmd.Flags().StringVar(&docs, "docs", "", "also renew the table in this Markdown file")
	cmd.Flags().StringVar(&predictions, "predictions", "", "also write what the first file said of each pair to this file (JSON lines)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	app.AddFlags(cmd.Flags(), "bench")
	return cmd
}

// evalSets are the sets of a folder and the hand-written one; missing says why
// the former are not there.
func evalSets(data string) (sets []nlieval.Set, missing string, err error) {
	if data == "" {
		missing = "no data set was given (--data or STEPGAP_DATA), so the hand-written pairs stand alone"
	} else if sets, err = nlieval.Sets(data); err != nil {
		return nil, "", err
	}
	hand, err := nlieval.Hand()
	if err != nil {
		return nil, "", err
	}
	return append(sets, hand), missing, nil
}

// openForEval opens the model files to measure, on CPU and one pair a batch, so
// that the figures are the same every time.
func openForEval(cmd *cobra.Command, cfg app.Config, files []string) ([]nlieval.Scorer, func() error, error) {
	dir, chosen, err := app.ModelFolder(cfg)
	if err != nil {
		return nil, nil, err
	}
	lib, err := app.ORTLibrary(cfg)
	if err != nil {
		return nil, nil, err
	}
	if files == nil {
		files = []string{chosen}
		const int8 = "model_int8.onnx"
		if _, err := os.Stat(filepath.Join(dir, int8)); err == nil && chosen != int8 {
			files = append(files, int8)
		}
	}
	var models []nlieval.Scorer
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	for _, file := range files {
		s, err := onnx.OpenScorer(
			onnx.Options{Dir: dir, File: file, Library: lib, Device: "cpu", Log: app.NewLogger(cmd.ErrOrStderr(), cfg)},
			nli.BatcherOptions{MaxRows: 1},
		)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("opening %s in %s: %w", file, dir, err), closeAll())
		}
		closers = append(closers, s.Close)
		models = append(models, nlieval.Scorer{File: s.Info().File, Scorer: s})
	}
	return models, closeAll, nil
}

func writePredictions(path string, predictions []nlieval.Prediction) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, p := range predictions {
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the predictions: %w", err)
	}
	return nil
}

// writeCardTable renews the table in a Markdown file.
func writeCardTable(path string, r nlieval.Report) error {
	first := r.Models[0]
	head := fmt.Sprintf("Measured on %s, model `%s@%.12s`, in percent with 95 %% bootstrap intervals by premise.\n\n",
		time.Now().UTC().Format(time.DateOnly), first.Name, first.Hash)
	return docblock.Renew(path, "eval-nli", head+r.Markdown())
}
