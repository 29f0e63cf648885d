package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// want is a file to download.
type want struct {
	remote
	name string // in the model's folder
	url  *url.URL
	user *url.Userinfo
	// checked says whose the hashes in remote are.
	checked Checked
	// limit is the most bytes that are taken where no size is known.
	limit int64
}

// part is what lies beside a partial file: what must still hold for its bytes
// to be the beginning of the file that is asked for.
type part struct {
	URL       string `json:"url"`
	Validator string `json:"validator,omitempty"` // for If-Range
	SHA256    string `json:"sha256,omitempty"`
	Git       string `json:"git,omitempty"`
}

const (
	partialSuffix = ".partial"
	partSuffix    = ".partial.json"
)

// downloader fetches files into a folder. A file has its final name only once
// it is whole, checked and on the disk.
type downloader struct {
	client *client
	retry  *retrier
	report Reporter
	free   func(dir string) (int64, error)
}

// fetch downloads one file, going on from where an earlier try ended.
func (d *downloader) fetch(ctx context.Context, w want, dir string) (LockedFile, error) {
	final := filepath.Join(dir, w.name)
	if got, err := hashFile(final); err == nil && w.hashed() && w.matches(got) == nil {
		return w.locked(got), nil
	}
	partial := final + partialSuffix
	var got sums
	resumed := false
	err := d.retry.do(ctx, w.name, func() (bool, error) {
		further, from, err := d.attempt(ctx, w, partial, final+partSuffix)
		resumed = resumed || from > 0
		if err != nil {
			return further, err
		}
		if got, err = hashFile(partial); err != nil {
			return false, fmt.Errorf("hashing what came: %w", err)
		}
		if err := w.matches(got); err != nil {
			d.discard(partial, final+partSuffix)
			if resumed {
				// The parts may be of two different files; once more from the start.
				resumed = false
				return false, fmt.Errorf("the parts don't fit together: %w", errAgain)
			}
			return false, err
		}
		return false, nil
	})
	if err != nil {
		return LockedFile{}, err
	}
	d.report.End(w.name)
	if err := d.keep(partial, final); err != nil {
		return LockedFile{}, fmt.Errorf("keeping %s: %w", w.name, err)
	}
	return w.locked(got), nil
}

