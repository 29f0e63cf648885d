package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// fromHub plans a pull from a hub.
func (p *Puller) fromHub(ctx context.Context, s source, r Request, lock *Lock) ([]want, remote, error) {
	l, err := p.hub.list(ctx, s.repo, s.revision)
	if err != nil {
		return nil, remote{}, err
	}
	lock.Revision, lock.Commit = s.revision, l.commit
	if lock.Licence == "" {
		lock.Licence = l.licence
	}
	files, model, err := plan(l.files, r.File, s.known.File)
	if err != nil {
		return nil, remote{}, err
	}
	wants := make([]want, len(files))
	for i, f := range files {
		if f.SHA256 == "" && f.Git == "" {
			if err := p.hub.ask(ctx, s.repo, l.commit, &f); err != nil {
				return nil, remote{}, err
			}
		}
		w := want{remote: f, name: path.Base(f.Path), url: p.hub.file(s.repo, l.commit, f.Path), checked: hubCheck(f), limit: sizeLimit(f.Path)}
		if err := w.pin(s.known.pinned(l.commit, f.Path), CheckedTable); err != nil {
			return nil, remote{}, err
		}
		if f.Path == model.Path && r.SHA256 != "" {
			if err := w.pin(KnownFile{SHA256: r.SHA256}, CheckedGiven); err != nil {
				return nil, remote{}, err
			}
		}
		wants[i] = w
	}
	return wants, model, nil
}

func hubCheck(f remote) Checked {
	switch {
	case f.SHA256 != "":
		return CheckedHub
	case f.Git != "":
		return CheckedGit
	default:
		return CheckedNone
	}
}

// pin holds a file to what is known of it, and refuses a source that says
// something else.
func (w *want) pin(k KnownFile, by Checked) error {
	if k.SHA256 != "" {
		if w.SHA256 != "" && w.SHA256 != k.SHA256 {
			return fmt.Errorf("%s is to have sha256 %s (%s), but %s (%s): %w; nothing was fetched", w.Path, k.SHA256, by.whose(), w.SHA256, w.checked.whose(), ErrMismatch)
		}
		w.SHA256, w.checked = k.SHA256, by
	}
	if k.Size != 0 {
		if w.Size >= 0 && w.Size != k.Size {
			return fmt.Errorf("%s is to have %d bytes (%s), but has %d at the source: %w; nothing was fetched", w.Path, k.Size, by.whose(), w.Size, ErrMismatch)
		}
		w.Size = k.Size
	}
	return nil
}

// sizeLimit bounds a file whose size no one says.
func sizeLimit(p string) int64 {
	if strings.HasSuffix(p, ".json") {
		return 256 << 20
	}
	return 64 << 30
}

// fromFolder plans a pull from a folder behind a URL, which has no listing: it
// asks for each file that a model may have.
func (p *Puller) fromFolder(ctx context.Context, s source, r Request) ([]want, remote, error) {
	// Object stores answer 403 for what is not there to whoever may not list. If
	// what is needed is found all the same, it was that.
	var refused error
	passed := func(err error) error {
		if !forbidden(err) {
			return err
		}
		refused = err
		p.opts.Report.Note(err.Error() + "; going on as if it were not there")
		return nil
	}
	sums, err := p.sums(ctx, s)
	if err := passed(err); err != nil {
		return nil, remote{}, err
	}
	var found []remote
	look := func(name string) (bool, error) {
		if slices.ContainsFunc(found, func(f remote) bool { return f.Path == name }) {
			return true, nil
		}
		size, ok, err := p.exists(ctx, s, name)
		err = passed(err)
		if ok && err == nil {
			found = append(found, remote{Path: name, Size: size, SHA256: sums[name]})
		}
		return ok, err
	}
	models := []string{"model.onnx", "onnx/model.onnx"}
	if r.File != "" {
		models = []string{r.File}
	}
	for _, m := range models {
		ok, err := look(m)
		if err != nil {
			return nil, remote{}, err
		}
		if !ok {
			continue
		}
		for _, data := range []string{m + "_data", m + ".data"} {
			if _, err := look(data); err != nil {
				return nil, remote{}, err
			}
		}
		for _, side := range append(slices.Clone(neededFiles), sideFiles...) {
			ok, err := look(side)
			if err == nil && !ok && path.Dir(m) != "." {
				_, err = look(path.Join(path.Dir(m), side))
			}
			if err != nil {
				return nil, remote{}, err
			}
		}
		break
	}
	files, model, err := plan(found, r.File, "")
	if err != nil && refused != nil {
		return nil, remote{}, refused
	}
	if err != nil {
		return nil, remote{}, fmt.Errorf("%s: %w (looked for %s)", shown(s.url), err, strings.Join(models, " and "))
	}
	wants := make([]want, len(files))
	for i, f := range files {
		w := want{remote: f, name: path.Base(f.Path), url: s.at(f.Path), user: s.user, checked: CheckedNone, limit: sizeLimit(f.Path)}
		if f.SHA256 != "" {
			w.checked = CheckedSums
		}
		if f.Path == model.Path && r.SHA256 != "" {
			if err := w.pin(KnownFile{SHA256: r.SHA256}, CheckedGiven); err != nil {
				return nil, remote{}, err
			}
		}
		wants[i] = w
	}
	return wants, model, nil
}

