package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/docblock"
	"github.com/stepgap/stepgap/internal/judgebench"
	"github.com/stepgap/stepgap/internal/transcript"
)

// judgeReport is build/report/bench-judge.json. A figure that was not measured
// is null, and its reason stands in Missing.
type judgeReport struct {
	Ratio           float64  `json:"calls_per_step_ratio"`
	RealRatio       float64  `json:"real_groups_ratio"`
	LabelsChanged   int      `json:"labels_changed"`
	Share429        *float64 `json:"share_429"`
	ThroughputShare *float64 `json:"throughput_share"`

	judgebench.Report
	Missing map[string]string `json:"missing,omitempty"`
}

// sharedLimit measures the limit that processes share: the share of calls that
// met a 429, and the throughput as a share of what the endpoint allows.
type sharedLimit func(context.Context) (share429, throughput float64, err error)

func benchJudgeCommand() *cobra.Command {
	o := judgebench.Options{}
	var data, out, docs string
	var skipLimit bool
	cmd := &cobra.Command{
		Use:   "bench-judge",
		Short: "Measure the calls of the judges beside a naive client",
		Long: "bench-judge labels groups of rollouts twice: by a client that asks A, B and C\n" +
			"about every step, and by the pipeline. Both ask an endpoint on loopback that\n" +
			"answers by rules. It prints how many calls a step each of them made, and whether\n" +
			"any label differs. The groups are those of a data set, and generated ones.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if data == "" {
				return errors.New("bench-judge measures how much alike the rollouts of a question are on a data set: give its folder with --data or STEPGAP_DATA")
			}
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			cfg.LogLevel = "warn"
			o.Config, o.Log, o.Progress = cfg, app.NewLogger(cmd.ErrOrStderr(), cfg), cmd.ErrOrStderr()
			rollouts, err := transcript.Open(filepath.Join(data, "rollouts", "normalized.jsonl"), transcript.Options{})
			if err != nil {
				return err
			}
			figures, err := judgebench.Run(cmd.Context(), rollouts, o)
			if err != nil {
				return err
			}
			limit := judgebench.SharedLimit
			if skipLimit {
				limit = nil
			}
			report := newJudgeReport(cmd.Context(), figures, limit)
			if err := writeJSON(out, report); err != nil {
				return err
			}
			printJudgeReport(cmd, report)
			if docs != "" {
				if err := writeJudgeTable(docs, report); err != nil {
					return err
				}
			}
			if report.LabelsChanged > 0 {
				return fmt.Errorf("%d labels differ from those of the naive client", report.LabelsChanged)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", os.Getenv("STEPGAP_DATA"), "folder of the data set")
	cmd.Flags().IntVar(&o.Generated, "groups", 24, "groups to generate")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of the generator")
	cmd.Flags().BoolVar(&skipLimit, "skip-limit", false, "leave out the shared limit, which takes a quarter of a minute")
	cmd.Flags().StringVar(&out, "out", "", "also write the figures to this file (JSON)")
	cmd.Flags().StringVar(&docs, "docs", "", "also renew the table in this Markdown file")
	app.AddFlags(cmd.Flags(), "bench")
	return cmd
}

func newJudgeReport(ctx context.Context, r judgebench.Report, limit sharedLimit) judgeReport {
	report := judgeReport{
		Ratio: r.Generated.Ratio, RealRatio: r.Real.Ratio, LabelsChanged: r.Generated.Changed + r.Real.Changed,
		Report: r, Missing: map[string]string{},
	}
	reason := "left out"
	if limit != nil {
		share, throughput, err := limit(ctx)
		if err == nil {
			report.Share429, report.ThroughputShare = &share, &throughput
			return report
		}
		reason = err.Error()
	}
	report.Missing["share_429"], report.Missing["throughput_share"] = reason, reason
	return report
}

func printJudgeReport(cmd *cobra.Command, r judgeReport) {
	w := cmd.OutOrStdout()
	for _, side := range []struct {
		name string
		s    judgebench.Side
	}{{"real groups", r.Real}, {"generated groups of 8", r.Generated}} {
		fmt.Fprintf(w, "%-22s %5d steps  %6.3f calls a step, naive %.3f  ratio %.3f  labels changed %d\n", side.name, side.s.Steps,
			float64(side.s.Calls)/float64(side.s.Steps), float64(side.s.NaiveCalls)/float64(side.s.Steps), side.s.Ratio, side.s.Changed)
		if side.s.First != "" {
			fmt.Fprintln(w, side.s.First)
		}
	}
	fmt.Fprintf(w, "same first query: real %.3f of %d pairs, generated %.3f of %d\n",
		r.Measured.SameQuery, r.Measured.Pairs, r.Reached.SameQuery, r.Reached.Pairs)
	if r.Share429 != nil {
		fmt.Fprintf(w, "shared limit: %.4f of the calls met a 429, throughput %.3f of what the endpoint allows\n", *r.Share429, *r.ThroughputShare)
	} else {
		fmt.Fprintln(w, "shared limit: not measured:", r.Missing["share_429"])
	}
}

// writeJudgeTable renews the table in a Markdown file.
func writeJudgeTable(path string, r judgeReport) error {
	rows := "| groups | steps | calls a step | a naive client's | ratio | labels changed | same first query |\n|---|---|---|---|---|---|---|\n"
	for _, side := range []struct {
		name string
		s    judgebench.Side
		same float64
	}{{"real groups", r.Real, r.Measured.SameQuery}, {"generated groups of 8", r.Generated, r.Reached.SameQuery}} {
		n := float64(side.s.Steps)
		rows += fmt.Sprintf("| %d %s | %d | %.2f | %.2f | %.3f | %d | %.2f of pairs |\n", side.s.Groups, side.name, side.s.Steps,
			float64(side.s.Calls)/n, float64(side.s.NaiveCalls)/n, side.s.Ratio, side.s.Changed, side.same)
	}
	return docblock.Renew(path, "bench-judge", rows)
}

// writeJSON writes v to path, if there is one, and makes its folder.
func writeJSON(path string, v any) error {
	if path == "" {
		return nil
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return nil
}
