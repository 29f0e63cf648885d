package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/pkg/schema"
)

func versionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "stepgap %s (wire %s, %s, %s/%s)\n", version, schema.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
