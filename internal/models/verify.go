package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Against says what a folder was held to.
type Against string

// What a folder can be held to.
const (
	AgainstLock Against = "lock" // its lock file
	AgainstSums Against = "sums" // its SHA256SUMS, which set-up writes
	AgainstNone Against = "none" // nothing: there is neither
)

// Verification is what hashing a folder's files gave.
type Verification struct {
	Name    string  `json:"name"`
	Dir     string  `json:"dir"`
	Against Against `json:"against"`
	// Model is the ONNX file that was pulled last; empty if there is no lock file.
	Model string  `json:"model,omitempty"`
	Files []Check `json:"files"`
	lock  *Lock
}

// Check is one file. Want* are what it should be, empty or -1 if nothing says.
type Check struct {
	Name       string `json:"name"`
	Size       int64  `json:"size"` // bytes; -1 if there is no such file
	WantSize   int64  `json:"want_size"`
	SHA256     string `json:"sha256,omitempty"`
	WantSHA256 string `json:"want_sha256,omitempty"`
	// Problem is empty for a file that is as it should be.
	Problem string `json:"problem,omitempty"`
}

// Err is ErrMismatch with the names of the files that are not as they should
// be, or nil.
func (v *Verification) Err() error {
	var bad []string
	for _, c := range v.Files {
		if c.Problem != "" {
			bad = append(bad, c.Name+": "+c.Problem)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", v.Dir, ErrMismatch, strings.Join(bad, "; "))
}

// Verify hashes the files of a model's folder and compares them with its lock
// file (and that with the table of known models), or with its SHA256SUMS.
func Verify(ctx context.Context, dir string) (*Verification, error) {
	v := &Verification{Name: filepath.Base(dir), Dir: dir, Against: AgainstNone}
	lock, err := hasLock(dir)
	if err != nil {
		return nil, err
	}
	switch {
	case lock != nil:
		v.Against, v.Name, v.Model, v.lock = AgainstLock, lock.Name, lock.Model, lock
		for _, f := range lock.Files {
			v.Files = append(v.Files, Check{Name: f.Name, WantSize: f.Size, WantSHA256: f.SHA256})
		}
		if err := v.holdToTable(lock); err != nil {
			return nil, err
		}
	case isFile(filepath.Join(dir, sumsFile)):
		v.Against = AgainstSums
		if err := v.fromSums(filepath.Join(dir, sumsFile)); err != nil {
			return nil, err
		}
	default:
		if err := v.fromFolder(); err != nil {
			return nil, err
		}
	}
	for i := range v.Files {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		v.Files[i].hash(dir)
	}
	return v, nil
}

// holdToTable notes where the lock file itself is not what the table says.
func (v *Verification) holdToTable(lock *Lock) error {
	all, err := KnownModels()
	if err != nil {
		return err
	}
	k, ok := find(all, byRepo(lock.Source))
	if !ok {
		return nil
	}
	for i, f := range lock.Files {
		if want := k.pinned(lock.Commit, f.From).SHA256; want != "" && want != f.SHA256 {
			v.Files[i].Problem = fmt.Sprintf("the lock file says sha256 %s, the table of known models %s", f.SHA256, want)
		}
	}
	return nil
}

func (v *Verification) fromSums(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", sumsFile, err)
	}
	defer f.Close()
	sums, err := readSums(f)
	if err != nil {
		return err
	}
	for name, sum := range sums {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s names %q, which lies outside of the folder", path, name)
		}
		v.Files = append(v.Files, Check{Name: name, WantSize: -1, WantSHA256: sum})
	}
	slices.SortFunc(v.Files, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (v *Verification) fromFolder() error {
	list, err := os.ReadDir(v.Dir)
	if err != nil {
		return fmt.Errorf("reading the model's folder: %w", err)
	}
	for _, e := range list {
		if e.Type().IsRegular() {
			v.Files = append(v.Files, Check{Name: e.Name(), WantSize: -1})
		}
	}
	return nil
}

func (c *Check) hash(dir string) {
	got, err := hashFile(filepath.Join(dir, c.Name))
	if err != nil {
		c.Size = -1
		if errors.Is(err, fs.ErrNotExist) {
			c.Problem = "it is not there"
		} else {
			c.Problem = err.Error()
		}
		return
	}
	c.Size, c.SHA256 = got.size, got.sha256
	switch {
	case c.Problem != "":
	case c.WantSize >= 0 && c.Size != c.WantSize:
		c.Problem = fmt.Sprintf("%d bytes, expected %d", c.Size, c.WantSize)
	case c.WantSHA256 != "" && c.SHA256 != c.WantSHA256:
		c.Problem = fmt.Sprintf("sha256 %s, expected %s", c.SHA256, c.WantSHA256)
	}
}

// MarkVerified notes in a pulled model's lock file that its hashes were right
// at now. A folder that can't be written stays as it is.
func (s Store) MarkVerified(ctx context.Context, v *Verification, now time.Time) error {
	if v.lock == nil || v.Err() != nil || filepath.Dir(v.Dir) != s.Dir {
		return nil
	}
	unlock, err := s.lock(ctx, filepath.Base(v.Dir), func(string) {})
	if err != nil {
		return unlessReadOnly(err)
	}
	defer unlock()
	lock, err := ReadLock(v.Dir)
	if err != nil {
		return err
	}
	if !slices.Equal(lock.Files, v.lock.Files) {
		return nil // a pull came between; it vouches for itself
	}
	lock.Verified = now.UTC()
	return unlessReadOnly(lock.write(v.Dir))
}

func unlessReadOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) {
		return nil
	}
	return err
}
