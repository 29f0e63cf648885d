package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// usual are the places where exports put a model that needs no choosing.
var usual = [...]string{"model.onnx", "onnx/model.onnx"}

// chooseFile finds the ONNX file of a folder: the one asked for, else the one
// of the usual name, else the only one. It never guesses between several.
func chooseFile(dir, asked string) (string, error) {
	if asked != "" {
		if _, err := os.Stat(filepath.Join(dir, asked)); err != nil {
			if there, _ := onnxFiles(dir); len(there) > 0 {
				return "", fmt.Errorf("finding the model file: %w; the folder has %s", err, strings.Join(there, ", "))
			}
			return "", fmt.Errorf("finding the model file: %w", err)
		}
		return asked, nil
	}
	var found []string
	for _, name := range usual {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		var err error
		if found, err = onnxFiles(dir); err != nil {
			return "", err
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("the folder has no ONNX file, neither in itself nor in onnx/: %w; `optimum-cli export onnx --task text-classification --model NAME FOLDER` makes one", ErrNotFound)
	default:
		return "", fmt.Errorf("the folder has several ONNX files (%s): name one with --nli-file, or as \"file\" in %s", strings.Join(found, ", "), overrideFile)
	}
}

// onnxFiles lists the ONNX files of dir and dir/onnx, relative to dir.
func onnxFiles(dir string) ([]string, error) {
	var found []string
	for _, sub := range []string{"", "onnx"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if sub != "" && (errors.Is(err, fs.ErrNotExist)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading model folder: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".onnx") {
				found = append(found, filepath.ToSlash(filepath.Join(sub, e.Name())))
			}
		}
	}
	return found, nil
}
