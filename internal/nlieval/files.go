package nlieval

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// readCSV reads premise, hypothesis and label from a file with a header.
func readCSV(path string) ([]Pair, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading an NLI set: %w", err)
	}
	r := csv.NewReader(bytes.NewReader(bytes.ToValidUTF8(data, []byte("\uFFFD"))))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("reading the header of %s: %w", path, err)
	}
	at, err := columns(header, "premise", "hypothesis", "label")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []Pair
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		out = appendRow(out, row, at)
	}
}

// readTSV reads a file of tab-separated columns without quoting.
func readTSV(path, premise, hypothesis, label string) ([]Pair, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading an NLI set: %w", err)
	}
	lines := strings.Split(strings.TrimPrefix(string(data), "\uFEFF"), "\n")
	at, err := columns(strings.Split(strings.TrimRight(lines[0], "\r"), "\t"), premise, hypothesis, label)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []Pair
	for _, line := range lines[1:] {
		out = appendRow(out, strings.Split(strings.TrimRight(line, "\r"), "\t"), at)
	}
	return out, nil
}

// columns finds where the three columns stand.
func columns(header []string, names ...string) (at [3]int, err error) {
	for i, name := range names {
		at[i] = -1
		for j, h := range header {
			if h == name {
				at[i] = j
			}
		}
		if at[i] < 0 {
			return at, fmt.Errorf("no column %q among %q", name, header)
		}
	}
	return at, nil
}

// appendRow leaves out rows without a label, or without one of the texts.
func appendRow(out []Pair, row []string, at [3]int) []Pair {
	if len(row) <= max(at[0], at[1], at[2]) {
		return out
	}
	label, ok := parseLabel(row[at[2]])
	p := Pair{Premise: row[at[0]], Hypothesis: row[at[1]], Label: label}
	if !ok || p.Premise == "" || p.Hypothesis == "" {
		return out
	}
	return append(out, p)
}

// readLines reads a file of one JSON object a line.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a set: %w", err)
	}
	defer f.Close()
	return decodeLines[T](f, filepath.Base(path))
}

func decodeLines[T any](r io.Reader, name string) ([]T, error) {
	var out []T
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", name, n, err)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return out, nil
}

var spaceBefore = regexp.MustCompile(`\s+([.,;:!?])`)

// detokenized undoes the spaces and brackets of a tokenised text.
func detokenized(s string) string {
	s = spaceBefore.ReplaceAllString(s, "$1")
	return strings.NewReplacer("-LRB-", "(", "-RRB-", ")").Replace(s)
}

func readFever(path string) ([]Pair, error) {
	type row struct {
		Claim, Evidence, Label string
		Gold                   string `json:"gold_label"`
	}
	rows, err := readLines[row](path)
	if err != nil {
		return nil, err
	}
	var out []Pair
	for i, r := range rows {
		if r.Gold != "" {
			r.Label = r.Gold
		}
		label, ok := parseLabel(r.Label)
		if !ok {
			return nil, fmt.Errorf("%s line %d: unknown label %q", path, i+1, r.Label)
		}
		out = append(out, Pair{Premise: detokenized(r.Evidence), Hypothesis: detokenized(r.Claim), Label: label})
	}
	return out, nil
}

func readFM2(path string) ([]Pair, error) {
	type row struct {
		Text, Label string
		Gold        []struct{ Text string } `json:"gold_evidence"`
	}
	rows, err := readLines[row](path)
	if err != nil {
		return nil, err
	}
	var out []Pair
	for i, r := range rows {
		label, ok := parseLabel(r.Label)
		if !ok {
			return nil, fmt.Errorf("%s line %d: unknown label %q", path, i+1, r.Label)
		}
		var texts []string
		for _, e := range r.Gold {
			texts = append(texts, e.Text)
		}
		out = append(out, Pair{Premise: strings.Join(texts, " "), Hypothesis: r.Text, Label: label})
	}
	return out, nil
}

func readWiCE(path string) ([]Pair, error) {
	type row struct {
		Label, Claim string
		Evidence     []string
	}
	rows, err := readLines[row](path)
	if err != nil {
		return nil, err
	}
	var out []Pair
	for i, r := range rows {
		label, ok := parseLabel(r.Label)
		if !ok {
			return nil, fmt.Errorf("%s line %d: unknown label %q", path, i+1, r.Label)
		}
		out = append(out, Pair{Premise: strings.Join(r.Evidence, " "), Hypothesis: r.Claim, Label: label, Sentences: r.Evidence})
	}
	return out, nil
}
