package stepset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxLine is how long a line of a set may be, in bytes.
const maxLine = 16 << 20

// LineError says which line of a set is wrong, and how.
type LineError struct {
	Source string
	Line   int
	Err    error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Source, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Open reads the set in a file. The set is named after the file.
func Open(path string) (Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return Set{}, fmt.Errorf("opening a step set: %w", err)
	}
	defer f.Close()
	set, err := Read(f, path)
	set.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return set, err
}

// Read reads a set and refuses what is wrong with a *LineError: an unknown key,
// a bad value, an id that stands twice, a question in two wordings or splits.
// Blank lines are passed over. source names the file in errors.
func Read(r io.Reader, source string) (Set, error) {
	set := Set{Mapping: "labels as the file gives them"}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	seen := newLedger()
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			continue
		}
		rollout, err := decode(line)
		if err == nil {
			err = errors.Join(rollout.check(), seen.enter(rollout, n))
		}
		if err != nil {
			return Set{}, &LineError{Source: source, Line: n, Err: err}
		}
		set.Rollouts = append(set.Rollouts, *rollout)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line is over %d bytes; a rollout stands on one line, and passages are given once, at the step that fetched them", maxLine)
		}
		return Set{}, &LineError{Source: source, Line: n + 1, Err: err}
	}
	return set, nil
}

func decode(line []byte) (*Rollout, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var r Rollout
	if err := dec.Decode(&r); err != nil {
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return nil, fmt.Errorf("the key %s is not part of the format; docs/step-sets.md lists the keys", key)
		}
		return nil, fmt.Errorf("not a rollout in JSON: %w", err)
	}
	if dec.More() {
		return nil, errors.New("more than one JSON value on the line; each rollout stands on its own line")
	}
	return &r, nil
}

// Write writes the set as JSON lines: equal sets give equal bytes.
func (s *Set) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range s.Rollouts {
		if err := enc.Encode(&s.Rollouts[i]); err != nil {
			return fmt.Errorf("writing rollout %q of a step set: %w", s.Rollouts[i].ID, err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing a step set: %w", err)
	}
	return nil
}

// Save writes the set to a file, which appears whole or not at all.
func (s *Set) Save(path string) error {
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing a step set: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b.Bytes())
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("writing a step set: %w", err)
	}
	return nil
}
