package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// LockFile is the name of the lock file in a model's folder.
const LockFile = "stepgap-model.json"

const lockFormat = 1

// Lock says what a model's folder holds and where it came from.
type Lock struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	// Source is owner/name of a hub, or the URL of a folder or archive.
	Source string `json:"source"`
	// Revision is what was asked for, Commit what it was on that day; both are
	// empty where the source is no hub.
	Revision string `json:"revision,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Licence  string `json:"licence,omitempty"`
	// Model is the ONNX file that was asked for last.
	Model string `json:"model"`
	// Archive is the SHA-256 of the archive that the files came in; empty where
	// they came one by one.
	Archive string `json:"archive_sha256,omitempty"`
	// Pulled is when the folder was written, Verified when its hashes were last
	// found to be right.
	Pulled   time.Time    `json:"pulled"`
	Verified time.Time    `json:"verified"`
	Files    []LockedFile `json:"files"`
}

// LockedFile is one file of the folder.
type LockedFile struct {
	Name string `json:"name"`
	// From is the file's path at the source.
	From   string `json:"from"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Checked says whose hash the file was compared with when it was pulled.
	Checked Checked `json:"checked"`
}

// Checked says whose hash a file was compared with.
type Checked string

// Whose hash it was.
const (
	CheckedGiven Checked = "given" // --sha256
	CheckedTable Checked = "table" // the table of known models
	CheckedHub   Checked = "hub"   // the hub: SHA-256 of a large file
	CheckedGit   Checked = "git"   // the hub: git's SHA-1 of a small file
	CheckedSums  Checked = "sums"  // SHA256SUMS beside the files
	CheckedNone  Checked = "none"  // nobody's: it is the first one seen
)

func (l *Lock) file(name string) (LockedFile, bool) {
	for _, f := range l.Files {
		if f.Name == name {
			return f, true
		}
	}
	return LockedFile{}, false
}

// ReadLock reads the lock file of a folder; fs.ErrNotExist if it has none.
func ReadLock(dir string) (*Lock, error) {
	path := filepath.Join(dir, LockFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the model's lock file: %w", err)
	}
	var l Lock
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if l.Format != lockFormat {
		return nil, fmt.Errorf("%s has format %d; this version reads %d", path, l.Format, lockFormat)
	}
	for _, f := range append(l.Files, LockedFile{Name: l.Model}) {
		if f.Name == "" || filepath.Base(f.Name) != f.Name || !filepath.IsLocal(f.Name) {
			return nil, fmt.Errorf("%s names the file %q, which is no plain file name", path, f.Name)
		}
	}
	return &l, nil
}

// hasLock reads the lock file, or says that there is none.
func hasLock(dir string) (*Lock, error) {
	l, err := ReadLock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return l, err
}

// write writes the lock file so that a crash leaves the old one or the new.
func (l *Lock) write(dir string) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the model's lock file: %w", err)
	}
	path := filepath.Join(dir, LockFile)
	if err := writeFile(path+".tmp", append(b, '\n')); err != nil {
		return fmt.Errorf("writing the model's lock file: %w", err)
	}
	if err := moveInto(path+".tmp", path); err != nil {
		return fmt.Errorf("writing the model's lock file: %w", err)
	}
	return nil
}
