package models

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// sums are the hashes of a file in lower-case hex.
type sums struct {
	size   int64
	sha256 string
	// git is the SHA-1 by which git names a blob of these bytes.
	git string
}

// hashFile reads a file once and gives its hashes.
func hashFile(path string) (sums, error) {
	f, err := os.Open(path)
	if err != nil {
		return sums{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sums{}, err
	}
	s256, s1 := sha256.New(), sha1.New()
	fmt.Fprintf(s1, "blob %d\x00", info.Size())
	n, err := io.Copy(io.MultiWriter(s256, s1), f)
	if err != nil {
		return sums{}, err
	}
	return sums{size: n, sha256: hex.EncodeToString(s256.Sum(nil)), git: hex.EncodeToString(s1.Sum(nil))}, nil
}

// writeFile writes a small file through to the disk.
func writeFile(path string, b []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// moveInto renames a file or folder and makes the new name last.
func moveInto(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
