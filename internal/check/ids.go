package check

import (
	"strconv"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// namer turns the ids of files into ids of the wire, each once.
type namer struct{ used map[string]bool }

func (n *namer) name(source string) string {
	if n.used == nil {
		n.used = map[string]bool{}
	}
	id := transcript.SafeID(source)
	unique := id
	for k := 2; n.used[unique]; k++ {
		suffix := "-" + strconv.Itoa(k)
		unique = id[:min(len(id), schema.MaxID-len(suffix))] + suffix
	}
	n.used[unique] = true
	return unique
}
