package onnx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// overrideFile is the one file of a model folder that is StepGap's own: what
// Hugging Face's files leave unsaid. It is optional, and part of the hash.
const overrideFile = "stepgap.json"

// override is the contents of stepgap.json.
type override struct {
	// Labels stands in for config.json's id2label.
	Labels map[string]string `json:"labels"`
	// File is the ONNX file, relative to the folder.
	File string `json:"file"`
	// PairText is the text that the model was trained to read a pair as, with
	// {premise} and {hypothesis} in it; empty for the usual two sequences.
	PairText string `json:"pair_text"`
}

// readOverride reads dir's stepgap.json; found is false where there is none.
func readOverride(dir string) (o override, found bool, err error) {
	path := filepath.Join(dir, overrideFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err != nil {
		return o, false, fmt.Errorf("reading model folder: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	// A misspelt "label" that was passed over would leave the verdicts swapped.
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, false, fmt.Errorf("reading %s (it may hold labels, file and pair_text): %w", path, err)
	}
	return o, true, nil
}
