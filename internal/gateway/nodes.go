package gateway

import (
	"net/http"

	"github.com/stepgap/stepgap/pkg/schema"
)

// maxBodyNodes bounds the values of a whole body, a batch's included; one
// rollout has no more than a message on the wire.
const maxBodyNodes = 5 * schema.MaxNodes

// checkNodes refuses a body of very many values before any is decoded: an empty
// object takes two bytes here, and a whole struct once it is read.
func checkNodes(b []byte, limit int) error {
	if nodes(b) <= limit {
		return nil
	}
	return problem(http.StatusRequestEntityTooLarge, codeTooLarge, "send fewer or shorter rollouts", "the JSON holds more than %d values", limit)
}

// nodes counts, or overcounts by a little, the values of a JSON text.
func nodes(b []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
