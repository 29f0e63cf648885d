package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/eval/matrix"
	"github.com/stepgap/stepgap/internal/eval/report"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
)

// defaultSets are labelled where none is named: our own, and with a folder of
// data the largest built one and the real steps.
func (f *evalFlags) defaultSets() []string {
	if f.data == "" {
		return []string{stepset.OwnName}
	}
	return []string{stepset.OwnName, "musique", "steps_dev"}
}

func evalMatrixCommand() *cobra.Command {
	var f evalFlags
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "The whole study: systems, baselines, and each stage removed",
		Long: "matrix labels sets by the tree (hybrid), the tree without an NLI model (llm-only\n" +
			"where a language model is given, else rules-only), one language model in place of\n" +
			"the tree (single-llm), the NLI model by itself (nli-only) and a student where one\n" +
			"is given; by the first two without each stage; and by baselines that understand\n" +
			"nothing. It writes OUT.json, OUT.md and OUT.html, and predictions under OUT/,\n" +
			"which the next run goes on with where sets, settings and program are the same.",
		Example: "  stepgap eval matrix --out report/eval\n" +
			"  stepgap eval matrix --set my-steps.jsonl --llm-url http://127.0.0.1:8000/v1 --llm-model NAME --out study",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.config(cmd)
			if err != nil {
				return err
			}
			sets, err := f.open(f.defaultSets()...)
			if err != nil {
				return err
			}
			bar := newEvalBar(cmd, f.quiet)
			predicting, err := f.predicting(cmd, cfg, bar)
			if err != nil {
				return err
			}
			predicting.Models = &systems.Models{}
			list, missing := systems.Matrix(cfg)
			study, err := matrix.Run(cmd.Context(), sets, list, matrix.Options{Options: predicting, Dir: out, Each: bar.begin})
			bar.end()
			err = errors.Join(err, predicting.Models.Close())
			if err != nil {
				return err
			}
			study.Missing = missing
			if f.data == "" && len(f.sets) == 0 {
				study.Missing = append(study.Missing, "sets from public data: no folder was given (--data or STEPGAP_DATA)")
			}
			return f.finish(cmd, study, out, asJSON)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&out, "out", "eval", "folder of predictions, and the name of the reports beside it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// finish computes a study's figures, writes its reports and prints it.
func (f *evalFlags) finish(cmd *cobra.Command, study report.Study, out string, asJSON bool) error {
	r, err := report.Compute(cmd.Context(), study, f.options())
	if err != nil {
		return err
	}
	if err := writeReports(out, r); err != nil {
		return err
	}
	if asJSON {
		return r.WriteJSON(cmd.OutOrStdout())
	}
	return r.WriteText(cmd.OutOrStdout())
}
