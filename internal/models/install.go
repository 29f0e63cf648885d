package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// install moves a gathered model to its place. Beside files that stand there,
// the new ones are moved in one by one and the lock file last; otherwise the
// folder appears as a whole.
func (p *Puller) install(lock, have *Lock, staging, dir string) error {
	lock.Pulled = p.opts.Now().UTC()
	lock.Verified = lock.Pulled
	if have != nil {
		return addTo(lock, have, staging, dir)
	}
	if err := prune(staging, lock); err != nil {
		return err
	}
	if err := lock.write(staging); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		if err := os.RemoveAll(dir + replacedSuffix); err != nil {
			return err
		}
		if err := moveInto(dir, dir+replacedSuffix); err != nil {
			return err
		}
	}
	if err := moveInto(staging, dir); err != nil {
		return err
	}
	return os.RemoveAll(dir + replacedSuffix)
}

// addTo moves new files beside the ones of the same commit.
func addTo(lock, have *Lock, staging, dir string) error {
	for _, f := range lock.Files {
		err := moveInto(filepath.Join(staging, f.Name), filepath.Join(dir, f.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // one that stands there was not fetched
			return err
		}
	}
	lock.Revision = have.Revision
	for _, f := range have.Files {
		if _, ok := lock.file(f.Name); !ok {
			lock.Files = append(lock.Files, f)
			if !isWhole(filepath.Join(dir, f.Name), f) {
				return fmt.Errorf("%s is not as it was pulled: pull the model again with --replace", f.Name)
			}
		}
	}
	if err := lock.write(dir); err != nil {
		return err
	}
	return os.RemoveAll(staging)
}

// prune takes what is no file of the model out of the staging folder.
func prune(staging string, lock *Lock) error {
	list, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, e := range list {
		if _, ok := lock.file(e.Name()); ok {
			continue
		}
		if err := os.RemoveAll(filepath.Join(staging, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// restore brings back what a pull with --replace took away if it ended between
// its two renames.
func restore(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := os.Rename(dir+replacedSuffix, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("bringing back %s, which an earlier pull moved away: %w", dir, err)
	}
	return nil
}

// folderBytes is what the files of a folder take; links count as what they lead
// to, as in a hub's own cache.
func folderBytes(dir string) (int64, error) {
	var n int64
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := fs.Stat(files, path)
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measuring %s: %w", dir, err)
	}
	return n, nil
}
