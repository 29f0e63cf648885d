package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/spend"
)

func spendCommand() *cobra.Command {
	var limit float64
	var reset, asJSON bool
	cmd := &cobra.Command{
		Use:   "spend",
		Short: "Print what an account has spent on language models, or change its cap",
		Long: "spend prints what the processes of an account have spent on language models, and\n" +
			"whether its cap holds their stages back. A cap that is raised takes effect at once.",
		Example: "  stepgap spend --nats nats://127.0.0.1:4222\n  stepgap spend --cap 50 --nats nats://127.0.0.1:4222",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			conn, err := busOf(cmd, cfg)
			if err != nil {
				return err
			}
			defer conn.Close()
			ctx := cmd.Context()
			bucket, err := conn.JS.KeyValue(ctx, bus.BucketSpend)
			if err != nil {
				return fmt.Errorf("opening bucket %s: %w", bus.BucketSpend, err)
			}
			if reset {
				if err := spend.Reset(ctx, bucket, cfg.SpendAccount); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("cap") {
				if err := spend.SetCap(ctx, bucket, cfg.SpendAccount, limit); err != nil {
					return err
				}
			}
			s, err := spend.Read(ctx, bucket, cfg.SpendAccount)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(s)
			}
			text := fmt.Sprintf("account %s: %.6f spent", cfg.SpendAccount, s.Spent)
			switch {
			case s.Stopped:
				text += fmt.Sprintf(", cap %v reached: stages that ask a language model don't pull", *s.Cap)
			case s.Cap != nil:
				text += fmt.Sprintf(", cap %v", *s.Cap)
			default:
				text += ", no cap"
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().Float64Var(&limit, "cap", 0, "set the cap; 0 removes it")
	cmd.Flags().BoolVar(&reset, "reset", false, "count from 0 again")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	app.AddFlags(cmd.Flags(), "client")
	return cmd
}
