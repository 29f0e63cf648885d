package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
)

// eachRollout calls f with the rollouts of a run at --nats, or of files of labels
// and rewards ("-" is standard input). Several files are read as one.
func eachRollout(cmd *cobra.Command, run string, files []string, f func(*runlog.Rollout) error) error {
	if (run == "") == (len(files) == 0) {
		return errors.New("say what to read: a run of the server at --nats, or files of labels and rewards with --in")
	}
	if len(files) > 0 {
		return eachOfFiles(cmd, files, f)
	}
	if err := schema.CheckID("run", run); err != nil {
		return err
	}
	cfg, err := load(cmd)
	if err != nil {
		return err
	}
	conn, err := busOf(cmd, cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	return runlog.Each(cmd.Context(), conn.JS, run, f)
}

func eachOfFiles(cmd *cobra.Command, files []string, f func(*runlog.Rollout) error) error {
	var parts []io.Reader
	for _, name := range files {
		if name == "-" {
			parts = append(parts, cmd.InOrStdin())
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("reading labels and rewards: %w", err)
		}
		defer file.Close()
		parts = append(parts, file)
	}
	return runlog.Read(io.MultiReader(parts...), f)
}

func addSourceFlags(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "in", nil, "file of labels and rewards, one JSON object a line as `stepgap watch --json` prints them; may be repeated")
	app.AddFlags(cmd.Flags(), "client")
}
