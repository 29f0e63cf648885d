package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/models"
	"github.com/stepgap/stepgap/internal/nli/onnx"
)

func modelsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the models that are known and the ones that are here",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, store, err := storeOf(cmd)
			if err != nil {
				return err
			}
			builtin, err := onnx.FindModel()
			if err != nil {
				builtin = "" // listed as absent
			}
			all, err := store.List(builtin)
			if err != nil {
				return err
			}
			if asJSON {
				return indentJSON(cmd.OutOrStdout(), all)
			}
			return writeModels(cmd.OutOrStdout(), store, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	app.AddFlags(cmd.Flags(), "models")
	return cmd
}

func indentJSON(to io.Writer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func writeModels(to io.Writer, store models.Store, all []models.Entry) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tstate\tsize\tlicence\tlabels\tsource")
	for _, e := range all {
		source := e.Source
		if e.Commit != "" {
			source += fmt.Sprintf("@%.7s", e.Commit)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, stateOf(e), sizeOf(e), dash(e.Licence), dash(strings.Join(e.Labels, ", ")), dash(source))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, e := range all {
		if e.Note != "" {
			fmt.Fprintf(to, "%s: %s\n", e.Name, e.Note)
		}
	}
	_, err := fmt.Fprintf(to, "models folder: %s\n", store.Dir)
	return err
}

func stateOf(e models.Entry) string {
	switch {
	case e.State == models.StateAbsent && e.Convert:
		return "absent, must be converted"
	case e.State == models.StateBegun:
		return "partly pulled"
	case e.State == models.StateChanged:
		return "changed, run verify"
	case e.State == models.StateUnlocked:
		return "here, not pulled"
	case e.State == models.StateVerified:
		return "verified " + e.Verified.Format("2006-01-02")
	default:
		return string(e.State)
	}
}

// sizeOf is the folder's size, or about what the hub shows for the ONNX file.
func sizeOf(e models.Entry) string {
	switch {
	case e.Bytes != nil:
		return models.Bytes(*e.Bytes)
	case e.About != "":
		return "about " + e.About
	default:
		return "unknown"
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func writePulled(to io.Writer, store models.Store, lock *models.Lock, asJSON bool) error {
	if asJSON {
		return indentJSON(to, lock)
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "file\tsize\tsha256\tchecked against")
	for _, f := range lock.Files {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Name, models.Bytes(f.Size), f.SHA256, checkedBy(f.Checked))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "%s is in %s (licence: %s); use it with --nli-model %s\n", lock.Name, store.Path(lock.Name), unknown(lock.Licence), lock.Name)
	return err
}

func unknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

func checkedBy(c models.Checked) string {
	switch c {
	case models.CheckedGiven:
		return "--sha256"
	case models.CheckedTable:
		return "the table of known models"
	case models.CheckedHub:
		return "the hub"
	case models.CheckedGit:
		return "the hub's git"
	case models.CheckedSums:
		return "SHA256SUMS"
	default:
		return "nothing: first seen"
	}
}
