package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/pkg/schema"
)

func costCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cost RUN",
		Short: "Print what the judges of a run spent",
		Long: "cost adds up the trails of a run's labels, by stage and model: verdicts, calls,\n" +
			"cache hits, tokens, latency, and the cost where prices are given. It makes no\n" +
			"calls; a run's ledger stands as long as its labels do.",
		Example: "  stepgap cost tuesday --nats nats://127.0.0.1:4222 --price-in 0.15 --price-out 0.6",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			run := args[0]
			if err := schema.CheckID("run", run); err != nil {
				return err
			}
			prices, err := app.PricesOf(cfg)
			if err != nil {
				return err
			}
			conn, err := busOf(cmd, cfg)
			if err != nil {
				return err
			}
			defer conn.Close()
			var ledger cost.Ledger
			err = bus.EachLabel(cmd.Context(), conn.JS, run, func(l *schema.Label) error {
				ledger.Add(l)
				return nil
			})
			if err != nil {
				return err
			}
			bill := ledger.Bill(run, prices)
			if bill.Labels == 0 {
				return fmt.Errorf("no label of run %s stands", run)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(bill)
			}
			return writeBill(cmd.OutOrStdout(), bill)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	app.AddFlags(cmd.Flags(), "client")
	return cmd
}

// busOf connects to the server of --nats.
func busOf(cmd *cobra.Command, cfg app.Config) (*bus.Conn, error) {
	if cfg.NATS == "" {
		return nil, fmt.Errorf("%s needs the NATS server: give its URL with --nats (or STEPGAP_NATS)", cmd.Name())
	}
	return bus.Connect(cmd.Context(), bus.Config{
		URL: cfg.NATS, Name: "stepgap " + cmd.Name(), Creds: cfg.NATSCreds, NKey: cfg.NATSNKey, CA: cfg.NATSCA,
		Log: app.NewLogger(cmd.ErrOrStderr(), cfg),
	})
}

func writeBill(to io.Writer, b cost.Bill) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "stage\tjudge\tmodel\tverdicts\tcached verdicts\tcalls\tof these extra\ttokens in\tof these cached\ttokens out\tmean latency\tcost\t")
	row := func(stage, judge, model string, u cost.Usage, priced bool) {
		price := ""
		if priced {
			price = "unknown"
		}
		if u.Cost != nil {
			price = fmt.Sprintf("%.6f", *u.Cost)
		}
		mean := time.Duration(0)
		if u.Verdicts > 0 {
			mean = u.Latency / time.Duration(u.Verdicts)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n", stage, judge, model,
			u.Verdicts, u.CacheHits, u.Calls, u.Extra, u.TokensIn, u.TokensCached, u.TokensOut, mean.Round(100*time.Microsecond), price)
	}
	for _, l := range b.Lines {
		row(l.Stage.Letter(), l.Judge, l.Model, l.Usage, l.Judge == "llm")
	}
	row("total", "llm", "", b.Total, true)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "%d labels, %d of them ungraded\n", b.Labels, b.Ungraded)
	if err == nil && len(b.Unpriced) > 0 {
		_, err = fmt.Fprintf(to, "no price for %s: give --price-in and --price-out, or --prices\n", strings.Join(b.Unpriced, ", "))
	}
	return err
}
