package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/pkg/schema"
)

func evalWrongCommand() *cobra.Command {
	var gold, pred string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "wrong FILE",
		Short:   "Print the steps of a file of predictions whose label is wrong",
		Example: "  stepgap eval wrong eval/own/hybrid.jsonl --gold CC --pred OK",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := gapNamed(gold)
			if err != nil {
				return err
			}
			p, err := gapNamed(pred)
			if err != nil {
				return err
			}
			f, err := predict.Read(args[0])
			if err != nil {
				return err
			}
			list := f.Wrong(g, p)
			if !asJSON {
				return predict.WriteWrong(cmd.OutOrStdout(), list)
			}
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetEscapeHTML(false)
			for _, w := range list {
				if err := enc.Encode(w); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&gold, "gold", "", "only those with this gold label: OK, CC, IE, MB, or its name")
	cmd.Flags().StringVar(&pred, "pred", "", "only those with this prediction: one of the same, or ungraded")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a step")
	return cmd
}

// gapNamed reads a label's name or its two letters; empty for none.
func gapNamed(s string) (schema.Gap, error) {
	if s == "" {
		return "", nil
	}
	for _, g := range schema.Gaps() {
		if s == string(g) || strings.EqualFold(s, g.Short()) {
			return g, nil
		}
	}
	return "", fmt.Errorf("%q is no label; use OK, CC, IE, MB or ungraded", s)
}