// exists asks whether a folder has a file, and for its size (-1: unknown).
func (p *Puller) exists(ctx context.Context, s source, name string) (size int64, ok bool, err error) {
	method := http.MethodHead
	err = p.retry.do(ctx, "looking for "+name, func() (bool, error) {
		res, err := p.client.do(ctx, request{method: method, url: s.at(name), user: s.user})
		var status *statusError
		if errors.As(err, &status) && method == http.MethodHead &&
			(status.code == http.StatusMethodNotAllowed || status.code == http.StatusNotImplemented) {
			method = http.MethodGet
			return false, errAgain
		}
		if err != nil {
			return false, err
		}
		size = res.ContentLength
		return false, res.Body.Close()
	})
	if missing(err) {
		return 0, false, nil
	}
	return size, err == nil, err
}

// sums reads SHA256SUMS of a folder, if it has one.
func (p *Puller) sums(ctx context.Context, s source) (map[string]string, error) {
	var sums map[string]string
	err := p.retry.do(ctx, "looking for "+sumsFile, func() (bool, error) {
		b, _, err := p.client.readAll(ctx, request{method: http.MethodGet, url: s.at(sumsFile), user: s.user}, 1<<20)
		if err != nil {
			return false, err
		}
		sums, err = readSums(bytes.NewReader(b))
		return false, err
	})
	if missing(err) {
		return nil, nil
	}
	return sums, err
}

// fromArchive fetches an archive, unpacks what a model needs, and fills lock.
func (p *Puller) fromArchive(ctx context.Context, s source, r Request, lock *Lock, staging string) error {
	const name = "archive.tar.gz"
	w := want{remote: remote{Path: path.Base(s.url.Path), Size: -1, SHA256: r.SHA256}, name: name, url: s.url, user: s.user, checked: CheckedNone, limit: 64 << 30}
	if r.SHA256 != "" {
		w.checked = CheckedGiven
	}
	got, err := p.down.fetch(ctx, w, staging)
	if err != nil {
		return err
	}
	lock.Archive = got.SHA256
	archive := filepath.Join(staging, name)
	free, err := p.opts.Free(staging)
	if err != nil {
		return err
	}
	all, err := entries(ctx, archive, max(0, free-diskMargin))
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, os.Remove(archive))
	}
	if err != nil {
		return err
	}
	prefix, inside := below(all)
	files, model, err := plan(inside, r.File, "")
	if err != nil {
		return fmt.Errorf("the archive: %w", err)
	}
	names := map[string]string{}
	for _, f := range append(files, remote{Path: sumsFile}) {
		names[path.Join(prefix, f.Path)] = path.Base(f.Path)
	}
	if err := unpack(ctx, archive, staging, names); err != nil {
		return err
	}
	sums := map[string]string{}
	if f, err := os.Open(filepath.Join(staging, sumsFile)); err == nil {
		sums, err = readSums(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	for _, f := range files {
		got, err := hashFile(filepath.Join(staging, path.Base(f.Path)))
		if err != nil {
			return fmt.Errorf("hashing what was unpacked: %w", err)
		}
		u := want{remote: f, name: path.Base(f.Path), checked: w.checked}
		if sum := sums[f.Path]; sum != "" {
			u.SHA256, u.checked = sum, CheckedSums
		}
		if err := u.matches(got); err != nil {
			return err
		}
		lock.Files = append(lock.Files, u.locked(got))
	}
	lock.Model = path.Base(model.Path)
	return nil
}

// at is the URL of a file of a folder.
func (s source) at(name string) *url.URL {
	u := *s.url
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	u.Path += name
	u.RawPath = ""
	return &u
}
