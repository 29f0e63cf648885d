package main

import (
	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/eval/matrix"
	"github.com/stepgap/stepgap/internal/eval/systems"
)

func evalRunCommand() *cobra.Command {
	var f evalFlags
	var out, name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run --set SET...",
		Short: "Label sets by one system and say how good it is",
		Long: "run has the judges that the settings name label sets of steps, through the whole\n" +
			"pipeline, and reports how good they are. Predictions stand in OUT/<set>/<name>.jsonl;\n" +
			"a run that was cut goes on with the rollouts that lack them.",
		Example: "  stepgap eval run --set own --name hybrid --out runs\n" +
			"  stepgap eval run --set my-steps.jsonl --judge nli-only --name nli-only --out runs",
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
			if name == "" {
				name = systems.Hybrid
				if cfg.Judge != "" && cfg.Judge != "auto" {
					name = cfg.Judge
				}
			}
			bar := newEvalBar(cmd, f.quiet)
			predicting, err := f.predicting(cmd, cfg, bar)
			if err != nil {
				return err
			}
			study, err := matrix.Run(cmd.Context(), sets, []systems.System{systems.Of(name, cfg)}, matrix.Options{Options: predicting, Dir: out, Each: bar.begin})
			bar.end()
			if err != nil {
				return err
			}
			return f.finish(cmd, study, out+"/"+name, asJSON)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&out, "out", "eval", "folder of predictions and reports")
	cmd.Flags().StringVar(&name, "name", "", "name of the system; default: that of its judge, or hybrid")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}
