package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Store is a folder that holds models, one a folder.
type Store struct{ Dir string }

const (
	// stagingSuffix ends the folder that a pull is gathered in.
	stagingSuffix = ".pulling"
	// replacedSuffix ends the folder that a pull with --replace takes away last.
	replacedSuffix = ".replaced"
)

// OpenStore names the store: dir, or without one the user's cache folder. It
// makes nothing.
func OpenStore(dir string) (Store, error) {
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return Store{}, fmt.Errorf("resolving the models folder %s: %w", dir, err)
		}
		return Store{Dir: abs}, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Store{}, fmt.Errorf("finding the user's cache folder: %w; name a folder for models with STEPGAP_MODELS", err)
	}
	return Store{Dir: filepath.Join(cache, "stepgap", "models")}, nil
}

// Path is the folder of a model of that name, whether it exists or not.
func (s Store) Path(name string) string { return filepath.Join(s.Dir, name) }

// Resolve finds the model that a setting names: a folder, or a model of the
// store. file is the ONNX file that is wanted; where the folder lacks it and
// was pulled with another, that one is returned. An error wraps ErrAbsent where
// the model could be pulled but is not there.
func (s Store) Resolve(nameOrFolder, file string) (dir, model string, err error) {
	if IsModelFolder(nameOrFolder) {
		return pulledFile(nameOrFolder, file)
	}
	if checkName(nameOrFolder) != nil {
		return "", "", fmt.Errorf("%s is no folder of a model: it holds no config.json", nameOrFolder)
	}
	dir = s.Path(nameOrFolder)
	if IsModelFolder(dir) {
		return pulledFile(dir, file)
	}
	all, err := KnownModels()
	if err != nil {
		return "", "", err
	}
	k, known := find(all, byName(nameOrFolder))
	switch {
	case known && k.Builtin:
		return "", "", fmt.Errorf("model %s: %w: it is built by `make setup`", k.Name, ErrAbsent)
	case known:
		return "", "", fmt.Errorf("model %s: %w: run `stepgap models pull %s`", k.Name, ErrAbsent, k.Name)
	default:
		return "", "", fmt.Errorf("model %s: %w: there is no such folder, nothing of that name in %s, and it is not in the table: `stepgap models list` shows what there is; "+
			"`stepgap models pull OWNER/NAME --as %s` or `stepgap models pull URL --as %s` fetches another", nameOrFolder, ErrAbsent, s.Dir, nameOrFolder, nameOrFolder)
	}
}

// IsModelFolder says whether a folder looks like a model's.
func IsModelFolder(dir string) bool { return isFile(filepath.Join(dir, "config.json")) }

// pulledFile chooses the ONNX file of a folder.
func pulledFile(dir, file string) (string, string, error) {
	if file != "" && isFile(filepath.Join(dir, file)) {
		return dir, file, nil
	}
	lock, err := hasLock(dir)
	if err != nil || lock == nil {
		return dir, file, err
	}
	return dir, lock.Model, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// names lists the folders of the store, and those that a pull has begun.
func (s Store) names() (whole, begun []string, err error) {
	list, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the models folder: %w", err)
	}
	for _, e := range list {
		name := e.Name()
		if base, ok := strings.CutSuffix(name, stagingSuffix); ok && checkName(base) == nil {
			begun = append(begun, base)
		} else if checkName(name) == nil && IsModelFolder(filepath.Join(s.Dir, name)) {
			whole = append(whole, name)
		}
	}
	return whole, begun, nil
}

// lock keeps other pulls of the same name, of any process, away until unlock.
func (s Store) lock(ctx context.Context, name string, note func(string)) (unlock func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the models folder: %w", err)
	}
	l := flock.New(filepath.Join(s.Dir, "."+name+".lock"), flock.SetPermissions(0o644))
	ok, err := l.TryLock()
	if err == nil && !ok {
		note("another process is pulling " + name + "; waiting for it")
		_, err = l.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", l.Path(), err)
	}
	return func() { _ = l.Unlock() }, nil // the end of the process would unlock it too
}
