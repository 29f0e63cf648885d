package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bench"
)

func benchCommand() *cobra.Command {
	var o bench.Options
	var out, profile string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the pipeline beside bare JetStream",
		Long: "bench drives the pipeline with judges that cost nothing and, in turn, bare\n" +
			"JetStream with the same streams, messages and bytes, and prints both rates.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			cfg.LogLevel = "warn"
			o.Log = app.NewLogger(cmd.ErrOrStderr(), cfg)
			o.Progress = cmd.ErrOrStderr()
			if profile != "" {
				f, err := os.Create(profile)
				if err != nil {
					return fmt.Errorf("writing the profile: %w", err)
				}
				if err := pprof.StartCPUProfile(f); err != nil {
					return errors.Join(err, f.Close())
				}
				defer func() { pprof.StopCPUProfile(); err = errors.Join(err, f.Close()) }()
			}
			r, err := bench.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(),
				"pipeline          %8.0f steps/s  %6.0f us CPU a step\nbare JetStream    %8.0f steps/s  %6.0f us CPU a step\nratio             %8.2f\nmessages a step   %8.2f\nbytes a step      %8.0f\n",
				r.StepsPerSecond, r.CPUPerStep, r.BareStepsPerSecond, r.BareCPUPerStep, r.Ratio, r.MessagesPerStep, r.BytesPerStep)
			if out == "" {
				return nil
			}
			b, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				return err
			}
			return os.WriteFile(out, append(b, '\n'), 0o644)
		},
	}
	cmd.Flags().IntVar(&o.Steps, "steps", 20_000, "steps to push through")
	cmd.Flags().IntVar(&o.Bytes, "bytes", 2048, "about the size of a step")
	cmd.Flags().IntVar(&o.Window, "window", 256, "publishes under way at once")
	cmd.Flags().IntVar(&o.Workers, "workers", 32, "workers a stage")
	cmd.Flags().StringVar(&out, "out", "", "also write the figures to this file (JSON)")
	cmd.Flags().StringVar(&profile, "cpuprofile", "", "write a CPU profile to this file")
	app.AddFlags(cmd.Flags(), "bench")
	return cmd
}
