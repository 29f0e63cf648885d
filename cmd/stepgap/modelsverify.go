package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/models"
	"github.com/stepgap/stepgap/internal/nli/onnx"
)

// verified is what verify found out about one model.
type verified struct {
	*models.Verification
	// Opened says that the model was opened; Parity that the vectors beside it
	// were reproduced.
	Opened bool   `json:"opened"`
	Parity bool   `json:"parity"`
	Error  string `json:"error,omitempty"`
}

func modelsVerifyCommand() *cobra.Command {
	var asJSON, hashesOnly bool
	cmd := &cobra.Command{
		Use:   "verify [NAME|FOLDER]",
		Short: "Compare models with their hashes, and open them",
		Long: "verify hashes a model's files and compares them with its lock file and the table\n" +
			"of known models, then opens it, which also compares it with its reference vectors\n" +
			"where it has some. Without an argument it takes every model that is here. It fails\n" +
			"if anything differs, and prints what.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, store, err := storeOf(cmd)
			if err != nil {
				return err
			}
			dirs, err := foldersToVerify(store, cfg, args)
			if err != nil {
				return err
			}
			var all []verified
			var failures []error
			for _, dir := range dirs {
				v, err := verifyModel(cmd.Context(), store, cfg, dir, hashesOnly)
				if err != nil {
					v.Error = err.Error()
					failures = append(failures, err)
				}
				all = append(all, v)
			}
			if asJSON {
				err = indentJSON(cmd.OutOrStdout(), all)
			} else {
				err = writeVerified(cmd.OutOrStdout(), all, hashesOnly)
			}
			return errors.Join(append(failures, err)...)
		},
	}
	cmd.Flags().BoolVar(&hashesOnly, "hashes-only", false, "do not open the models")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	app.AddFlags(cmd.Flags(), "models")
	return cmd
}

// foldersToVerify are the folder that was named, or those of all models that
// are here.
func foldersToVerify(store models.Store, cfg app.Config, args []string) ([]string, error) {
	if len(args) == 1 {
		cfg.NLIModel = args[0]
		dir, _, err := app.ModelFolder(cfg)
		if err != nil {
			return nil, err
		}
		dir, err = filepath.Abs(dir)
		return []string{dir}, err
	}
	builtin, err := onnx.FindModel()
	if err != nil {
		builtin = ""
	}
	list, err := store.List(builtin)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range list {
		if e.Dir != "" {
			dirs = append(dirs, e.Dir)
		}
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("there is no model in %s and none beside the program: `stepgap models pull NAME` fetches one", store.Dir)
	}
	return dirs, nil
}

func verifyModel(ctx context.Context, store models.Store, cfg app.Config, dir string, hashesOnly bool) (verified, error) {
	v, err := models.Verify(ctx, dir)
	if err != nil {
		return verified{Verification: &models.Verification{Name: filepath.Base(dir), Dir: dir}}, err
	}
	out := verified{Verification: v}
	if err := v.Err(); err != nil {
		return out, err
	}
	if hashesOnly && v.Against == models.AgainstNone {
		return out, fmt.Errorf("%s has neither a lock file (%s) nor SHA256SUMS, so there is nothing to compare its hashes with", dir, models.LockFile)
	}
	if err := store.MarkVerified(ctx, v, time.Now()); err != nil {
		return out, fmt.Errorf("noting that %s was verified: %w", dir, err)
	}
	if hashesOnly {
		return out, nil
	}
	if err := openOnce(cfg, dir, v.Model); err != nil {
		return out, err
	}
	out.Opened = true
	_, err = os.Stat(filepath.Join(dir, "reference.json"))
	out.Parity = err == nil
	return out, nil
}

// openOnce opens and closes a model, as a worker would on a CPU.
func openOnce(cfg app.Config, dir, file string) (err error) {
	lib, err := app.ORTLibrary(cfg)
	if err != nil {
		return fmt.Errorf("%w; or compare only hashes with --hashes-only", err)
	}
	m, err := onnx.Open(onnx.Options{Dir: dir, File: file, Library: lib, Device: "cpu"})
	if err != nil {
		return err
	}
	return m.Close()
}

func writeVerified(to io.Writer, all []verified, hashesOnly bool) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "model\tfile\tsize\tsha256\tresult")
	for _, v := range all {
		for _, c := range v.Files {
			size, result := "-", "as expected"
			if c.Size >= 0 {
				size = models.Bytes(c.Size)
			}
			switch {
			case c.Problem != "":
				result = c.Problem
			case c.WantSHA256 == "":
				result = "nothing to compare with"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v.Name, c.Name, size, dash(c.SHA256), result)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, v := range all {
		text := "not opened"
		switch {
		case v.Opened && v.Parity:
			text = "opens, and reproduces its reference vectors"
		case v.Opened:
			text = "opens; it has no reference vectors (reference.json) to be compared with"
		case v.Error != "":
			text = "NOT right"
		case hashesOnly:
			text = "hashes compared, not opened"
		}
		if _, err := fmt.Fprintf(to, "%s (%s): %s\n", v.Name, v.Dir, text); err != nil {
			return err
		}
	}
	return nil
}
