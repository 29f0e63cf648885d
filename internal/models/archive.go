package models

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// entryLimit bounds the files of an archive: a model has a dozen.
const entryLimit = 10_000

// entries lists an archive's files, by their path below the folder that holds
// the model, and refuses archives that reach outside: absolute paths, "..",
// links and devices. most bounds the bytes that it unpacks to.
func entries(ctx context.Context, archive string, most int64) (files []remote, err error) {
	var left = most
	err = eachEntry(ctx, archive, func(h *tar.Header, r io.Reader) error {
		if len(files) == entryLimit {
			return fmt.Errorf("the archive holds more than %d files", entryLimit)
		}
		n, err := io.Copy(io.Discard, io.LimitReader(r, left+1))
		if err != nil {
			return err
		}
		if left -= n; left < 0 {
			return fmt.Errorf("the archive unpacks to more than %s, which is what the disk can hold", Bytes(most))
		}
		files = append(files, remote{Path: path.Clean(h.Name), Size: n})
		return nil
	})
	return files, err
}

// eachEntry calls do for every regular file of an archive.
func eachEntry(ctx context.Context, archive string, do func(*tar.Header, io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("opening the archive: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(&untilDone{ctx, f}))
	if err != nil {
		return fmt.Errorf("opening the archive: %w", err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		if !filepath.IsLocal(h.Name) || strings.Contains(h.Name, `\`) {
			return fmt.Errorf("the archive holds %q, which lies outside of it; it is refused", h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
		default:
			return fmt.Errorf("the archive holds %q, which is a link or a device; it is refused", h.Name)
		}
		if err := do(h, r); err != nil {
			return fmt.Errorf("reading the archive: %s: %w", h.Name, err)
		}
	}
}

// untilDone reads until its context is done: a few bytes can unpack to very many.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if cause := context.Cause(u.ctx); cause != nil {
		return 0, cause
	}
	return u.r.Read(p)
}

// below drops the folder that archives usually put everything into, if the
// model lies there.
func below(files []remote) (prefix string, inside []remote) {
	for _, f := range files {
		if path.Base(f.Path) == "config.json" && (prefix == "" || len(path.Dir(f.Path)) < len(prefix)) {
			prefix = path.Dir(f.Path)
		}
	}
	if prefix == "." || prefix == "" {
		return "", files
	}
	for _, f := range files {
		if p, ok := strings.CutPrefix(f.Path, prefix+"/"); ok {
			inside = append(inside, remote{Path: p, Size: f.Size, SHA256: f.SHA256})
		}
	}
	return prefix, inside
}

// unpack writes the chosen files (by their path in the archive) into dir under
// the names they are given.
func unpack(ctx context.Context, archive, dir string, names map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	defer root.Close()
	return eachEntry(ctx, archive, func(h *tar.Header, r io.Reader) error {
		name, ok := names[path.Clean(h.Name)]
		if !ok {
			return nil
		}
		f, err := root.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// readSums reads what sha256sum writes: hashes by path.
func readSums(r io.Reader) (map[string]string, error) {
	sums := map[string]string{}
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		hash, name, ok := strings.Cut(line, " ")
		name = strings.TrimPrefix(strings.TrimSpace(name), "*")
		if hash = strings.ToLower(hash); !ok || name == "" || !sha256Pattern.MatchString(hash) {
			return nil, fmt.Errorf("%s has the line %q, which is no hash and name", sumsFile, clip(line, 100))
		}
		sums[path.Clean(name)] = hash
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", sumsFile, err)
	}
	return sums, nil
}
