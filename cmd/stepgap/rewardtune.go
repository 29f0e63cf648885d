package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/runlog"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

func rewardTuneCommand() *cobra.Command {
	var run, from, out string
	var files []string
	var asJSON bool
	o := rewardagg.TuneOptions{}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Propose magnitudes for a model from a sample of its own rollouts",
		Long: "tune scores a sample of a model's rollouts, in groups, under a profile, and\n" +
			"multiplies every magnitude by one factor, so that the process reward's spread\n" +
			"within groups is a share of the weighted outcome's. Signs, order and rules stay.\n" +
			"It refuses a sample that is too small, and says what is missing.",
		Example: "  stepgap reward tune --run sample --nats nats://127.0.0.1:4222 --model my-8b --out my-8b.yaml\n" +
			"  stepgap reward tune --in labels.jsonl --in rewards.jsonl --profile paper --out mine.yaml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return errors.New("where to write the profile? give --out FILE")
			}
			src, err := rewardagg.ReadProfile(from)
			if err != nil {
				return err
			}
			p, err := rewardagg.ParseProfile(src)
			if err != nil {
				return fmt.Errorf("reward profile %s: %w", from, err)
			}
			var sample []rewardagg.Scored
			err = eachRollout(cmd, run, files, func(r *runlog.Rollout) error {
				again, err := rewardagg.Again(r.Reward, r.Labels, p)
				if err != nil {
					return err
				}
				sample = append(sample, rewardagg.Scored{Group: again.Group, Process: again.Process, Outcome: p.Outcome.Metric.Of(again.Outcome)})
				return nil
			})
			if err != nil {
				return err
			}
			if o.Sample = "files " + baseNames(files); run != "" {
				o.Sample = "run " + run
			}
			if o.Name == "" {
				o.Name = p.Name + "-tuned"
			}
			tuned, err := rewardagg.Tune(src, sample, o)
			if err != nil {
				return err
			}
			if err := os.WriteFile(out, tuned.YAML, 0o644); err != nil {
				return fmt.Errorf("writing the profile: %w", err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(tuned)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: profile %s, every magnitude of %s times %.4g\n"+
				"spread within groups: process %.4f, weighted outcome %.4f; %d rollouts in %d groups, %d left out\n",
				out, o.Name, p.Name, tuned.Factor, tuned.ProcessSpread, tuned.OutcomeSpread, tuned.Rollouts, tuned.Groups, tuned.Left)
			return err
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "run to take the sample from")
	cmd.Flags().StringVar(&from, "profile", rewardagg.DefaultProfile, "profile to start from: a name or a file")
	cmd.Flags().StringVar(&out, "out", "", "file to write the new profile to")
	cmd.Flags().StringVar(&o.Name, "name", "", "name of the new profile; empty adds -tuned to the old one's")
	cmd.Flags().StringVar(&o.Model, "model", "", "model that wrote the rollouts, for the magnitudes' sources")
	cmd.Flags().Float64Var(&o.Share, "share", 0.5, "spread of the process reward, as a share of the weighted outcome's")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	addSourceFlags(cmd, &files)
	return cmd
}

// baseNames leaves folders out: a profile is passed on, and they are the machine's.
func baseNames(files []string) string {
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return strings.Join(names, ", ")
}
