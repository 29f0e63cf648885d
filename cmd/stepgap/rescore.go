package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/rescore"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

func rescoreCommand() *cobra.Command {
	var run, profile string
	var asJSON bool
	o := rescore.Options{Was: nliworker.ThresholdsOf(nliworker.Defaults())}
	cmd := &cobra.Command{
		Use:   "rescore",
		Short: "Compute a run's rewards anew, under another profile or other thresholds",
		Long: "rescore computes the rewards of a run anew under a profile, and with --entail or\n" +
			"--contradict its labels under other thresholds, from the labels' trails alone: no\n" +
			"model is asked. The result is another run; the run itself is not altered. Labels\n" +
			"that a trail does not suffice for become ungraded(not_in_trail).",
		Example: "  stepgap rescore --run tuesday --profile paper --as tuesday-paper --nats nats://127.0.0.1:4222\n" +
			"  stepgap rescore --run tuesday --entail 0.7 --as tuesday-strict --nats nats://127.0.0.1:4222",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("entail") {
				o.Now.Entailment = o.Was.Entailment
			}
			if !cmd.Flags().Changed("contradict") {
				o.Now.Contradiction = o.Was.Contradiction
			}
			var err error
			if o.Profile, err = rewardagg.LoadProfile(profile); err != nil {
				return err
			}
			if err := o.Validate(run); err != nil {
				return err
			}
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			conn, err := busOf(cmd, cfg)
			if err != nil {
				return err
			}
			defer conn.Close()
			bar := newReporter(cmd, asJSON, false)
			report, err := rescore.Run(cmd.Context(), conn, run, o, func(n int) { bar.progress(n, n) })
			if bar.bar != nil {
				_ = bar.bar.Finish()
			}
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			}
			return writeRescored(cmd.OutOrStdout(), report)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "run to compute anew")
	cmd.Flags().StringVar(&o.As, "as", "", "run that the results belong to; a fresh id")
	cmd.Flags().StringVar(&profile, "profile", rewardagg.DefaultProfile, "reward profile: a name or a file")
	cmd.Flags().Float64Var(&o.Now.Entailment, "entail", 0, "threshold of entailment; not given: as it was")
	cmd.Flags().Float64Var(&o.Now.Contradiction, "contradict", 0, "threshold of contradiction; not given: as it was")
	cmd.Flags().Float64Var(&o.Was.Entailment, "was-entail", o.Was.Entailment, "threshold of entailment that the run was labelled under")
	cmd.Flags().Float64Var(&o.Was.Contradiction, "was-contradict", o.Was.Contradiction, "threshold of contradiction that the run was labelled under")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	app.AddFlags(cmd.Flags(), "client")
	return cmd
}

func writeRescored(to io.Writer, r rescore.Report) error {
	fmt.Fprintf(to, "run %s as %s, profile %s (%.12s): %d rollouts, %d labels, %d null rewards\n",
		r.Run, r.As, r.Profile, r.Hash, r.Rollouts, r.Labels, r.Null)
	for _, change := range slices.Sorted(maps.Keys(r.Changes)) {
		fmt.Fprintf(to, "  %5d  %s\n", r.Changes[change], change)
	}
	var err error
	if r.NotInTrail > 0 {
		_, err = fmt.Fprintf(to, "%d labels would take scores that their trails don't hold, and are ungraded(not_in_trail); label the rollouts again to know them\n", r.NotInTrail)
	}
	return err
}