// keep gives a whole file its final name.
func (d *downloader) keep(partial, final string) error {
	f, err := os.OpenFile(partial, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Chmod(partial, 0o644); err != nil {
		return err
	}
	if err := moveInto(partial, final); err != nil {
		return err
	}
	if err := os.Remove(final + partSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *downloader) discard(paths ...string) {
	for _, p := range paths {
		_ = os.Remove(p) // what can't be removed is truncated by the next try
	}
}

// attempt makes one request and appends what comes. It says whether bytes came
// and at which byte it began.
func (d *downloader) attempt(ctx context.Context, w want, partial, beside string) (further bool, from int64, err error) {
	offset, state := resumable(w, partial, beside)
	header := http.Header{}
	if offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		if state.Validator != "" {
			header.Set("If-Range", state.Validator)
		}
	}
	res, err := d.client.do(ctx, request{method: http.MethodGet, url: w.url, user: w.user, header: header})
	if err != nil {
		var s *statusError
		if errors.As(err, &s) && s.code == http.StatusRequestedRangeNotSatisfiable && offset > 0 {
			if offset == w.Size {
				return false, offset, nil // it was whole before; the hash decides
			}
			d.discard(partial, beside)
			return false, 0, errAgain
		}
		return false, 0, err
	}
	defer res.Body.Close()
	total := res.ContentLength
	if res.StatusCode == http.StatusPartialContent {
		start, size, ok := contentRange(res.Header.Get("Content-Range"))
		now := validator(res.Header)
		other := state.Validator != "" && now != "" && now != state.Validator // it ignores If-Range
		if !ok || start != offset || other || (w.Size >= 0 && size >= 0 && size != w.Size) {
			d.discard(partial, beside)
			return false, 0, errAgain
		}
		total = size
	} else {
		if offset > 0 {
			d.report.Note(w.name + ": the server does not go on where it ended, or the file changed; starting over")
		}
		offset = 0
	}
	if w.Size >= 0 && total >= 0 && total != w.Size {
		return false, offset, fmt.Errorf("%s has %d bytes, expected %d: %w", shown(w.url), total, w.Size, ErrMismatch)
	}
	if total < 0 {
		total = w.Size
	}
	if err := d.room(filepath.Dir(partial), total-offset); err != nil {
		return false, offset, err
	}
	return d.append(ctx, w, res, partial, beside, offset, total)
}

// append writes the body behind the first offset bytes of the partial file.
func (d *downloader) append(ctx context.Context, w want, res *http.Response, partial, beside string, offset, total int64) (further bool, from int64, err error) {
	state, err := json.Marshal(part{URL: shown(w.url), Validator: validator(res.Header), SHA256: w.SHA256, Git: w.Git})
	if err != nil {
		return false, offset, fmt.Errorf("noting the state of %s: %w", w.name, err)
	}
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return false, offset, fmt.Errorf("writing %s: %w", w.name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Cut before the note is renewed: it must never vouch for older bytes.
	if err := f.Truncate(offset); err != nil {
		return false, offset, fmt.Errorf("writing %s: %w", w.name, err)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return false, offset, fmt.Errorf("writing %s: %w", w.name, err)
	}
	if err := writeFile(beside, state); err != nil {
		return false, offset, fmt.Errorf("writing %s: %w", w.name, err)
	}
	d.report.Begin(w.name, total, offset)
	most := w.limit
	if total >= 0 {
		most = total
	}
	n, err := io.Copy(&counting{w: f, report: d.report}, io.LimitReader(&tagged{r: res.Body}, most-offset+1))
	var broken *readError
	switch {
	case errors.As(err, &broken):
		return n > 0, offset, netFault(ctx, w.url, broken.err)
	case err != nil:
		return n > 0, offset, fmt.Errorf("writing %s: %w", w.name, err)
	case offset+n > most:
		return false, offset, fmt.Errorf("%s sends more than %d bytes: %w", shown(w.url), most, ErrMismatch)
	case total >= 0 && offset+n < total:
		return n > 0, offset, netFault(ctx, w.url, io.ErrUnexpectedEOF)
	}
	return n > 0, offset, nil
}

// resumable is how many bytes of a partial file may stay, and what is known of
// them.
func resumable(w want, partial, beside string) (int64, part) {
	info, err := os.Stat(partial)
	if err != nil {
		return 0, part{}
	}
	b, err := os.ReadFile(beside)
	if err != nil {
		return 0, part{}
	}
	var p part
	if json.Unmarshal(b, &p) != nil || p.SHA256 != w.SHA256 || p.Git != w.Git {
		return 0, part{}
	}
	if p.URL != shown(w.url) {
		if !w.hashed() {
			return 0, part{}
		}
		p.Validator = "" // another server's
	}
	// Without a hash or a validator nothing would tell that the file changed.
	if (!w.hashed() && p.Validator == "") || (w.Size >= 0 && info.Size() > w.Size) {
		return 0, part{}
	}
	return info.Size(), p
}

// validator is what If-Range can hold the server to: a strong entity tag, or
// else the date of the last change.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

// contentRange reads "bytes 5-9/10"; size is -1 if the server doesn't say.
func contentRange(s string) (start, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	if !ok {
		return 0, 0, false
	}
	span, all, ok := strings.Cut(s, "/")
	if !ok {
		return 0, 0, false
	}
	first, _, ok := strings.Cut(span, "-")
	if !ok {
		return 0, 0, false
	}
	start, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	if all == "*" {
		return start, -1, true
	}
	size, err = strconv.ParseInt(all, 10, 64)
	return start, size, err == nil
}

// room refuses to begin what the disk can't hold.
func (d *downloader) room(dir string, need int64) error {
	if need <= 0 {
		return nil
	}
	free, err := d.free(dir)
	if err != nil {
		return err
	}
	if free < need+diskMargin {
		return fmt.Errorf("%s are needed in %s and %s are free: free some, or set STEPGAP_MODELS to a folder on a larger disk", Bytes(need+diskMargin), dir, Bytes(free))
	}
	return nil
}

// hashed says whether there is a hash to hold the file to.
func (w *want) hashed() bool { return w.SHA256 != "" || w.Git != "" }

// matches compares a file with what it should be.
func (w *want) matches(got sums) error {
	switch {
	case w.Size >= 0 && got.size != w.Size:
		return fmt.Errorf("%s has %d bytes, expected %d: %w; nothing of it was kept", w.name, got.size, w.Size, ErrMismatch)
	case w.SHA256 != "" && got.sha256 != w.SHA256:
		return fmt.Errorf("%s has sha256 %s, expected %s (%s): %w; nothing of it was kept", w.name, got.sha256, w.SHA256, w.checked.whose(), ErrMismatch)
	case w.Git != "" && got.git != w.Git:
		return fmt.Errorf("%s has git's sha1 %s, expected %s (%s): %w; nothing of it was kept", w.name, got.git, w.Git, w.checked.whose(), ErrMismatch)
	}
	return nil
}

func (w *want) locked(got sums) LockedFile {
	return LockedFile{Name: w.name, From: w.Path, Size: got.size, SHA256: got.sha256, Checked: w.checked}
}

// whose says in words whose hash it was.
func (c Checked) whose() string {
	switch c {
	case CheckedGiven:
		return "as --sha256 says"
	case CheckedTable:
		return "as the table of known models says"
	case CheckedHub, CheckedGit:
		return "as the hub says"
	case CheckedSums:
		return "as SHA256SUMS says"
	default:
		return "nobody says"
	}
}

// readError tells a fault of the network from one of the disk.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// tagged marks the errors of a body.
type tagged struct{ r io.Reader }

func (t *tagged) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && err != io.EOF {
		err = &readError{err}
	}
	return n, err
}

// counting reports what was written.
type counting struct {
	w      io.Writer
	report Reporter
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.report.Advance(int64(n))
	return n, err
}
