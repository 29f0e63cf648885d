// Package examples holds hand-written example rollouts, and the label that a
// careful person gives each of their steps.
package examples

import (
	"embed"
	"encoding/json"
	"fmt"

	"github.com/stepgap/stepgap/pkg/schema"
)

//go:embed *.jsonl *.txt expected.json
var files embed.FS

// Files names the example files, in the formats that agents write.
func Files() []string { return []string{"rollouts.jsonl", "search-r1.txt"} }

// Open returns the text of an example file.
func Open(name string) (string, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("example file: %w", err)
	}
	return string(b), nil
}

// Expected returns the labels of each rollout's steps, by the rollout's id.
func Expected() (map[string][]schema.Gap, error) {
	b, err := files.ReadFile("expected.json")
	if err != nil {
		return nil, fmt.Errorf("expected labels: %w", err)
	}
	labels := map[string][]schema.Gap{}
	if err := json.Unmarshal(b, &labels); err != nil {
		return nil, fmt.Errorf("expected labels: %w", err)
	}
	return labels, nil
}
