package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

func rewardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reward",
		Short: "Reward profiles: list, show, check, tune; audit a run's rewards",
		Long:  "reward looks after the profiles that turn labels into numbers; see docs/rewards.md.",
	}
	cmd.AddCommand(rewardProfilesCommand(), rewardShowCommand(), rewardCheckCommand(), rewardSchemaCommand(), rewardTuneCommand(), rewardAuditCommand())
	return cmd
}

// profileView is a profile as programs read it, with its hash and sources.
type profileView struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Hash        string             `json:"hash"`
	Profile     *rewardagg.Profile `json:"profile"`
	Sources     map[string]string  `json:"sources"`
}

func viewOf(p *rewardagg.Profile) profileView {
	v := profileView{Name: p.Name, Description: p.Description, Hash: p.Hash(), Profile: p, Sources: map[string]string{}}
	for _, m := range p.Magnitudes() {
		v.Sources[m.Field] = m.Source
	}
	return v
}

func rewardProfilesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List the built-in profiles",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var views []profileView
			for _, name := range rewardagg.Profiles() {
				p, err := rewardagg.LoadProfile(name)
				if err != nil {
					return err
				}
				views = append(views, viewOf(p))
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(views)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "profile\thash\twhat it is")
			for _, v := range views {
				name := v.Name
				if name == rewardagg.DefaultProfile {
					name += " (default)"
				}
				fmt.Fprintf(w, "%s\t%.12s\t%s\n", name, v.Hash, v.Description)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

func rewardShowCommand() *cobra.Command {
	var asJSON, asYAML bool
	cmd := &cobra.Command{
		Use:     "show NAME|FILE",
		Short:   "Show a profile: every magnitude and where it comes from",
		Example: "  stepgap reward show stepgap\n  stepgap reward show paper --yaml > mine.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := rewardagg.LoadProfile(args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON && asYAML:
				return errors.New("give --json or --yaml, not both")
			case asJSON:
				return json.NewEncoder(out).Encode(viewOf(p))
			case asYAML:
				b, err := rewardagg.ReadProfile(args[0])
				if err == nil {
					_, err = out.Write(b)
				}
				return err
			}
			fmt.Fprintf(out, "%s  %s\n%s\n\n", p.Name, p.Hash(), p.Description)
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			for _, m := range p.Magnitudes() {
				fmt.Fprintf(w, "%s\t%v\t%s\n", m.Field, m.Value, m.Source)
			}
			fmt.Fprintf(w, "divide\tgains by %s, penalties by %s\t\n", p.Divide.Gains, p.Divide.Penalties)
			fmt.Fprintf(w, "unpaid\t%v\t\n", p.Unpaid)
			fmt.Fprintf(w, "cap_gaps\t%v\t\n", p.CapGaps)
			fmt.Fprintf(w, "bridge_search\tnames by %s, values %v\t\n", p.BridgeSearch.Names, p.BridgeSearch.Values)
			fmt.Fprintf(w, "retraction\tmode %s, %d patterns\t\n", p.Retraction.Mode, len(p.Retraction.Patterns))
			fmt.Fprintf(w, "outcome.metric\t%s\t\n", p.Outcome.Metric)
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "print the profile's file, to start one's own from")
	return cmd
}

func rewardCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check a profile's file; the first fault is named with its place",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := rewardagg.LoadProfile(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: profile %s is sound, hash %s\n", args[0], p.Name, p.Hash())
			return err
		},
	}
}

func rewardSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a profile's file, for editors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(rewardagg.ProfileSchema())
			return err
		},
	}
}
