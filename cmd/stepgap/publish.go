package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

func publishCommand() *cobra.Command {
	var src sources
	var asJSON, wait, quiet bool
	var run string
	o := check.Options{}
	cmd := &cobra.Command{
		Use:   "publish FILE...",
		Short: "Publish logged rollouts to a running pipeline",
		Long: "publish sends the steps and ends of logged rollouts to the pipeline at --nats.\n" +
			"With --wait it waits for their rewards and prints what check would print.",
		Example: "  stepgap publish --nats nats://127.0.0.1:4222 --run tuesday rollouts.jsonl",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if o.Run = run; run == "" {
				o.Run = freshRun()
			}
			if err := schema.CheckID("run", o.Run); err != nil {
				return err
			}
			if err := present(args); err != nil {
				return err
			}
			c, closeClient, err := dial(cmd, cfg)
			if err != nil {
				return err
			}
			defer closeClient()
			o.NoWait = !wait
			report := newReporter(cmd, asJSON, quiet)
			o.Progress = report.progress
			if wait {
				return errors.Join(report.finish(check.Run(cmd.Context(), c, src.rollouts(args), o, report.emit)), src.left())
			}
			summary, err := check.Run(cmd.Context(), c, src.rollouts(args), o, func(*check.Result) error { return nil })
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "run %s: %d rollouts, %d steps published in %.1f s\n", o.Run, summary.Rollouts, summary.Steps, summary.Seconds)
			return errors.Join(err, src.left())
		},
	}
	src.flags(cmd)
	cmd.Flags().StringVar(&run, "run", "", "id of the run; empty makes a fresh one")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the rewards and print the results")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --wait: print one JSON object a rollout")
	cmd.Flags().BoolVar(&o.Trail, "trail", false, "with --json: the whole trail of each label")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress bar")
	cmd.Flags().DurationVar(&o.Deadline, "step-deadline", 0, "deadline of each step; 0 for none")
	cmd.Flags().DurationVar(&o.EndDeadline, "end-deadline", 0, "how long labels are waited for after a rollout's end; 0 for a day")
	cmd.Flags().IntVar(&o.Window, "window", 32, "rollouts under way at once")
	app.AddFlags(cmd.Flags(), "client")
	return cmd
}

// dial connects a client to the server of --nats.
func dial(cmd *cobra.Command, cfg app.Config) (*client.Client, func(), error) {
	if cfg.NATS == "" {
		return nil, nil, errors.New("which pipeline? give its NATS server with --nats (or STEPGAP_NATS)")
	}
	conn, err := bus.Connect(cmd.Context(), bus.Config{
		URL: cfg.NATS, Name: "stepgap " + cmd.Name(), Creds: cfg.NATSCreds, NKey: cfg.NATSNKey, CA: cfg.NATSCA,
		Log: app.NewLogger(cmd.ErrOrStderr(), cfg),
	})
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(conn.NC)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return c, conn.Close, nil
}
