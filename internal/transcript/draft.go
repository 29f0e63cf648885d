package transcript

import (
	"strings"
	"unicode"
)

// seg is a stretch of the draft's text in byte offsets.
type seg struct{ start, end int }

func (s seg) in(text string) string { return text[s.start:s.end] }

func (s seg) empty() bool { return s.end <= s.start }

// trimmed moves s past the white space at both ends.
func (s seg) trimmed(text string) seg {
	body := s.in(text)
	start := s.start + len(body) - len(strings.TrimLeftFunc(body, unicode.IsSpace))
	return seg{start, start + len(strings.TrimSpace(body))}
}

// document is what a retriever returned.
type document struct{ title, text string }

type act int

const (
	actNone act = iota
	actSearch
	actAnswer
)

// turn is what a policy wrote up to one action, the action, and what came of
// it.
type turn struct {
	say []seg
	act act
	// query of a search, or the answer; at is where it stands in the text.
	value string
	at    seg
	docs  []document
	// answered says that an observation followed; callID pairs parallel calls
	// with their observations.
	answered bool
	callID   string
	warnings []Warning
}

func (t *turn) warn(code WarningCode, detail string) {
	t.warnings = append(t.warnings, Warning{Code: code, Detail: detail})
}

// draft is a rollout before it is cut into steps.
type draft struct {
	format   Format
	question string
	text     string
	turns    []turn
	gold     []string
	correct  *bool
	group    string
	warnings []Warning
}

func (d *draft) warn(code WarningCode, detail string) {
	d.warnings = append(d.warnings, Warning{Code: code, Detail: detail})
}

// script writes the text of formats that have no running one.
type script struct{ b strings.Builder }

// line adds s on a line of its own and returns where it stands.
func (w *script) line(s string) seg {
	if n := w.b.Len(); n > 0 && w.b.String()[n-1] != '\n' {
		w.b.WriteByte('\n')
	}
	start := w.b.Len()
	w.b.WriteString(s)
	return seg{start, w.b.Len()}
}

// gap adds a blank line.
func (w *script) gap() {
	if w.b.Len() > 0 {
		w.b.WriteString("\n\n")
	}
}
