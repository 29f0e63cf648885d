package models

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// State says what there is of a model.
type State string

// What there can be of a model.
const (
	StateAbsent   State = "absent"   // known, and not on this machine
	StateBegun    State = "begun"    // a pull was interrupted; the next one goes on
	StateBuilt    State = "built"    // made by set-up
	StateVerified State = "verified" // pulled, hashes right, unchanged since
	StateChanged  State = "changed"  // pulled; a file changed since its hash was right
	StateUnlocked State = "unlocked" // a folder without a lock file
)

// Entry is a model that is known, present, or both.
type Entry struct {
	Name  string `json:"name"`
	Known bool   `json:"known"`
	State State  `json:"state"`
	// Dir is the model's folder, and Model its ONNX file; empty if absent.
	Dir   string `json:"dir,omitempty"`
	Model string `json:"model,omitempty"`
	// Source is owner/name of the hub, or a URL.
	Source   string `json:"source,omitempty"`
	Revision string `json:"revision,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Licence  string `json:"licence,omitempty"`
	// Labels are the model's classes in the order of its output.
	Labels []string `json:"labels,omitempty"`
	// Bytes is what the folder takes, null if there is none or it can't be
	// measured; About what the hub
	// shows as the size of the ONNX file.
	Bytes    *int64     `json:"bytes"`
	About    string     `json:"about,omitempty"`
	Convert  bool       `json:"convert,omitempty"`
	Note     string     `json:"note,omitempty"`
	Pulled   *time.Time `json:"pulled,omitempty"`
	Verified *time.Time `json:"verified,omitempty"`
}

// List lists the models of the table and of the store. builtin is the folder of
// the model that set-up builds, empty if it was not found.
func (s Store) List(builtin string) ([]Entry, error) {
	known, err := KnownModels()
	if err != nil {
		return nil, err
	}
	whole, begun, err := s.names()
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, k := range known {
		e := Entry{
			Name: k.Name, Known: true, State: StateAbsent, Source: k.Repo, Revision: k.Revision,
			Licence: k.Licence, Labels: k.Labels, About: k.About, Convert: k.Convert, Note: k.Note,
		}
		if k.Builtin && builtin != "" {
			e.State, e.Model = StateBuilt, k.File
			e.present(builtin)
		}
		all = append(all, e)
	}
	at := func(name string) *Entry {
		i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
		if i < 0 {
			all = append(all, Entry{Name: name})
			i = len(all) - 1
		}
		return &all[i]
	}
	for _, name := range begun {
		if e := at(name); e.State == StateAbsent || e.State == "" {
			e.State = StateBegun
		}
	}
	for _, name := range whole {
		if err := at(name).pulled(s.Path(name)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// present fills in what the folder itself says.
func (e *Entry) present(dir string) {
	e.Dir = dir
	if n, err := folderBytes(dir); err == nil {
		e.Bytes = &n
	}
	if labels, err := labelsOf(dir); err == nil {
		e.Labels = labels
	}
}

// pulled fills in what the folder's lock file says.
func (e *Entry) pulled(dir string) error {
	e.present(dir)
	e.State = StateUnlocked
	lock, err := hasLock(dir)
	if err != nil {
		return fmt.Errorf("model %s: %w", e.Name, err)
	}
	if lock == nil {
		return nil
	}
	e.State, e.Model, e.Source = lock.state(dir), lock.Model, lock.Source
	e.Revision, e.Commit, e.Pulled, e.Verified = lock.Revision, lock.Commit, &lock.Pulled, &lock.Verified
	if lock.Licence != "" {
		e.Licence = lock.Licence
	}
	return nil
}

// state compares sizes and times, which is quick; Verify compares hashes.
func (l *Lock) state(dir string) State {
	for _, f := range l.Files {
		info, err := os.Stat(filepath.Join(dir, f.Name))
		if err != nil || info.Size() != f.Size || info.ModTime().After(l.Verified) {
			return StateChanged
		}
	}
	return StateVerified
}

// labelsOf reads the classes of a model in the order of its output.
func labelsOf(dir string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	var cfg struct {
		ID2Label map[string]string `json:"id2label"`
	}
	if err := json.Unmarshal(b, &cfg); err != nil {
		return nil, err
	}
	labels := make([]string, 0, len(cfg.ID2Label))
	for i := range len(cfg.ID2Label) {
		name, ok := cfg.ID2Label[strconv.Itoa(i)]
		if !ok {
			return nil, fmt.Errorf("id2label lacks class %d", i)
		}
		labels = append(labels, name)
	}
	return labels, nil
}
