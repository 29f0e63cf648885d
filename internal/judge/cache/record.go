package cache

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

// recordFormat stands in the head of a recording.
const recordFormat = "stepgap-verdicts/1"

// maxLine bounds a line of a recording, in bytes.
const maxLine = 1 << 20

// head is the first line of a recording. Recordings of several processes can
// be put one after the other into one file; a head may come again.
type head struct {
	Format string `json:"format"`
	Scope
}

// line is a verdict of a recording.
type line struct {
	Stage string `json:"stage"`
	Input string `json:"input"`
	entry
}

// Recorder is an llm.Memory that writes every verdict it hands out to a file,
// each question's once. Where a question was asked twice at the same time the
// verdict that was written first counts for both, so that a replay says what
// the run said.
type Recorder struct {
	inner llm.Memory // nil: asks
	log   *slog.Logger

	mu   sync.Mutex
	file *os.File
	have map[string]llm.Remembered
	err  error // the first failure to write
}

// Record opens path for the verdicts of scope. A recording that is there
// already is gone on with, if it is of the same scope; a last line that was cut
// by a crash is dropped. inner, if not nil, is asked before anybody else.
func Record(path string, scope Scope, inner llm.Memory, log *slog.Logger) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recording verdicts: %w", err)
	}
	r := &Recorder{inner: inner, log: log, file: f, have: map[string]llm.Remembered{}}
	end, was, err := read(f, r.have)
	if err == nil && was != nil && *was != scope {
		err = fmt.Errorf("it is of model %q (%s), not of %q (%s)", was.Model, was.Options, scope.Model, scope.Options)
	}
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil && was == nil {
		err = r.write(head{recordFormat, scope})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("recording verdicts to %s: %w", path, err), f.Close())
	}
	return r, nil
}

// Recall implements llm.Memory.
func (r *Recorder) Recall(ctx context.Context, q llm.Question, ask func(context.Context) (llm.Remembered, error)) (llm.Remembered, error) {
	if v, ok := r.standing(q); ok {
		return v.Recalled(), nil
	}
	var got llm.Remembered
	var err error
	if r.inner != nil {
		got, err = r.inner.Recall(ctx, q, ask)
	} else {
		got, err = ask(ctx)
	}
	if err != nil {
		return got, err
	}
	return r.keep(q, got), nil
}

func (r *Recorder) standing(q llm.Question) (llm.Remembered, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.have[q.Input]
	return v, ok
}

// keep writes got unless a verdict stands, and returns the verdict that counts
// with the bill of got.
func (r *Recorder) keep(q llm.Question, got llm.Remembered) llm.Remembered {
	r.mu.Lock()
	defer r.mu.Unlock()
	if standing, ok := r.have[q.Input]; ok {
		meta := got.Meta
		meta.Confidence = standing.Meta.Confidence
		return llm.Remembered{Answer: standing.Answer, Meta: meta}
	}
	r.have[q.Input] = got
	err := r.write(line{q.Stage(), q.Input, entryOf(got)})
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("recording a verdict: %w", err)
		r.log.Error("the recording is not whole: a replay will miss verdicts", "error", err)
	}
	return got
}

func (r *Recorder) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(b, '\n'))
	return err
}

// Close closes the file, and returns the first failure to write to it.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.file.Close())
}

// read fills into from a recording, and returns where its last whole line ends
// and what it is of; nil for an empty file.
func read(from io.Reader, into map[string]llm.Remembered) (end int64, scope *Scope, err error) {
	lines := bufio.NewReaderSize(from, 64<<10)
	for n := 1; ; n++ {
		b, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, scope, nil // what is left was cut
		}
		if err != nil {
			return end, scope, err
		}
		if len(b) > maxLine {
			return end, scope, fmt.Errorf("line %d: over %d bytes", n, maxLine)
		}
		end += int64(len(b))
		var h head
		if err := json.Unmarshal(b, &h); err != nil {
			return end, scope, fmt.Errorf("line %d: %w", n, err)
		}
		if h.Format != "" || scope == nil {
			if h.Format != recordFormat {
				return end, scope, fmt.Errorf("line %d: no recording of verdicts (%s)", n, recordFormat)
			}
			if scope != nil && *scope != h.Scope {
				return end, scope, fmt.Errorf("line %d: recordings of model %q and of %q in one file", n, scope.Model, h.Model)
			}
			scope = &h.Scope
			continue
		}
		var l line
		if err := json.Unmarshal(b, &l); err != nil || l.Input == "" || len(l.Answer) == 0 {
			return end, scope, fmt.Errorf("line %d: no verdict", n)
		}
		if _, ok := into[l.Input]; !ok {
			into[l.Input] = l.recalled()
		}
	}
}

var _ llm.Memory = (*Recorder)(nil)
