package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/examples"
	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

func demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the example rollouts through all five stages",
		Long: "demo checks the built-in example rollouts with the local judge and the real NLI\n" +
			"model, asks a live plan, and compares every label with the one that a careful\n" +
			"person gives. It fails if any differs.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			cfg.Judge, cfg.LogLevel = "local", "warn"
			return demo(cmd.Context(), cfg, newReporter(cmd, false, true))
		},
	}
	app.AddFlags(cmd.Flags(), "check")
	return cmd
}

func demo(ctx context.Context, cfg app.Config, report *reporter) (err error) {
	pipe, err := pipeline.Start(ctx, cfg, app.NewLogger(os.Stderr, cfg))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pipe.Stop()) }()

	tally := newTally()
	for _, file := range examples.Files() {
		body, err := examples.Open(file)
		if err != nil {
			return err
		}
		rollouts := transcript.Decode(strings.NewReader(body), file, transcript.Options{})
		o := check.Options{Run: freshRun() + "-" + fmt.Sprint(len(tally.seen))}
		summary, err := runCheck(ctx, pipe, rollouts, o, &reporter{out: report.out, errOut: report.errOut, width: report.width, each: tally.add})
		if err != nil {
			return fmt.Errorf("examples/%s: %w", file, err)
		}
		tally.summary.Merge(summary)
	}
	if err := demoLive(ctx, pipe, report.out, tally); err != nil {
		return err
	}
	return tally.finish(report.out)
}

// demoLive asks, before any search, whether two plans aim right.
func demoLive(ctx context.Context, pipe *pipeline.Pipeline, out io.Writer, t *tally) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	const question = "In which town was the composer of the opera The Salt Road born?"
	for i, plan := range []struct {
		query string
		want  schema.Gap
	}{
		{"composer of the opera The Salt Road", schema.GapNone},
		{"history of the Bern tram network", schema.GapContradicted},
	} {
		answer, err := pipe.Client.Plan(ctx, &schema.Step{
			Run: "demo-live", Rollout: fmt.Sprintf("plan-%d", i+1), Index: 1, Kind: schema.KindSearch, Question: question, Query: plan.query,
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "live plan  %q\n           %s %s: %s\n", plan.query, answer.Label.Short(), answer.Label, answer.Detail); err != nil {
			return err
		}
		if answer.Label != plan.want {
			t.wrong = append(t.wrong, fmt.Sprintf("live plan %q: %s, a careful person says %s", plan.query, answer.Label, plan.want))
		}
	}
	return nil
}

// tally compares labels with the expected ones and counts what occurred.
type tally struct {
	summary check.Summary
	seen    []string
	wrong   []string
	repairs map[schema.Repair]int
	shapes  map[schema.ShapeReason]int
	stages  map[schema.Stage]int
	want    map[string][]schema.Gap
	err     error
}

func newTally() *tally {
	t := &tally{
		summary: check.NewSummary(), repairs: map[schema.Repair]int{},
		shapes: map[schema.ShapeReason]int{}, stages: map[schema.Stage]int{},
	}
	t.want, t.err = examples.Expected()
	return t
}

func (t *tally) add(r *check.Result) {
	t.seen = append(t.seen, r.Source)
	want, ok := t.want[r.Source]
	if !ok || len(want) != len(r.Steps) {
		t.wrong = append(t.wrong, fmt.Sprintf("%s: %d steps, %d expected labels", r.Source, len(r.Steps), len(want)))
		return
	}
	for i, s := range r.Steps {
		t.repairs[s.Repair]++
		t.stages[s.Stage]++
		if s.ShapeReason != "" {
			t.shapes[s.ShapeReason]++
		}
		if s.Label != want[i] {
			t.wrong = append(t.wrong, fmt.Sprintf("%s step %d: %s, a careful person says %s", r.Source, s.Index, s.Label, want[i]))
		}
	}
}

func (t *tally) finish(out io.Writer) error {
	if t.err != nil {
		return t.err
	}
	if err := check.WriteSummary(out, t.summary); err != nil {
		return err
	}
	fmt.Fprintf(out, "  decided by: %s\n", counts(t.stages))
	fmt.Fprintf(out, "  repairs asked for: %s\n  what followed: %s\n", counts(t.repairs), counts(t.shapes))
	if len(t.wrong) > 0 {
		return fmt.Errorf("%d labels differ from a careful person's:\n  %s", len(t.wrong), strings.Join(t.wrong, "\n  "))
	}
	_, err := fmt.Fprintf(out, "  all %d labels are those of a careful person\n", t.summary.Steps)
	return err
}
