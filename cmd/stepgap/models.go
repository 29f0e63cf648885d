package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/models"
)

func modelsCommand(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Fetch, check and list NLI models",
		Long: "models keeps NLI models in a folder (--models, STEPGAP_MODELS), from where\n" +
			"--nli-model takes them by name.",
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(modelsPullCommand(version), modelsVerifyCommand(), modelsListCommand())
	return cmd
}

// storeOf opens the store that the settings name.
func storeOf(cmd *cobra.Command) (app.Config, models.Store, error) {
	cfg, err := load(cmd)
	if err != nil {
		return cfg, models.Store{}, err
	}
	store, err := models.OpenStore(cfg.Models)
	return cfg, store, err
}

func modelsPullCommand(version string) *cobra.Command {
	var r models.Request
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pull NAME|OWNER/NAME|URL",
		Short: "Fetch a model, going on where an earlier pull ended",
		Long: "pull fetches a model of the table (`stepgap models list`), of a Hugging Face hub,\n" +
			"of a folder behind a URL, or from a .tar.gz. Files are checked against the hashes\n" +
			"that the table or the source gives, and get their names only when they are whole.\n" +
			"HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME and HF_HUB_OFFLINE are respected.",
		Example: "  stepgap models pull deberta-v3-base\n" +
			"  stepgap models pull deberta-v3-small --file onnx/model_quint8_avx2.onnx\n" +
			"  stepgap models pull https://models.example.org/nli/my-nli.tar.gz --sha256 HEX",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, store, err := storeOf(cmd)
			if err != nil {
				return err
			}
			env, err := models.ReadEnv(os.Getenv)
			if err != nil {
				return err
			}
			report := newPullReport(cmd.ErrOrStderr())
			defer report.close()
			p, err := models.NewPuller(models.Options{Store: store, Env: env, Report: report, Agent: "stepgap/" + version})
			if err != nil {
				return err
			}
			r.Ref = args[0]
			lock, err := p.Pull(cmd.Context(), r)
			if err != nil {
				return err
			}
			report.close()
			return writePulled(cmd.OutOrStdout(), store, lock, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Revision, "revision", "", "branch, tag or commit of the hub (default: the table's, or main)")
	flags.StringVar(&r.File, "file", "", "ONNX file to fetch, such as onnx/model_fp16.onnx (default: the table's, or onnx/model.onnx, or model.onnx)")
	flags.StringVar(&r.SHA256, "sha256", "", "SHA-256 that the ONNX file, or the archive, must have")
	flags.StringVar(&r.As, "as", "", "name to keep the model under")
	flags.BoolVar(&r.Replace, "replace", false, "take the place of what has that name")
	flags.BoolVar(&asJSON, "json", false, "print the lock file (JSON)")
	app.AddFlags(flags, "models")
	return cmd
}
