package annotate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Shuffled returns the tasks in an annotator's own order. The same seed and
// name give the same order, and tasks that are added later leave the order of
// the others as it was.
func Shuffled(tasks []Task, annotator string, seed uint64) []Task {
	type placed struct {
		at   uint64
		task Task
	}
	out := make([]placed, len(tasks))
	for i, t := range tasks {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s", seed, annotator, t.Step))
		out[i] = placed{binary.BigEndian.Uint64(sum[:8]), t}
	}
	slices.SortStableFunc(out, func(a, b placed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.task.Step, b.task.Step)) })
	sorted := make([]Task, len(out))
	for i, p := range out {
		sorted[i] = p.task
	}
	return sorted
}
