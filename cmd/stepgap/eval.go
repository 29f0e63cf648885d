package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/predict"
	"github.com/stepgap/stepgap/internal/eval/report"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/eval/systems"
)

func evalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how good labels are, on sets of labelled steps",
		Long: "eval has judges label sets of steps whose labels are known, through the whole\n" +
			"pipeline, and says how good they are: metrics with bootstrap intervals over\n" +
			"questions, beside systems that flag every step or none. docs/eval.md explains it.",
	}
	cmd.AddCommand(evalRunCommand(), evalMatrixCommand(), evalCompareCommand(), evalWrongCommand(), evalFlipsCommand(), evalCalibrateCommand())
	return cmd
}

// heldName is our own set's part that is scored once, at the end.
const heldName = stepset.OwnName + "-held"

// evalFlags are those of commands that label sets.
type evalFlags struct {
	sets     []string
	data     string
	anyBuild bool
	retry    bool
	quiet    bool
	window   int
	limit    int
	bootstrap
}

// bootstrap are the flags of intervals.
type bootstrap struct {
	draws int
	seed  uint64
}

func (b *bootstrap) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.draws, "draws", interval.DefaultDraws, "bootstrap draws of questions")
	cmd.Flags().Uint64Var(&b.seed, "seed", 1, "seed of the draws")
}

func (b *bootstrap) options() interval.Options { return interval.Options{Draws: b.draws, Seed: b.seed} }

func (f *evalFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.sets, "set", nil, "sets to label: files, or names: "+stepset.OwnName+", "+heldName+" (the part that is held back), or with --data "+strings.Join(stepset.Names(), ", "))
	cmd.Flags().StringVar(&f.data, "data", os.Getenv("STEPGAP_DATA"), "folder of public data that sets are built from")
	cmd.Flags().BoolVar(&f.anyBuild, "any-build", false, "go on with predictions that another build of stepgap made")
	cmd.Flags().BoolVar(&f.retry, "retry", false, "label rollouts with an ungraded step again")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress bar")
	cmd.Flags().IntVar(&f.window, "window", 32, "rollouts under way at once")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "only the first N rollouts of each set; 0 for all")
	f.bootstrap.flags(cmd)
	app.AddFlags(cmd.Flags(), "check")
}

// config is the settings of a command that labels; its log is quiet unless
// asked for.
func (f *evalFlags) config(cmd *cobra.Command) (app.Config, error) {
	cfg, err := load(cmd)
	if err == nil && !cmd.Flags().Changed("log-level") && os.Getenv("STEPGAP_LOG_LEVEL") == "" {
		cfg.LogLevel = "warn"
	}
	return cfg, err
}

// predicting are the options of runners.
func (f *evalFlags) predicting(cmd *cobra.Command, cfg app.Config, bar *evalBar) (predict.Options, error) {
	program, err := systems.Program()
	if err != nil {
		return predict.Options{}, err
	}
	return predict.Options{
		Prints: systems.NewPrints(), Program: program, AnyBuild: f.anyBuild, Retry: f.retry, Window: f.window,
		Log: app.NewLogger(cmd.ErrOrStderr(), cfg), Progress: bar.progress,
	}, nil
}

// open opens sets by file or name; names are those given where the flag is not.
func (f *evalFlags) open(names ...string) ([]stepset.Set, error) {
	if len(f.sets) > 0 {
		names = f.sets
	}
	var sets []stepset.Set
	seen := map[string]bool{}
	for _, name := range names {
		set, err := f.one(name)
		if err != nil {
			return nil, err
		}
		if seen[set.Name] {
			return nil, fmt.Errorf("two sets are called %s; give each file a name of its own", set.Name)
		}
		seen[set.Name] = true
		if f.limit > 0 && len(set.Rollouts) > f.limit {
			set.Rollouts = set.Rollouts[:f.limit]
		}
		sets = append(sets, set)
	}
	return sets, nil
}

func (f *evalFlags) one(name string) (stepset.Set, error) {
	switch {
	case name == stepset.OwnName || name == heldName:
		set, err := stepset.Own()
		if err != nil {
			return set, err
		}
		split := stepset.SplitDev
		if name == heldName {
			split = stepset.SplitHeld
		}
		set = set.Part(split)
		set.Name = name
		return set, nil
	case slices.Contains(stepset.Names(), name):
		return stepset.Build(f.data, name)
	}
	return stepset.Open(name)
}

// writeReports writes a study's report beside a path: .json, .md and .html.
func writeReports(base string, r *report.Report) error {
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	for ext, write := range map[string]func(io.Writer) error{".json": r.WriteJSON, ".md": r.WriteMarkdown, ".html": r.WriteHTML} {
		if err := writeWhole(base+ext, write); err != nil {
			return err
		}
	}
	return nil
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// evalBar shows how far labelling is: a bar on a terminal, else a line for each
// set and system.
type evalBar struct {
	out   io.Writer
	term  bool
	quiet bool
	bar   *progressbar.ProgressBar
	what  string
	said  bool
}

func newEvalBar(cmd *cobra.Command, quiet bool) *evalBar {
	b := &evalBar{out: cmd.ErrOrStderr(), quiet: quiet}
	if f, ok := b.out.(*os.File); ok {
		b.term = term.IsTerminal(int(f.Fd()))
	}
	return b
}

// begin names what is done next.
func (b *evalBar) begin(set, system string) {
	b.end()
	b.what, b.said = set+": "+system, false
}

func (b *evalBar) progress(done, of int) {
	switch {
	case b.quiet:
	case b.term:
		if b.bar == nil {
			b.bar = progressbar.NewOptions(of, progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription(b.what),
				progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("rollouts"),
				progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		_ = b.bar.Set(done) // a bar that can't be drawn is no reason to stop
	case !b.said:
		b.said = true
		fmt.Fprintf(b.out, "%s: %d rollouts\n", b.what, of)
	}
}

func (b *evalBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
		b.bar = nil
	}
}
