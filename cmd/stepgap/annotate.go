package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/annotate"
	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/pkg/schema"
)

// material are the flags that say what is labelled, and where journals lie.
type material struct {
	sources
	set     bool
	journal string
}

func (m *material) flags(cmd *cobra.Command) {
	m.sources.flags(cmd)
	cmd.Flags().BoolVar(&m.set, "set", false, "the file is a step set; its labels are shown to nobody")
	cmd.Flags().StringVar(&m.journal, "journal", "annotations", "folder of the journals, one a person")
}

// read reads the files, and says on w what was left out.
func (m *material) read(files []string, w io.Writer) (*annotate.Material, error) {
	if err := present(files); err != nil {
		return nil, err
	}
	if m.set {
		if len(files) != 1 {
			return nil, errors.New("with --set there is one file, a step set")
		}
		set, err := stepset.Open(files[0])
		if err != nil {
			return nil, err
		}
		if m.limit > 0 && m.limit < len(set.Rollouts) {
			set.Rollouts = set.Rollouts[:m.limit]
		}
		return annotate.FromSet(set)
	}
	found, err := annotate.FromRollouts(m.rollouts(files))
	if err != nil {
		return nil, err
	}
	for _, why := range found.Skipped {
		fmt.Fprintln(w, "left out:", why)
	}
	if err := m.left(); err != nil {
		fmt.Fprintln(w, err)
	}
	return found, nil
}

// decided reads the files and what people decided on their steps.
func (m *material) decided(files []string, w io.Writer) (*annotate.Material, []annotate.Person, error) {
	found, err := m.read(files, w)
	if err != nil {
		return nil, nil, err
	}
	people, err := annotate.ReadJournals(m.journal)
	return found, people, err
}

func annotateCommand() *cobra.Command {
	var m material
	var name, listen, only string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "annotate FILE...",
		Short: "Label steps by hand, blindly, on a local page",
		Long: "annotate shows the steps of rollouts, or of a step set, one by one on a page of\n" +
			"this machine, in an order of the annotator's own, without any label. Each\n" +
			"decision is on the disk before the next step is shown; ended and started again,\n" +
			"it goes on. See docs/annotate.md.",
		Example: "  stepgap annotate rollouts.jsonl --as ann\n  stepgap annotate rollouts.jsonl --as ben      # blind to ann's labels\n" +
			"  stepgap annotate agree rollouts.jsonl --tree\n  stepgap annotate export rollouts.jsonl --out set.jsonl --disputes disputes.jsonl",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAnnotate(cmd, &m, args, only, name, listen, seed)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&name, "as", "", "the annotator's name, which their journal bears")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address of the page, on this machine")
	cmd.Flags().StringVar(&only, "only", "", "label only the steps of this list, which export --disputes wrote; what others chose is not shown")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the order of steps")
	_ = cmd.MarkFlagRequired("as")
	cmd.AddCommand(annotateAgreeCommand(), annotateExportCommand())
	return cmd
}

func runAnnotate(cmd *cobra.Command, m *material, files []string, only, name, listen string, seed uint64) error {
	found, err := m.read(files, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if only != "" {
		steps, err := disputesFrom(only)
		if err != nil {
			return err
		}
		if err := found.Only(steps); err != nil {
			return err
		}
	}
	if len(found.Tasks()) == 0 {
		return errors.New("there are no steps to label in these files")
	}
	journal, err := annotate.OpenJournal(m.journal, name, seed)
	if err != nil {
		return err
	}
	session := annotate.NewSession(found, journal, time.Now)
	server, err := annotate.Listen(cmd.Context(), listen, session, app.NewLogger(cmd.ErrOrStderr(), app.Config{}))
	if err != nil {
		return errors.Join(err, journal.Close())
	}
	view, err := session.View(-1)
	if err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%d of %d steps are decided. Open this page, and end with Ctrl-C:\n%s\n", view.Done, view.Total, server.URL())
		err = server.Serve(cmd.Context())
	}
	return errors.Join(err, journal.Close())
}

func disputesFrom(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the disputes: %w", err)
	}
	steps, err := annotate.ReadDisputes(f)
	return steps, errors.Join(err, f.Close())
}

func annotateAgreeCommand() *cobra.Command {
	var m material
	var labels string
	var tree, asJSON bool
	cmd := &cobra.Command{
		Use:   "agree FILE...",
		Short: "Cohen's kappa between annotators, and against the tree",
		Long: "agree compares every two annotators on the steps that both labelled, and each\n" +
			"of them with a pipeline: with --tree it labels the steps now, with --labels it\n" +
			"reads what stepgap check --json printed. Intervals are 95 % by bootstrap over\n" +
			"questions.",
		Example: "  stepgap annotate agree rollouts.jsonl\n  stepgap annotate agree rollouts.jsonl --tree --judge local --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, people, err := m.decided(args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			all, err := annotate.Between(cmd.Context(), found, people)
			if err != nil {
				return err
			}
			for _, of := range []struct {
				name   string
				wanted bool
				read   func() (annotate.Labels, error)
			}{
				{"file", labels != "", func() (annotate.Labels, error) { return labelsFrom(labels) }},
				{"tree", tree, func() (annotate.Labels, error) { return labelsOfTree(cmd, found) }},
			} {
				if !of.wanted {
					continue
				}
				got, err := of.read()
				if err != nil {
					return err
				}
				against, err := annotate.Against(cmd.Context(), found, people, of.name, got)
				if err != nil {
					return err
				}
				all = append(all, against...)
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", " ")
				return enc.Encode(map[string]any{"agreements": all})
			}
			return writeAgreements(cmd.OutOrStdout(), all)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&labels, "labels", "", "file that stepgap check --json printed")
	cmd.Flags().BoolVar(&tree, "tree", false, "label the steps with the pipeline, inside this process")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	app.AddFlags(cmd.Flags(), "check")
	return cmd
}

