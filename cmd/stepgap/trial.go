package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/internal/docblock"
	"github.com/stepgap/stepgap/internal/llmtrial"
	"github.com/stepgap/stepgap/pkg/schema"
)

func trialCommand() *cobra.Command {
	var o llmtrial.Options
	var price cost.Price
	var cached float64
	var out, docs string
	var stages []string
	letters := map[string]schema.Stage{"A": schema.StageEntity, "B": schema.StageAbstain, "C": schema.StageQuote}
	cmd := &cobra.Command{
		Use:   "trial [flags] -- SERVE-FLAGS",
		Short: "Measure a language model as judge of A, B and C",
		Long: "trial sends hand-written steps through `stepgap serve`, one stage at a time judged\n" +
			"by the model that SERVE-FLAGS name, and prints how often the stage was right, how\n" +
			"long it took and what it cost. It fails if an item gets no verdict, if a quote\n" +
			"comes from outside the evidence, or if a stage is no better than a constant.",
		Example: "  stepgap trial --out trial.json -- --llm-url http://127.0.0.1:8000/v1 --llm-model Qwen/Qwen2.5-7B-Instruct",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range stages {
				stage, ok := letters[s]
				if !ok {
					return fmt.Errorf("--stages: %q is none of A, B, C", s)
				}
				o.Stages = append(o.Stages, stage)
			}
			var err error
			if o.Price, err = trialPrice(cmd, price, cached); err != nil {
				return err
			}
			if o.Program, err = os.Executable(); err != nil {
				return fmt.Errorf("finding this program: %w", err)
			}
			o.Flags, o.Progress, o.Log = args, cmd.ErrOrStderr(), io.Discard
			o.Date = time.Now().UTC().Format(time.DateOnly)
			r, err := llmtrial.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			return trialDone(cmd.OutOrStdout(), r, out, docs)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&stages, "stages", []string{"A", "B", "C"}, "stages to try")
	flags.BoolVar(&o.Twice, "twice", false, "send every item twice, under two runs, and count the outcomes that differ")
	flags.IntVar(&o.Pad, "pad", 0, "send every item of B and C again with so many bytes of unrelated text beside each passage, and count the outcomes that differ")
	flags.DurationVar(&o.Limit, "limit", 5*time.Minute, "time for one item")
	flags.Float64Var(&price.In, "price-in", 0, "price of a million input tokens")
	flags.Float64Var(&cached, "price-cached", 0, "price of a million input tokens that the endpoint had cached (default: --price-in)")
	flags.Float64Var(&price.Out, "price-out", 0, "price of a million output tokens")
	flags.StringVar(&out, "out", "", "also write the figures to this file (JSON)")
	flags.StringVar(&docs, "docs", "", "also renew the tables between the markers of this file (Markdown)")
	return cmd
}

// trialPrice is the price of the flags; nil where none was given.
func trialPrice(cmd *cobra.Command, price cost.Price, cached float64) (*cost.Price, error) {
	given := cmd.Flags().Changed
	if !given("price-in") && !given("price-out") && !given("price-cached") {
		return nil, nil
	}
	if !given("price-cached") {
		cached = price.In
	}
	price.Cached = &cached
	return &price, price.Validate()
}

// trialDone prints and writes what was measured, and then judges it, so that
// figures that fall short are kept too.
func trialDone(to io.Writer, r llmtrial.Report, out, docs string) error {
	text := llmtrial.Markdown(r)
	if _, err := io.WriteString(to, text); err != nil {
		return err
	}
	if err := writeJSON(out, r); err != nil {
		return err
	}
	if docs != "" {
		if err := docblock.Renew(docs, "measured", text); err != nil {
			return err
		}
	}
	return llmtrial.Passed(r)
}
