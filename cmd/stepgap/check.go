package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/internal/transcript"
)

// sources are the flags that say what to read.
type sources struct {
	format string
	limit  int
	bad    []error // records that could not be read
}

func (s *sources) flags(cmd *cobra.Command) {
	var names []string
	for _, f := range transcript.Formats() {
		names = append(names, string(f))
	}
	cmd.Flags().StringVar(&s.format, "format", "", "format of the files: "+strings.Join(names, ", ")+"; empty detects it")
	cmd.Flags().IntVar(&s.limit, "limit", 0, "only the first N rollouts; 0 for all")
}

// present says which file is not there, before anything is started.
func present(files []string) error {
	for _, file := range files {
		if file == "-" {
			continue
		}
		if info, err := os.Stat(file); err != nil {
			return fmt.Errorf("reading rollouts: %w", err)
		} else if info.IsDir() {
			return fmt.Errorf("reading rollouts: %s is a folder; name its files", file)
		}
	}
	return nil
}

// rollouts reads files one after another; "-" is standard input. A record that
// can't be read is left out and told at the end.
func (s *sources) rollouts(files []string) iter.Seq2[*transcript.Rollout, error] {
	return func(yield func(*transcript.Rollout, error) bool) {
		n := 0
		for _, file := range files {
			records, err := transcript.Open(file, transcript.Options{Format: transcript.Format(s.format)})
			if err != nil {
				yield(nil, err)
				return
			}
			for rollout, err := range records {
				if s.limit > 0 && n == s.limit {
					return
				}
				var record *transcript.RecordError
				if errors.As(err, &record) {
					s.bad = append(s.bad, err)
					continue
				}
				n++
				if !yield(rollout, err) || err != nil {
					return
				}
			}
		}
	}
}

// left says which records were left out, if any.
func (s *sources) left() error {
	if len(s.bad) == 0 {
		return nil
	}
	shown := s.bad[:min(len(s.bad), 10)]
	return fmt.Errorf("%d records could not be read and were left out: %w", len(s.bad), errors.Join(shown...))
}

func checkCommand() *cobra.Command {
	var src sources
	var asJSON, trail, quiet bool
	var html string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Label logged rollouts",
		Long: "check sends logged rollouts through the whole pipeline, inside one process,\n" +
			"and prints the label of every step with its quote and reason, and the rewards.",
		Example: "  stepgap check rollouts.jsonl\n  stepgap check --judge local --json rollouts.jsonl > labels.jsonl\n  stepgap check --html report.html trajectories.txt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("log-level") && os.Getenv("STEPGAP_LOG_LEVEL") == "" {
				cfg.LogLevel = "warn"
			}
			if err := present(args); err != nil {
				return err
			}
			report := newReporter(cmd, asJSON, quiet)
			if html != "" {
				report.page = &check.Page{}
			}
			pipe, err := pipeline.Start(cmd.Context(), cfg, app.NewLogger(cmd.ErrOrStderr(), cfg))
			if err != nil {
				return err
			}
			o := check.Options{Run: freshRun(), Trail: trail, Progress: report.progress}
			err = report.finish(runCheck(cmd.Context(), pipe, src.rollouts(args), o, report))
			err = errors.Join(err, pipe.Stop(), src.left())
			if err == nil && html != "" {
				err = writePage(html, report.page)
			}
			return err
		},
	}
	src.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a rollout")
	cmd.Flags().BoolVar(&trail, "trail", false, "with --json: the whole trail of each label")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress bar")
	cmd.Flags().StringVar(&html, "html", "", "also write a report to this file")
	app.AddFlags(cmd.Flags(), "check")
	return cmd
}

func runCheck(ctx context.Context, pipe *pipeline.Pipeline, rollouts iter.Seq2[*transcript.Rollout, error], o check.Options, report *reporter) (check.Summary, error) {
	// A pipeline that stops by itself ends the check, not only its output.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-pipe.Done():
			cancel(pipe.Err())
		case <-ctx.Done():
		}
	}()
	return check.Run(ctx, pipe.Client, rollouts, o, report.emit)
}

// freshRun names a run after the time and the process, so that no two starts
// share ids.
func freshRun() string {
	return fmt.Sprintf("check-%s-%d", time.Now().UTC().Format("20060102T150405"), os.Getpid())
}

// reporter writes results as they come.
type reporter struct {
	out, errOut io.Writer
	json        *json.Encoder
	width       int
	bar         *progressbar.ProgressBar
	page        *check.Page
	each        func(*check.Result)
}

func newReporter(cmd *cobra.Command, asJSON, quiet bool) *reporter {
	r := &reporter{out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr(), width: 100}
	if asJSON {
		r.json = json.NewEncoder(r.out)
		r.json.SetEscapeHTML(false)
	}
	if f, ok := r.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			r.width = w
		}
	}
	if f, ok := r.errOut.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		r.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(r.errOut), progressbar.OptionSetDescription("steps"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("steps"),
			progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return r
}

func (r *reporter) progress(_, steps int) {
	if r.bar != nil {
		_ = r.bar.Set(steps) // a bar that can't be drawn is no reason to stop
	}
}

func (r *reporter) emit(result *check.Result) error {
	if r.page != nil {
		r.page.Results = append(r.page.Results, result)
	}
	if r.each != nil {
		r.each(result)
	}
	if r.json != nil {
		return r.json.Encode(result)
	}
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	return check.WriteText(r.out, result, r.width)
}

// finish writes the summary: beside the results for people, apart from them for
// programs.
func (r *reporter) finish(summary check.Summary, err error) error {
	if r.bar != nil {
		_ = r.bar.Finish()
	}
	if r.page != nil {
		r.page.Summary = summary
	}
	if summary.Rollouts == 0 && err != nil {
		return err
	}
	out := r.out
	if r.json != nil {
		out = r.errOut
	}
	return errors.Join(err, check.WriteSummary(out, summary))
}

func writePage(path string, page *check.Page) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return errors.Join(page.Write(f), f.Close())
}
