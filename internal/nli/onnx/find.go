package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNotFound says that a model folder or the runtime's library is not where it
// was looked for.
var ErrNotFound = errors.New("not found")

// DefaultModel is the folder name of the model that set-up builds.
const DefaultModel = "nli-minilm"

// LibraryName is the file name of ONNX Runtime's library.
const LibraryName = "libonnxruntime.so"

// FindModel looks for the default model beside the executable, where set-up
// and the image put it: ../models/nli-minilm and models/nli-minilm.
func FindModel() (string, error) {
	return beside(filepath.Join("..", "models", DefaultModel, "config.json"), filepath.Join("models", DefaultModel, "config.json"))
}

// FindLibrary looks for ONNX Runtime's library beside the executable:
// ../lib and lib.
func FindLibrary() (string, error) {
	path, err := beside(filepath.Join("..", "lib", LibraryName), filepath.Join("lib", LibraryName))
	if err != nil {
		return "", err
	}
	return filepath.Join(path, LibraryName), nil
}

// beside returns the folder of the first of files that exists, relative to the
// executable's own folder.
func beside(files ...string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program's own folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return firstExisting(filepath.Dir(exe), files...)
}

func firstExisting(base string, files ...string) (string, error) {
	var tried []string
	for _, f := range files {
		path := filepath.Join(base, f)
		if _, err := os.Stat(path); err == nil {
			return filepath.Dir(path), nil
		}
		tried = append(tried, path)
	}
	return "", fmt.Errorf("none of %q is there: %w", tried, ErrNotFound)
}
