package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/audit"
	"github.com/stepgap/stepgap/internal/runlog"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// codeSuspicious is the exit code of an audit that found something.
const codeSuspicious = 3

// suspicion ends the program with its own code, so that a script can tell a
// suspicious run from an audit that failed.
type suspicion struct{ findings int }

func (s suspicion) Error() string {
	return fmt.Sprintf("%d suspicious findings; see docs/rewards.md", s.findings)
}

func (s suspicion) ExitCode() int { return codeSuspicious }

func rewardAuditCommand() *cobra.Command {
	var files, limits []string
	var asJSON bool
	var rules string
	o := audit.Defaults(nil)
	cmd := &cobra.Command{
		Use:   "audit [RUN]",
		Short: "Look for a policy that farms its rewards",
		Long: "audit counts what farming looks like in a run: retractions, repeated queries,\n" +
			"steps that add nothing, abstentions, and how they and the labels changed over\n" +
			"the run. It reads only. It ends with code 3 if something is suspicious.",
		Example: "  stepgap reward audit tuesday --nats nats://127.0.0.1:4222\n" +
			"  stepgap reward audit --in labels.jsonl --in rewards.jsonl --json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			profile, err := rewardagg.LoadProfile(rules)
			if err != nil {
				return err
			}
			o.Rules = profile
			if err := setLimits(o.Limits, limits); err != nil {
				return err
			}
			a, err := audit.New(o)
			if err != nil {
				return err
			}
			run := ""
			if len(args) > 0 {
				run = args[0]
			}
			err = eachRollout(cmd, run, files, func(r *runlog.Rollout) error {
				a.Add(r)
				return nil
			})
			if err != nil {
				return err
			}
			report := a.Report()
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			} else {
				err = audit.WriteText(cmd.OutOrStdout(), report)
			}
			if err == nil && report.Suspicious() {
				return suspicion{report.Suspicions()}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&rules, "rules", rewardagg.DefaultProfile, "profile whose rules say what adds nothing, whatever the run's own pays")
	cmd.Flags().IntVar(&o.Windows, "windows", o.Windows, "equal parts of the run, in the order of its rewards, in which drift is looked for")
	cmd.Flags().Float64Var(&o.Alpha, "alpha", o.Alpha, "chance of reporting any change where nothing changed")
	cmd.Flags().Float64Var(&o.Rise, "rise", o.Rise, "least change of a share, from the first window to the last, that matters")
	cmd.Flags().StringArrayVar(&limits, "limit", nil, "SIGNAL=SHARE: share above which a signal is suspicious by itself; may be repeated")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	addSourceFlags(cmd, &files)
	return cmd
}

func setLimits(into map[audit.Signal]float64, given []string) error {
	for _, l := range given {
		signal, share, ok := strings.Cut(l, "=")
		value, err := strconv.ParseFloat(share, 64)
		if !ok || err != nil {
			return fmt.Errorf("--limit %q: give SIGNAL=SHARE, such as vacuous=0.3", l)
		}
		into[audit.Signal(signal)] = value
	}
	return nil
}
