package annotate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Choice is what an annotator says of a step: one of the four labels, or
// Unsure.
type Choice string

// Unsure is no label: the step is left to others.
const Unsure Choice = "unsure"

// Valid reports whether c is a choice.
func (c Choice) Valid() bool { return c == Unsure || schema.Gap(c).Graded() }

// Gap is the label that was chosen; false for Unsure.
func (c Choice) Gap() (schema.Gap, bool) {
	g := schema.Gap(c)
	return g, g.Graded()
}

// Entry is one decision. A later one on the same step takes its place.
type Entry struct {
	At     time.Time `json:"at"`
	Step   string    `json:"step"`
	Digest string    `json:"digest"`
	Choice Choice    `json:"choice"`
	// Quote is the span of a passage that decides, as it stands there.
	Quote string `json:"quote,omitempty"`
}

// header is a journal's first line.
type header struct {
	Version   int    `json:"stepgap_annotations"`
	Annotator string `json:"annotator"`
	Seed      uint64 `json:"seed"`
}

const (
	journalVersion = 1
	journalSuffix  = ".annotations.jsonl"
	maxEntry       = 1 << 20
)

// Journal is one annotator's decisions, open for more.
type Journal struct {
	Annotator string
	Seed      uint64
	file      *os.File
	entries   map[string]Entry
}

// ErrBusy is the error of a journal that another process has open.
var ErrBusy = errors.New("the journal is open in another process; two sessions of one annotator would overwrite each other")

// OpenJournal opens, or begins, an annotator's journal in a folder. A last line
// that was cut off by a crash is taken away.
func OpenJournal(folder, annotator string, seed uint64) (*Journal, error) {
	if !schema.ValidID(annotator) {
		return nil, fmt.Errorf("the annotator's name %.40q must be made of A-Z a-z 0-9 _ -, at most %d of them, as it names a file", annotator, schema.MaxID)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the journals' folder: %w", err)
	}
	path := filepath.Join(folder, annotator+journalSuffix)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &Journal{Annotator: annotator, Seed: seed, file: file}
	if err := j.begin(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *Journal) begin(path string) error {
	if err := syscall.Flock(int(j.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%s: %w", path, ErrBusy)
		}
		return fmt.Errorf("locking the journal: %w", err)
	}
	h, entries, whole, err := readJournal(j.file, path)
	if err != nil {
		return err
	}
	if err := j.file.Truncate(whole); err != nil {
		return fmt.Errorf("taking a cut-off line from the journal: %w", err)
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	j.entries = entries
	if whole == 0 {
		return errors.Join(j.append(header{journalVersion, j.Annotator, j.Seed}), syncFolder(filepath.Dir(path)))
	}
	if h.Seed != j.Seed {
		return fmt.Errorf("%s was begun with the seed %d, and the order of its steps is that seed's; go on with it", path, h.Seed)
	}
	return nil
}

// Decisions returns the last entry of each step.
func (j *Journal) Decisions() map[string]Entry { return j.entries }

// Add appends a decision and returns once it is on the disk.
func (j *Journal) Add(e Entry) error {
	if err := j.append(e); err != nil {
		return err
	}
	j.entries[e.Step] = e
	return nil
}

// Close closes the journal.
func (j *Journal) Close() error { return j.file.Close() }

func (j *Journal) append(line any) error {
	body, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	// One write, so that a crash leaves at most one line cut off.
	if _, err := j.file.Write(append(body, '\n')); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("writing the journal to disk: %w", err)
	}
	return nil
}

// syncFolder makes a new file's name last.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the journals' folder: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("writing the journals' folder to disk: %w", err)
	}
	return nil
}

// readJournal reads all whole lines and says how many bytes they have.
func readJournal(r io.Reader, path string) (header, map[string]Entry, int64, error) {
	var h header
	entries := map[string]Entry{}
	whole := int64(0)
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return h, entries, whole, nil // what is left has no end
		}
		if err != nil {
			return h, nil, 0, fmt.Errorf("reading %s: %w", path, err)
		}
		whole += int64(len(line))
		if len(line) > maxEntry {
			return h, nil, 0, fmt.Errorf("%s:%d: the line is over %d bytes, which no decision is", path, n, maxEntry)
		}
		if n == 1 {
			err = decodeHeader(line, &h)
		} else {
			err = decodeEntry(line, entries)
		}
		if err != nil {
			return h, nil, 0, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
}

func decodeHeader(line []byte, h *header) error {
	if err := json.Unmarshal(line, h); err != nil {
		return fmt.Errorf("not a journal's first line: %w", err)
	}
	if h.Version != journalVersion {
		return fmt.Errorf("a journal of version %d; this program reads version %d", h.Version, journalVersion)
	}
	return nil
}

func decodeEntry(line []byte, into map[string]Entry) error {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("not a decision: %w", err)
	}
	if e.Step == "" || !e.Choice.Valid() {
		return fmt.Errorf("a decision names a step and a choice; this one has %.40q and %.40q", e.Step, string(e.Choice))
	}
	into[e.Step] = e
	return nil
}

// Person is one annotator's decisions, read.
type Person struct {
	Name      string
	Decisions map[string]Entry
}

// ReadJournals reads all journals of a folder, in the order of names.
func ReadJournals(folder string) ([]Person, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the journals: %w", err)
	}
	var people []Person
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), journalSuffix)
		if !ok || f.IsDir() {
			continue
		}
		path := filepath.Join(folder, f.Name())
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the journals: %w", err)
		}
		_, entries, _, err := readJournal(bytes.NewReader(body), path)
		if err != nil {
			return nil, err
		}
		people = append(people, Person{Name: name, Decisions: entries})
	}
	if len(people) == 0 {
		return nil, fmt.Errorf("no journals in %s; label some steps first: %w", folder, fs.ErrNotExist)
	}
	slices.SortFunc(people, func(a, b Person) int { return strings.Compare(a.Name, b.Name) })
	return people, nil
}
