// Package docblock renews what was measured where documentation shows it: the
// text of a Markdown file between the lines <!-- NAME: begin --> and
// <!-- NAME: end -->.
package docblock

import (
	"fmt"
	"os"
	"strings"
)

// Read returns the text of a block.
func Read(path, name string) (string, error) {
	_, text, _, err := split(path, name)
	return text, err
}

// Renew puts text, which ends with its line, in the place of a block's.
func Renew(path, name, text string) error {
	before, _, after, err := split(path, name)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := os.WriteFile(path, []byte(before+text+after), 0o644); err != nil {
		return fmt.Errorf("renewing what was measured: %w", err)
	}
	return nil
}

// split cuts a file into what stands up to a block, with its first marker, the
// block, and the rest.
func split(path, name string) (before, block, after string, err error) {
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	b, err := os.ReadFile(path)
	if err != nil {
		return "", "", "", fmt.Errorf("renewing what was measured: %w", err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	block, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", "", "", fmt.Errorf("renewing what was measured: %s has no lines %q and %q", path, strings.TrimSpace(begin), end)
	}
	return head + begin, block, end + tail, nil
}
