package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/pkg/schema"
)

func watchCommand() *cobra.Command {
	var run string
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:       "watch labels|rewards",
		Short:     "Follow labels or rewards as they are given",
		Example:   "  stepgap watch rewards --nats nats://127.0.0.1:4222 --run tuesday",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"labels", "rewards"},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			filter := run
			if filter == "" {
				filter = "*"
			} else if err := schema.CheckID("run", run); err != nil {
				return err
			}
			c, closeClient, err := dial(cmd, cfg)
			if err != nil {
				return err
			}
			defer closeClient()
			w := &watcher{cmd: cmd, json: asJSON, left: limit}
			if args[0] == "labels" {
				err = c.FollowLabels(cmd.Context(), filter, w.label)
			} else {
				err = c.FollowRewards(cmd.Context(), filter, w.reward)
			}
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "only this run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.Flags().IntVarP(&limit, "count", "n", 0, "stop after this many; 0 for never")
	app.AddFlags(cmd.Flags(), "client")
	return cmd
}

var errEnough = errors.New("enough")

type watcher struct {
	cmd  *cobra.Command
	json bool
	left int
}

func (w *watcher) print(v any, text string) error {
	out := w.cmd.OutOrStdout()
	var err error
	if w.json {
		err = json.NewEncoder(out).Encode(v)
	} else {
		_, err = fmt.Fprintln(out, text)
	}
	if w.left > 0 {
		if w.left--; w.left == 0 && err == nil {
			return errEnough
		}
	}
	return err
}

func (w *watcher) label(l *schema.Label) error {
	text := fmt.Sprintf("%s %s %d  %s %s", l.Run, l.Rollout, l.Index, l.Label.Short(), l.Label)
	if l.Reason != "" {
		text += " (" + string(l.Reason) + ")"
	}
	if l.Repair != schema.RepairNone {
		text += "  repair: " + string(l.Repair)
	}
	return w.print(l, text)
}

func (w *watcher) reward(r *schema.Reward) error {
	value := "null (" + string(r.Reason) + ")"
	if r.Process != nil {
		value = fmt.Sprintf("%+.4f", *r.Process)
	}
	return w.print(r, fmt.Sprintf("%s %s  %s  %d graded, %d ungraded", r.Run, r.Rollout, value, r.Graded, r.Ungraded))
}
