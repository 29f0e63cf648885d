package check

import (
	"strconv"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// namer turns the ids of files into ids of the wire, each once.
type namer struct{ used map[string]bool }

// name keeps what an id may hold and replaces the rest; a second rollout of the
// same name gets a number.
func (n *namer) name(source string) string {
	var b strings.Builder
	for _, r := range source {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
		if b.Len() >= schema.MaxID-10 {
			break
		}
	}
	id := strings.Trim(b.String(), "-")
	if id == "" {
		id = "rollout"
	}
	if n.used == nil {
		n.used = map[string]bool{}
	}
	unique := id
	for k := 2; n.used[unique]; k++ {
		unique = id + "-" + strconv.Itoa(k)
	}
	n.used[unique] = true
	return unique
}
