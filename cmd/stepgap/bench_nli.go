package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/nlibench"
	"github.com/stepgap/stepgap/internal/transcript"
)

func benchNLICommand(version string) *cobra.Command {
	o := nlibench.Options{}
	var data, python, peers, out, docs, only string
	cmd := &cobra.Command{
		Use:   "bench-nli",
		Short: "Measure the NLI worker beside others",
		Long: "bench-nli sends the pairs that stages D and E ask about a data set's rollouts to\n" +
			"StepGap's own NLI worker and to bare ONNX Runtime, Python workers,\n" +
			"sentence-transformers' CrossEncoder and Infinity, by turns, each in a process of\n" +
			"its own on the same core. `make bench-nli` makes the Python environment.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if data == "" {
				return errors.New("bench-nli takes its pairs from a data set: give its folder with --data or STEPGAP_DATA")
			}
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			model, library, err := benchModel(cfg)
			if err != nil {
				return err
			}
			rollouts, err := readRollouts(filepath.Join(data, "rollouts", "normalized.jsonl"))
			if err != nil {
				return err
			}
			log := slog.New(slog.DiscardHandler)
			scorer, err := onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Device: "cpu", Log: log}, nli.BatcherOptions{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, scorer.Close()) }()
			if o.Core < 0 {
				if o.Core, err = nlibench.LastCore(); err != nil {
					return err
				}
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding the program itself: %w", err)
			}
			o.Own = func(load string) []string {
				return []string{program, "bench-nli", "worker", "--load", load, "--model", model, "--library", library}
			}
			o.Python = func(name, load string) []string {
				return []string{python, filepath.Join(peers, "peer.py"), name, "--load", load, "--model", model, "--threads", "1"}
			}
			if o.Only, err = onlyRivals(only); err != nil {
				return err
			}
			o.Progress, o.Log = cmd.ErrOrStderr(), io.Discard
			if verbose, _ := cmd.Flags().GetBool("verbose"); verbose {
				o.Log = cmd.ErrOrStderr()
			}
			r, err := nlibench.Run(cmd.Context(), rollouts, scorer, o)
			if r != nil {
				err = errors.Join(err, r.WriteTable(cmd.OutOrStdout()), writeJSON(out, r))
			}
			if err == nil && docs != "" {
				err = r.RenewTable(docs)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", os.Getenv("STEPGAP_DATA"), "folder of the data set")
	cmd.Flags().StringVar(&python, "python", "python3", "Python interpreter that has what the other peers need")
	cmd.Flags().StringVar(&peers, "peers", "bench/nli", "folder of the other peers")
	cmd.Flags().StringVar(&only, "only", "", "of the other peers, only these (names with commas between)")
	cmd.Flags().IntVar(&o.Pairs, "pairs", 700, "about how many pairs a peer scores in a round")
	cmd.Flags().IntVar(&o.Rounds, "rounds", 3, "how often all peers take turns")
	cmd.Flags().IntVar(&o.Clients, "clients", 64, "requests under way at once when saturated")
	cmd.Flags().IntVar(&o.Groups, "groups", 8, "groups of rollouts to generate for the cache's share")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of arrivals and generated groups")
	cmd.Flags().IntVar(&o.Core, "core", -1, "core that every peer runs on; below 0: the last that there is")
	cmd.Flags().StringVar(&out, "out", "", "also write the figures to this file (JSON)")
	cmd.Flags().StringVar(&docs, "docs", "", "also renew the table in this Markdown file")
	cmd.Flags().Bool("verbose", false, "show what the peers print")
	app.AddFlags(cmd.Flags(), "bench")
	cmd.AddCommand(benchNLIWorkerCommand(version))
	return cmd
}

// onlyRivals reads --only; nil lets all take part.
func onlyRivals(list string) (func(name string) bool, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, n := range names {
		if !slices.Contains(nlibench.Rivals(), n) {
			return nil, fmt.Errorf("--only %s: there is no peer %q among %s", list, n, strings.Join(nlibench.Rivals(), ", "))
		}
	}
	return func(name string) bool { return slices.Contains(names, name) }, nil
}

// benchNLIWorkerCommand is our own peer, which bench-nli starts.
func benchNLIWorkerCommand(version string) *cobra.Command {
	var load, model, library string
	cmd := &cobra.Command{
		Use:    "worker",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			requests, err := nlibench.ReadLoad(load)
			if err != nil {
				return err
			}
			m, err := onnx.Open(onnx.Options{
				Dir: model, Library: library, Device: "cpu", Threads: 1, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, m.Close()) }()
			worker := nlibench.Ours{Load: requests, Model: m, Batch: nli.BatcherOptions{Lanes: 1, CacheSize: -1, NoJoin: true}}
			return worker.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), map[string]string{"stepgap": version})
		},
	}
	cmd.Flags().StringVar(&load, "load", "", "file of requests")
	cmd.Flags().StringVar(&model, "model", "", "folder of the model")
	cmd.Flags().StringVar(&library, "library", "", "path of libonnxruntime.so")
	return cmd
}

// benchModel finds the model and the library. The other peers know a model file
// by the usual name alone.
func benchModel(cfg app.Config) (model, library string, err error) {
	model, file, err := app.ModelFolder(cfg)
	if err != nil {
		return "", "", err
	}
	if file != "" && file != "model.onnx" {
		return "", "", fmt.Errorf("bench-nli measures a folder's model.onnx, and the settings name %s: unset nli_file, or name another model", file)
	}
	library, err = app.ORTLibrary(cfg)
	return model, library, err
}

func readRollouts(path string) ([]*transcript.Rollout, error) {
	records, err := transcript.Open(path, transcript.Options{})
	if err != nil {
		return nil, err
	}
	var rollouts []*transcript.Rollout
	for r, err := range records {
		if err != nil {
			return nil, fmt.Errorf("reading the rollouts of %s: %w", path, err)
		}
		rollouts = append(rollouts, r)
	}
	return rollouts, nil
}
