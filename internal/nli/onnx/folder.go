package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stepgap/stepgap/internal/nli"
)

// config is what is read of a Hugging Face config.json.
type config struct {
	ModelType             string            `json:"model_type"`
	ID2Label              map[string]string `json:"id2label"`
	MaxPositionEmbeddings int               `json:"max_position_embeddings"`
	PadTokenID            *int64            `json:"pad_token_id"`
	ProblemType           string            `json:"problem_type"`
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading model folder: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// labels is the order of the model's classes, as o says it or else config.json.
func (c config) labels(o override) (nli.LabelOrder, error) {
	byID, source, err := c.classes(o)
	if err != nil {
		return nli.LabelOrder{}, err
	}
	order, err := nli.ParseLabels(byID)
	if err != nil {
		return nli.LabelOrder{}, fmt.Errorf("%s: %w", source, err)
	}
	return order, nil
}

// classes names the model's outputs by position, and says where the names stand.
func (c config) classes(o override) (byID map[int]string, source string, err error) {
	named, source := c.ID2Label, "id2label of config.json"
	if o.Labels != nil {
		named, source = o.Labels, "labels of "+overrideFile
	}
	if c.ProblemType == "multi_label_classification" {
		return nil, source, fmt.Errorf("config.json says problem_type multi_label_classification: the model scores each class by itself, and such scores can't be compared")
	}
	byID = make(map[int]string, len(named))
	for id, name := range named {
		n, err := strconv.Atoi(id)
		if err != nil {
			return nil, source, fmt.Errorf("%s: the key %q is no class number", source, id)
		}
		byID[n] = name
	}
	return byID, source, nil
}

// maxTokens is the longest input that the model has positions for. RoBERTa
// counts positions from pad_token_id+1, so two of its embeddings are never
// used.
func (c config) maxTokens(folder string) (int, error) {
	limit := c.MaxPositionEmbeddings
	switch c.ModelType {
	case "roberta", "xlm-roberta", "camembert":
		limit -= 2
	}
	var tok struct {
		ModelMaxLength float64 `json:"model_max_length"`
	}
	path := filepath.Join(folder, "tokenizer_config.json")
	if _, err := os.Stat(path); err == nil {
		if err := readJSON(path, &tok); err != nil {
			return 0, err
		}
		// "No limit" is written as a number of thirty digits.
		if n := tok.ModelMaxLength; n > 0 && n < 1e6 && (limit <= 0 || int(n) < limit) {
			limit = int(n)
		}
	}
	if limit <= 0 {
		return 0, fmt.Errorf("neither config.json (max_position_embeddings) nor tokenizer_config.json (model_max_length) says how long an input may be")
	}
	return limit, nil
}

// hashFiles is the hex SHA-256 over names and contents of files, in order.
func hashFiles(folder string, names ...string) (string, error) {
	h := sha256.New()
	for _, name := range names {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return "", fmt.Errorf("hashing model: %w", err)
		}
		size, err := f.Stat()
		if err == nil {
			fmt.Fprintf(h, "%s\x00%d\x00", name, size.Size())
			_, err = io.Copy(h, f)
		}
		f.Close()
		if err != nil {
			return "", fmt.Errorf("hashing %s: %w", name, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
