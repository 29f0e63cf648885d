package app

import (
	"errors"
	"fmt"

	"github.com/stepgap/stepgap/internal/models"
	"github.com/stepgap/stepgap/internal/nli/onnx"
)

// ModelFolder finds the folder and the ONNX file of the model that nli_model
// names: a folder, a model of the store, or (empty, or by its name) the one
// beside the program.
func ModelFolder(cfg Config) (dir, file string, err error) {
	if cfg.NLIModel == "" {
		if dir, err = onnx.FindModel(); err != nil {
			return "", "", fmt.Errorf("no NLI model: %w; run `make setup`, or name one with --nli-model (`stepgap models list` shows which)", err)
		}
		return dir, cfg.NLIFile, nil
	}
	store, err := models.OpenStore(cfg.Models)
	if err != nil && !models.IsModelFolder(cfg.NLIModel) { // a folder needs no store
		return "", "", err
	}
	dir, file, err = store.Resolve(cfg.NLIModel, cfg.NLIFile)
	if errors.Is(err, models.ErrAbsent) && cfg.NLIModel == onnx.DefaultModel {
		if beside, err := onnx.FindModel(); err == nil {
			return beside, cfg.NLIFile, nil
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("setting nli_model: %w", err)
	}
	return dir, file, nil
}