func labelsFrom(path string) (annotate.Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading labels: %w", err)
	}
	labels, err := annotate.ReadLabels(f)
	return labels, errors.Join(err, f.Close())
}

// labelsOfTree labels the steps with a pipeline inside the process.
func labelsOfTree(cmd *cobra.Command, found *annotate.Material) (annotate.Labels, error) {
	cfg, err := load(cmd)
	if err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("log-level") && os.Getenv("STEPGAP_LOG_LEVEL") == "" {
		cfg.LogLevel = "warn"
	}
	pipe, err := pipeline.Start(cmd.Context(), cfg, app.NewLogger(cmd.ErrOrStderr(), cfg))
	if err != nil {
		return nil, err
	}
	labels := annotate.Labels{}
	report := &reporter{out: io.Discard, errOut: io.Discard, json: json.NewEncoder(io.Discard), each: func(r *check.Result) {
		for _, s := range r.Steps {
			labels[annotate.StepID(r.Source, s.Index)] = s.Label
		}
	}}
	set := found.Set()
	_, err = runCheck(cmd.Context(), pipe, set.Transcripts(), check.Options{Run: freshRun()}, report)
	return labels, errors.Join(err, pipe.Stop())
}

func writeAgreements(w io.Writer, all []annotate.Agreement) error {
	if len(all) == 0 {
		fmt.Fprintln(w, "There is one annotator; with --tree they are compared with the pipeline.")
		return nil
	}
	for i, a := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s and %s: %d steps of %d questions", a.First, a.Second, a.Steps, a.Questions)
		if a.Unsure > 0 {
			fmt.Fprintf(w, ", %d more left out as one was unsure", a.Unsure)
		}
		fmt.Fprintf(w, "\n  kappa    %s\n  the same %s\n", estimate(a.Kappa), estimate(a.Accuracy))
		if a.Steps == 0 {
			continue
		}
		fmt.Fprintf(w, "  rows %s, columns %s:\n", a.First, a.Second)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		row := []string{"  "}
		for _, g := range schema.Gaps() {
			row = append(row, g.Short())
		}
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
		for r, counts := range a.Summary.Confusion {
			row := []string{"  " + schema.Gaps()[r].Short()}
			for _, n := range counts {
				row = append(row, fmt.Sprint(n))
			}
			fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

func estimate(e interval.Estimate) string {
	switch {
	case e.Value == nil:
		return fmt.Sprintf("none (%s)", e.Reason)
	case e.Low == nil || e.High == nil:
		return fmt.Sprintf("%.3f, without an interval (%s)", *e.Value, e.Reason)
	default:
		return fmt.Sprintf("%.3f [%.3f, %.3f]", *e.Value, *e.Low, *e.High)
	}
}

func annotateExportCommand() *cobra.Command {
	var m material
	var out, disputes, adjudicator string
	var least int
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "A step set of the labels that annotators agree on",
		Long: "export writes the steps that at least --least people labelled, and labelled\n" +
			"alike, as a step set, and those that they did not agree on as a list. Whoever\n" +
			"settles them labels as any other (--as), and is named here as --adjudicator:\n" +
			"their label then counts.",
		Example: "  stepgap annotate export rollouts.jsonl --out set.jsonl --disputes disputes.jsonl\n  stepgap annotate export rollouts.jsonl --out set.jsonl --adjudicator cleo",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, people, err := m.decided(args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			made, err := exported(found, people, least, adjudicator)
			if err != nil {
				return err
			}
			if err := made.Set.Save(out); err != nil {
				return err
			}
			if disputes != "" {
				if err := writeDisputes(disputes, made.Disputes); err != nil {
					return err
				}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d steps agreed, %d adjudicated, %d disputed, %d decided by fewer than %d; %d decisions on other content left out\n",
				made.Agreed, made.Adjudicated, len(made.Disputes), made.TooFew, least, made.Stale)
			return nil
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file of the step set")
	cmd.Flags().StringVar(&disputes, "disputes", "", "file of the steps without agreement, with each person's decision")
	cmd.Flags().StringVar(&adjudicator, "adjudicator", "", "annotator whose label settles what others disagree on")
	cmd.Flags().IntVar(&least, "least", 2, "how many must have labelled a step alike")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

// exported refuses what would be an empty set by mistake.
func exported(found *annotate.Material, people []annotate.Person, least int, adjudicator string) (annotate.Outcome, error) {
	if least < 1 {
		return annotate.Outcome{}, fmt.Errorf("--least is %d; a label takes at least one person", least)
	}
	others, known := 0, adjudicator == ""
	for _, p := range people {
		if p.Name == adjudicator {
			known = true
		} else {
			others++
		}
	}
	switch {
	case !known:
		return annotate.Outcome{}, fmt.Errorf("there is no journal of the adjudicator %q", adjudicator)
	case others < least:
		return annotate.Outcome{}, fmt.Errorf("%d people labelled, and --least is %d; lower it to take the labels of fewer", others, least)
	}
	return annotate.Export(found, people, least, adjudicator), nil
}

func writeDisputes(path string, disputes []annotate.Dispute) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, d := range disputes {
		if err := enc.Encode(d); err != nil {
			return fmt.Errorf("writing the disputes: %w", err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the disputes: %w", err)
	}
	return nil
}
