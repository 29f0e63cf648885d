package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DefaultMaxRecord is how large one rollout may be, in bytes.
const DefaultMaxRecord = 16 << 20

// Options for reading rollouts; the zero value detects the format.
type Options struct {
	// Format of the source; FormatAuto or "" detects it, record by record.
	Format Format
	// MaxRecord is how many bytes one rollout may take; 0 means
	// DefaultMaxRecord. A larger one is an error and, in line-based sources, is
	// skipped.
	MaxRecord int
}

// ErrTooLarge says that a record is over Options.MaxRecord.
var ErrTooLarge = errors.New("record is too large")

// RecordError is what was wrong with one record of a source. Reading goes on
// after it where the source allows.
type RecordError struct {
	Source string
	// Line of the source, from 1; for JSON arrays the number of the element.
	Line int
	Err  error
}

func (e *RecordError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Source, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// Open reads the rollouts of a file; "-" is standard input. The file is closed
// when the iteration ends.
func Open(path string, opts Options) (iter.Seq2[*Rollout, error], error) {
	if path == "-" {
		return Decode(os.Stdin, "stdin", opts), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening rollouts: %w", err)
	}
	return func(yield func(*Rollout, error) bool) {
		defer f.Close()
		for r, err := range Decode(f, path, opts) {
			if !yield(r, err) {
				return
			}
		}
	}, nil
}

// Decode reads rollouts from r, one at a time; memory is bounded by
// Options.MaxRecord. It takes JSONL, a JSON array or object, and plain text
// with one rollout or many. name is used in errors and, where a source names
// no rollouts, in their ids. An error concerns one record (*RecordError) or
// ends the iteration.
func Decode(r io.Reader, name string, opts Options) iter.Seq2[*Rollout, error] {
	if opts.MaxRecord <= 0 {
		opts.MaxRecord = DefaultMaxRecord
	}
	return func(yield func(*Rollout, error) bool) {
		d := &decoder{br: bufio.NewReaderSize(r, 64<<10), name: name, opts: opts, yield: yield}
		if err := d.run(); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// errStop ends the iteration because the caller has had enough.
var errStop = errors.New("stopped")

type decoder struct {
	br    *bufio.Reader
	name  string
	opts  Options
	yield func(*Rollout, error) bool
	line  int
	count int
}

func (d *decoder) run() error {
	if b, _ := d.br.Peek(3); bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		_, _ = d.br.Discard(3)
	}
	switch first, second, err := d.head(); {
	case err != nil:
		return fmt.Errorf("reading %s: %w", d.name, err)
	case first == 0:
		return nil
	case first == '[' && strings.IndexByte("{[\"\x00]", second) >= 0:
		return d.array()
	case first == '{' && strings.IndexByte("\"}\x00", second) >= 0:
		return d.lines()
	}
	return d.plain()
}

// head looks at the first two characters that aren't white space; 0 where
// there are none. It reads no further than it must, so that a pipe that is
// written slowly is read as it comes.
func (d *decoder) head() (first, second byte, err error) {
	for n := 1; n <= d.br.Size(); n++ {
		b, err := d.br.Peek(n)
		if len(b) < n {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return first, 0, err
		}
		c := b[n-1]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case first == 0:
			first = c
			if c != '[' && c != '{' {
				return first, 0, nil
			}
		default:
			return first, c, nil
		}
	}
	return ' ', 0, nil // white space without end: the line reader will say so
}

// lines reads JSONL. A source whose first line is no whole object may hold
// objects that run over several lines.
func (d *decoder) lines() error {
	for {
		line, tooLarge, err := d.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s after line %d: %w", d.name, d.line, err)
		}
		end := err != nil
		text := bytes.TrimSpace(line)
		switch {
		case tooLarge:
			if err := d.fail(fmt.Errorf("%w: over %d bytes", ErrTooLarge, d.opts.MaxRecord)); err != nil {
				return err
			}
		case len(text) == 0:
		case d.count == 0 && !json.Valid(text) && !end && bytes.HasPrefix(text, []byte("{")):
			d.br = bufio.NewReader(io.MultiReader(bytes.NewReader(append(text, '\n')), d.br))
			return d.stream()
		default:
			if err := d.record(text); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
}

// readLine reads one line of at most MaxRecord bytes; the rest of a longer one
// is skipped.
func (d *decoder) readLine() (line []byte, tooLarge bool, err error) {
	d.line++
	for {
		part, err := d.br.ReadSlice('\n')
		if len(line)+len(part) > d.opts.MaxRecord {
			tooLarge, line = true, nil
		}
		if !tooLarge {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLarge, err
		}
	}
}

// array reads a JSON array of objects.
func (d *decoder) array() error {
	lr := &limitReader{r: d.br, room: d.opts.MaxRecord}
	dec := json.NewDecoder(lr)
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("reading %s: %w", d.name, err)
	}
	for dec.More() {
		d.line++
		lr.room = d.opts.MaxRecord
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return &RecordError{Source: d.name, Line: d.line, Err: err}
		}
		if err := d.record(raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return &RecordError{Source: d.name, Line: d.line + 1, Err: fmt.Errorf("after the last element: %w", err)}
	}
	return nil
}

// stream reads JSON objects one after another.
func (d *decoder) stream() error {
	lr := &limitReader{r: d.br, room: d.opts.MaxRecord}
	dec := json.NewDecoder(lr)
	for n := 1; ; n++ {
		d.line = n
		lr.room = d.opts.MaxRecord
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return &RecordError{Source: d.name, Line: n, Err: fmt.Errorf("reading JSON: %w", err)}
		}
		if err := d.record(raw); err != nil {
			return err
		}
	}
}

// limitReader ends a record that runs on too long.
type limitReader struct {
	r    io.Reader
	room int
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.room <= 0 {
		return 0, ErrTooLarge
	}
	n, err := l.r.Read(p[:min(len(p), max(l.room, 1))])
	l.room -= n
	return n, err
}

// fail yields an error about the record at hand.
func (d *decoder) fail(err error) error {
	d.count++
	if !d.yield(nil, &RecordError{Source: d.name, Line: d.line, Err: err}) {
		return errStop
	}
	return nil
}

// record yields the rollout of one JSON object. A list stands for its
// elements.
func (d *decoder) record(raw json.RawMessage) error {
	dr, rec, err := readRecord(raw, d.opts.Format)
	if errors.Is(err, errWireForm) {
		out, err := fromWire(rec)
		if err != nil {
			return d.fail(err)
		}
		out.Gold, out.Group = rec.texts("gold", "gold_answer", "golden_answers"), rec.id("group")
		out.Correct = rec.truth("correct")
		return d.emit(out, rec)
	}
	if err != nil {
		return d.fail(err)
	}
	return d.emit(build(dr), rec)
}

func (d *decoder) emit(r *Rollout, rec record) error {
	d.count++
	r.Line = d.line
	if rec != nil {
		r.ID = rec.id("id", "_id", "rollout", "rollout_id", "uid", "qid", "question_id", "question_idx")
	}
	if r.ID == "" {
		base := strings.TrimSuffix(filepath.Base(d.name), filepath.Ext(d.name))
		r.ID = base + "-" + strconv.Itoa(d.count)
	}
	r.tidy()
	if !d.yield(r, nil) {
		return errStop
	}
	return nil
}

// tidy makes sure of what the wire demands: valid UTF-8, limits, histories.
func (r *Rollout) tidy() {
	if !utf8.ValidString(r.ID) {
		r.ID = strings.ToValidUTF8(r.ID, "\uFFFD")
	}
	r.finish()
}
