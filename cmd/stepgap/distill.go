package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/distill"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

func distillCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "distill", Short: "Train small judges on the labels of large ones"}
	cmd.AddCommand(distillExportCommand())
	return cmd
}

func distillExportCommand() *cobra.Command {
	var labels, second []string
	var run, out, shares, format string
	var encoder bool
	o := distill.Options{}
	cmd := &cobra.Command{
		Use:   "export --out FOLDER FILE...",
		Short: "Write labelled steps as training data for a student",
		Long: "export reads rollouts or step sets and a teacher's labels on them, and writes chats\n" +
			"for the fine-tuning of a language model, or with --encoder pairs for an encoder.\n" +
			"Without --labels and --run the labels are the step sets' own. Steps that nobody\n" +
			"graded are left out; so is what a step set holds back for its last score.",
		Example: "  stepgap check --judge llm --json --trail rollouts.jsonl > labels.jsonl\n" +
			"  stepgap distill export --labels labels.jsonl --min-confidence 0.8 --out sft rollouts.jsonl\n" +
			"  stepgap distill export --labels labels.jsonl --agree other.jsonl --encoder --out student rollouts.jsonl",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("say where to write with --out FOLDER")
			}
			if err := present(args); err != nil {
				return err
			}
			var err error
			if o.Shares, err = distill.ParseShares(shares); err != nil {
				return fmt.Errorf("--splits: %w", err)
			}
			o.Files, o.Format = args, transcript.Format(format)
			if o.Teacher, err = teacher(cmd, run, labels); err != nil {
				return err
			}
			if o.Second, err = readLabels(second); err != nil {
				return err
			}
			examples, counts, err := distill.Examples(o)
			if err != nil {
				return err
			}
			m, err := distill.Write(out, examples, distill.Manifest{
				Counts: counts, MinConfidence: o.MinConfidence, Agreed: o.Second != nil, Seed: o.Seed,
			}, encoder)
			if err != nil {
				return err
			}
			return writeExported(cmd.OutOrStdout(), out, m)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&labels, "labels", nil, "file of the teacher's labels: the output of `stepgap check --json --trail`, or of `stepgap watch --json`; may be repeated")
	f.StringVar(&run, "run", "", "take the teacher's labels from this run of the server at --nats")
	f.StringArrayVar(&second, "agree", nil, "file of another judge's labels: only steps on which both agree are taken; may be repeated")
	f.Float64Var(&o.MinConfidence, "min-confidence", 0, "leave out steps that the teacher's least sure judge was less sure of, and those without any confidence")
	f.BoolVar(&encoder, "encoder", false, "write pairs for the judge student instead of chats")
	f.StringVar(&shares, "splits", "train=0.8,dev=0.1,test=0.1", "splits and their shares of the questions; no question stands in two")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the splits")
	f.BoolVar(&o.Held, "held", false, "also take what a step set holds back for its last score")
	f.StringVar(&out, "out", "", "folder to write to")
	f.StringVar(&format, "format", "", "format of the files; empty detects it")
	app.AddFlags(f, "client")
	return cmd
}

// teacher reads labels of a run, or of files; nil where neither is named.
func teacher(cmd *cobra.Command, run string, files []string) (*distill.Labels, error) {
	if run == "" {
		return readLabels(files)
	}
	if len(files) > 0 {
		return nil, errors.New("give --labels or --run, not both")
	}
	l := &distill.Labels{}
	err := eachRollout(cmd, run, nil, func(r *runlog.Rollout) error { return l.Add(r) })
	return l, err
}

func readLabels(files []string) (*distill.Labels, error) {
	if len(files) == 0 {
		return nil, nil
	}
	l := &distill.Labels{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("reading labels: %w", err)
		}
		if err := errors.Join(l.Read(f), f.Close()); err != nil {
			return nil, fmt.Errorf("labels of %s: %w", path, err)
		}
	}
	return l, nil
}

func writeExported(w io.Writer, dir string, m distill.Manifest) error {
	c := m.Counts
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d steps of %d questions, from %d rollouts, written to %s\n", c.Taken, c.Steps, c.Questions, c.Rollouts, dir)
	for _, left := range []struct {
		n   int
		why string
	}{
		{c.Held, "held back by their step set"}, {c.Unlabelled, "without a label"}, {c.Ungraded, "ungraded"},
		{c.Unsure, "below the confidence"}, {c.NoTelling, "of unknown confidence"},
		{c.Disagreed, "on which the second judge disagrees"}, {c.NoSecond, "that the second judge did not grade"},
		{m.NoEvidence, "taken, but without evidence to make a pair of"},
	} {
		if left.n > 0 {
			fmt.Fprintf(&b, "  %d %s\n", left.n, left.why)
		}
	}
	for _, split := range slices.Sorted(maps.Keys(m.Splits)) {
		fmt.Fprintf(&b, "  %s:", split)
		for _, g := range schema.Gaps() {
			if n := m.Splits[split][g]; n > 0 {
				fmt.Fprintf(&b, " %s %d", g.Short(), n)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
