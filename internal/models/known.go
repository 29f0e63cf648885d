package models

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed known.yaml
var knownYAML []byte

// Known is one model of the table.
type Known struct {
	Name string `yaml:"name"`
	// Builtin says that set-up builds the model; it is not pulled.
	Builtin bool `yaml:"builtin"`
	// Repo is owner/name on the hub, Revision a branch, tag or commit.
	Repo     string `yaml:"repo"`
	Revision string `yaml:"revision"`
	// File is the ONNX file that is pulled where none is asked for.
	File string `yaml:"file"`
	// Convert says that the repository holds no ONNX file.
	Convert bool `yaml:"convert"`
	// About is the size of File as the hub's page shows it.
	About   string   `yaml:"about"`
	Licence string   `yaml:"licence"`
	Labels  []string `yaml:"labels"`
	Note    string   `yaml:"note"`
	// Files holds what is known for certain of files, by their path in the
	// repository at Revision.
	Files map[string]KnownFile `yaml:"files"`
}

// KnownFile is what a source says of a file.
type KnownFile struct {
	SHA256 string `yaml:"sha256"`
	Size   int64  `yaml:"size"` // bytes; 0 if no source says
}

// KnownModels reads the table.
func KnownModels() ([]Known, error) {
	dec := yaml.NewDecoder(bytes.NewReader(knownYAML))
	dec.KnownFields(true)
	var all []Known
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("reading the table of known models: %w", err)
	}
	return all, nil
}

// find returns the model of that name, or of that repository.
func find(all []Known, match func(Known) bool) (Known, bool) {
	i := slices.IndexFunc(all, match)
	if i < 0 {
		return Known{}, false
	}
	return all[i], true
}

func byName(name string) func(Known) bool {
	return func(k Known) bool { return k.Name == name }
}

func byRepo(repo string) func(Known) bool {
	return func(k Known) bool { return k.Repo != "" && k.Repo == repo }
}

// pinned says what the table knows of a file at a commit; the zero value if
// nothing. A hash at a branch would be wrong after the next push, so only
// commits count.
func (k Known) pinned(commit, path string) KnownFile {
	if k.Revision == commit && isCommit(commit) {
		return k.Files[path]
	}
	return KnownFile{}
}
