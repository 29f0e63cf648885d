package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

// stepSetsCommand is the command for sets of labelled steps.
func stepSetsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sets",
		Short: "List, build and check sets of labelled steps",
		Long: "sets lists the sets of labelled steps that come with StepGap or can be built from\n" +
			"public data, builds them, and checks files of your own. docs/step-sets.md describes\n" +
			"the format.",
	}
	cmd.AddCommand(stepSetsListCommand(), stepSetsBuildCommand(), stepSetsCheckCommand())
	return cmd
}

func stepSetsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the sets that there are",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			type entry struct {
				Name  string `json:"name"`
				Needs string `json:"needs_data"`
				About string `json:"about"`
			}
			list := []entry{{stepset.OwnName, "no", "written by hand for this project"}}
			for _, name := range stepset.Names() {
				list = append(list, entry{name, "yes", stepset.About(name)})
			}
			if asJSON {
				return indentJSON(cmd.OutOrStdout(), list)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\tneeds data\twhat it is")
			for _, e := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, e.Needs, e.About)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func stepSetsBuildCommand() *cobra.Command {
	var data, out string
	var only []string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build sets from a folder of public data",
		Long: "build writes each set to NAME.jsonl in the output folder. The same data give the same\n" +
			"bytes. The set that comes with StepGap, own, needs no data.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(only) == 0 {
				only = append([]string{stepset.OwnName}, stepset.Names()...)
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("making the output folder: %w", err)
			}
			for _, name := range only {
				set, err := stepSetNamed(data, name)
				if err != nil {
					return err
				}
				path := filepath.Join(out, name+".jsonl")
				if err := set.Save(path); err != nil {
					return err
				}
				if err := describeSet(cmd.OutOrStdout(), path, &set); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", os.Getenv("STEPGAP_DATA"), "folder of the public data")
	cmd.Flags().StringVar(&out, "out", "sets", "folder to write to")
	cmd.Flags().StringSliceVar(&only, "only", nil, "names of the sets to build; default: all")
	return cmd
}

func stepSetNamed(data, name string) (stepset.Set, error) {
	if name == stepset.OwnName {
		return stepset.Own()
	}
	return stepset.Build(data, name)
}

func stepSetsCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check files of labelled steps and print what they hold",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			for _, path := range paths {
				set, err := stepset.Open(path)
				if err != nil {
					return err
				}
				if err := describeSet(cmd.OutOrStdout(), path, &set); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// describeSet prints a set's counts in one line.
func describeSet(to io.Writer, path string, set *stepset.Set) error {
	hash, err := set.Hash()
	if err != nil {
		return err
	}
	c := set.Count()
	_, err = fmt.Fprintf(to, "%s: %d steps of %d questions (%s %d, %s %d, %s %d, %s %d; %d conclusions, %d abstentions, %d steps of context), sha256 %.12s\n",
		path, c.Steps, c.Questions,
		schema.GapNone, c.Labels[schema.GapNone], schema.GapContradicted, c.Labels[schema.GapContradicted],
		schema.GapIrrelevant, c.Labels[schema.GapIrrelevant], schema.GapMissingBridge, c.Labels[schema.GapMissingBridge],
		c.Kinds[schema.KindConclusion], c.Abstains, c.Context, hash)
	return err
}
