package distill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// notes are what a step set says of a rollout beside what a pipeline may see.
type notes struct {
	QuestionID string `json:"question_id"`
	Split      string `json:"split"`
	Steps      []struct {
		Label schema.Gap `json:"label"`
		Quote string     `json:"quote"`
	} `json:"steps"`
}

// GoldBy names a step set's own labels where a judge is named.
const GoldBy = "gold"

// gold is the step set's own verdict on a step, if it has one.
func (n notes) gold(index int) (Verdict, bool) {
	if index > len(n.Steps) || !n.Steps[index-1].Label.Graded() {
		return Verdict{}, false
	}
	s := n.Steps[index-1]
	return Verdict{Label: s.Label, Quote: s.Quote, By: GoldBy}, true
}

// setSplitHeld is the split of a step set that is scored once, at the end.
const setSplitHeld = "held"

// source is a rollout with its notes.
type source struct {
	*transcript.Rollout
	notes notes
}

// readRollouts calls f with every rollout of a file, in order. Rollouts are read
// as `stepgap check` reads them; those of step sets keep their notes.
func readRollouts(path string, format transcript.Format, f func(source) error) error {
	read, err := readNotes(path)
	if err != nil {
		return err
	}
	records, err := transcript.Open(path, transcript.Options{Format: format})
	if err != nil {
		return err
	}
	for rollout, err := range records {
		if err != nil {
			return fmt.Errorf("reading rollouts: %w", err)
		}
		s := source{Rollout: rollout}
		if n, ok := read[rollout.ID]; ok && len(n.Steps) == len(rollout.Steps) {
			s.notes = n
		}
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// readNotes reads what a step set says beside its steps, by rollout; nothing of
// files of another form.
func readNotes(path string) (map[string]notes, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading rollouts: %w", err)
	}
	defer file.Close()
	out := map[string]notes{}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		var r struct {
			ID string `json:"id"`
			notes
		}
		line := bytes.TrimPrefix(bytes.TrimSpace(lines.Bytes()), []byte("\xef\xbb\xbf"))
		if len(line) == 0 || json.Unmarshal(line, &r) != nil || r.ID == "" || r.QuestionID == "" {
			continue
		}
		out[r.ID] = r.notes
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return out, nil
}
