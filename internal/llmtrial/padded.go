package llmtrial

import (
	"slices"

	"github.com/stepgap/stepgap/internal/padding"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Padded are the items with size bytes of unrelated text around the text of
// each passage, in turn before, after and on both sides. What is right stays
// what it was.
func Padded(items []Item, size int) []Item {
	out := slices.Clone(items)
	for i := range out {
		passages := slices.Clone(out[i].Step.Passages)
		for k, p := range passages {
			place := padding.Places()[(i+k)%len(padding.Places())]
			passages[k] = schema.Passage{Title: p.Title, ByStep: p.ByStep, Text: padding.Pad(p.Text, padding.Prose, place, size)}
		}
		out[i].Step.Passages = passages
	}
	return out
}
