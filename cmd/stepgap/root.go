package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
)

func newRoot(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "stepgap",
		Short: "Typed step rewards for search agents",
		Long: "StepGap checks every step of a search agent against its evidence, says which\n" +
			"step broke and how to repair it, and turns that into per-step rewards.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(), checkCommand(), publishCommand(), watchCommand(), demoCommand(), benchCommand(), trialCommand(), benchJudgeCommand(), benchNLICommand(version), soakNLICommand(), evalNLICommand(), costCommand(), spendCommand(), rewardCommand(), rescoreCommand(), modelsCommand(version), distillCommand(), evalCommand(), configCommand(), healthcheckCommand(), versionCommand(version))
	return root
}

// load reads the settings of a command.
func load(cmd *cobra.Command) (app.Config, error) {
	return app.LoadConfig(cmd.Flags(), os.Environ)
}
