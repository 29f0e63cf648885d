package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/eval/flips"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
)

func evalFlipsCommand() *cobra.Command {
	var f evalFlags
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "flips",
		Short: "How often labels change when a set is labelled again",
		Long: "flips labels a set once, and then as it was, in another order, under four times\n" +
			"the load, and one step at a time, each in a pipeline of its own, and counts the\n" +
			"labels that differ from those of the first run.",
		Example: "  stepgap eval flips --set own --out flips",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.config(cmd)
			if err != nil {
				return err
			}
			if cfg.Store != "" {
				return errors.New("flips takes a fresh pipeline a run: leave --store out, or verdicts of earlier runs would answer")
			}
			sets, err := f.open(stepset.OwnName)
			if err != nil {
				return err
			}
			bar := newEvalBar(cmd, f.quiet)
			predicting, err := f.predicting(cmd, cfg, bar)
			if err != nil {
				return err
			}
			for _, set := range sets {
				r, err := flips.Run(cmd.Context(), set, systems.Of(systems.Hybrid, cfg), flips.Options{Options: predicting, Dir: out, Seed: f.seed, Each: bar.begin})
				bar.end()
				if err != nil {
					return err
				}
				write := r.WriteText
				if asJSON {
					write = r.WriteJSON
				}
				if err := write(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&out, "out", "flips", "folder of the runs' predictions; remove it to measure anew")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a set")
	return cmd
}
