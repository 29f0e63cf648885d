package main

import (
	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/eval/compare"
	"github.com/stepgap/stepgap/internal/eval/predict"
)

func evalCompareCommand() *cobra.Command {
	var boot bootstrap
	var asJSON, list bool
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two files of predictions, in pairs",
		Long: "compare reads two files of predictions of the same steps and gives both systems'\n" +
			"metrics and their difference, B less A, with a paired interval over questions. A *\n" +
			"marks a difference whose interval does not hold 0.",
		Example: "  stepgap eval compare eval/own/nli-only.jsonl eval/own/hybrid.jsonl --list",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := predict.Read(args[0])
			if err != nil {
				return err
			}
			b, err := predict.Read(args[1])
			if err != nil {
				return err
			}
			r, err := compare.Of(cmd.Context(), a, b, boot.options())
			if err != nil {
				return err
			}
			if asJSON {
				return r.WriteJSON(cmd.OutOrStdout())
			}
			return r.WriteText(cmd.OutOrStdout(), list)
		},
	}
	boot.flags(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "also print each step that is labelled differently")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
