package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/nli/soak"
)

func soakNLICommand() *cobra.Command {
	o := soak.Options{}
	var out string
	cmd := &cobra.Command{
		Use:   "soak-nli",
		Short: "Score a great many pairs and watch the memory",
		Long: "soak-nli scores pairs of random lengths, all different, by the NLI model of the\n" +
			"settings, and prints the process's resident memory as it goes. It fails if a\n" +
			"tensor is left at the end.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if o.Pairs < 1 || o.Samples < 1 || o.Callers < 1 || o.Batch < 1 || o.Words < 1 {
				return errors.New("--pairs, --samples, --callers, --batch and --words must be above 0")
			}
			scorer, err := app.OpenScorer(cfg, app.NewLogger(cmd.ErrOrStderr(), cfg))
			if err != nil {
				return err
			}
			o.Progress = func(s soak.Sample) {
				fmt.Fprintf(cmd.ErrOrStderr(), "%9d pairs  %7.1f MiB resident  %6.1f MiB of it Go's heap  %3d tensors\n", s.Pairs, s.RSS, s.GoHeap, s.Tensors)
			}
			report, err := soak.Run(cmd.Context(), scorer, o)
			err = errors.Join(err, scorer.Close())
			report.Tensors = scorer.Tensors()
			if err := errors.Join(err, writeJSON(out, report)); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d pairs by %s on %s: %.0f a second, padding %.1f %%; resident %.1f MiB after %d pairs, %.1f at most after that, %.1f at the end (%+.1f MiB a million pairs); %d tensors left\n",
				report.Pairs, report.Model, report.Device, report.PairsASec, 100*report.Padding,
				report.WarmRSS, report.WarmPairs, report.LargestRSS, report.LastRSS, report.PerMillion, report.Tensors)
			if report.Tensors != 0 {
				return fmt.Errorf("%d tensors were not freed", report.Tensors)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Pairs, "pairs", 1_000_000, "pairs to score")
	flags.IntVar(&o.Callers, "callers", 64, "requests under way at once")
	flags.IntVar(&o.Batch, "batch", 4, "pairs a request")
	flags.IntVar(&o.Words, "words", 240, "most words of a premise")
	flags.IntVar(&o.Samples, "samples", 100, "times that memory is looked at")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the pairs")
	flags.StringVar(&out, "out", "", "also write the figures to this file (JSON)")
	app.AddFlags(flags, "bench")
	return cmd
}
