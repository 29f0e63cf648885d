package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The template's headings; each stands on a line of its own.
const (
	headSystem  = "=== system"
	headExample = "=== example"
	headAnswer  = "=== answer"
	headUser    = "=== user"
)

// codeName is the placeholder of the fence's code.
const codeName = "code"

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// part is what stands under a heading.
type part struct{ head, body string }

func split(text string) ([]part, error) {
	var parts []part
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		switch head := strings.TrimRight(line, " \n"); head {
		case headSystem, headExample, headAnswer, headUser:
			parts = append(parts, part{head: head})
			continue
		}
		if len(parts) == 0 {
			if strings.TrimSpace(line) != "" {
				return nil, fmt.Errorf("text before the first heading, %q", headSystem)
			}
			continue
		}
		parts[len(parts)-1].body += line
	}
	var heads []string
	for i := range parts {
		parts[i].body = strings.TrimSpace(parts[i].body)
		if parts[i].body == "" {
			return nil, fmt.Errorf("the part under %q is empty", parts[i].head)
		}
		heads = append(heads, parts[i].head)
	}
	if len(heads) < 2 || heads[0] != headSystem || heads[len(heads)-1] != headUser {
		return nil, fmt.Errorf("want %q first and %q last", headSystem, headUser)
	}
	for i, head := range heads[1 : len(heads)-1] {
		if want := []string{headExample, headAnswer}[i%2]; head != want {
			return nil, fmt.Errorf("%q where %q should stand", head, want)
		}
	}
	if len(heads)%2 != 0 {
		return nil, fmt.Errorf("the last %q has no %q", headExample, headAnswer)
	}
	return parts, nil
}

func parse(spec Spec) (*Template, error) {
	if !json.Valid([]byte(spec.Schema)) {
		return nil, errors.New("the schema is not JSON")
	}
	parts, err := split(spec.Text)
	if err != nil {
		return nil, err
	}
	t := &Template{spec: spec, user: parts[len(parts)-1].body}
	if err := checkPlaceholders(parts, spec.Fields); err != nil {
		return nil, err
	}
	hash := sha256.New()
	for _, p := range append(parts, part{body: spec.Schema}) {
		fmt.Fprintf(hash, "%s\x00%s\x00", p.head, p.body)
	}
	t.version = spec.Name + "@" + hex.EncodeToString(hash.Sum(nil)[:4])

	t.static = []Message{{RoleSystem, parts[0].body}}
	// The examples' fences are anyone's to know; they stand in turns that are
	// over, and their codes are no code of a real one.
	examples := NewFencer(NewSecret("stepgap example"))
	for i := 1; i+1 < len(parts)-1; i += 2 {
		values, err := exampleValues(parts[i].body, spec.Fields)
		if err != nil {
			return nil, fmt.Errorf("example %d: %w", (i+1)/2, err)
		}
		answer := parts[i+1].body
		if !json.Valid([]byte(answer)) {
			return nil, fmt.Errorf("example %d: the answer is not JSON", (i+1)/2)
		}
		t.static = append(t.static, Message{RoleUser, t.fill(examples, values)}, Message{RoleAssistant, answer})
	}
	return t, nil
}

// checkPlaceholders checks that the user part holds every field and the code,
// and nothing else, and that the other parts hold none.
func checkPlaceholders(parts []part, fields []string) error {
	user := parts[len(parts)-1].body
	for _, p := range parts[:len(parts)-1] {
		if found := placeholder.FindString(p.body); found != "" {
			return fmt.Errorf("the part under %q holds %s: it must be the same for every step, so that prefix caches hit", p.head, found)
		}
	}
	var have []string
	for _, p := range placeholder.FindAllString(user, -1) {
		have = append(have, strings.TrimSpace(p[2:len(p)-2]))
	}
	want := append([]string{codeName}, fields...)
	for _, name := range want {
		if !slices.Contains(have, name) {
			return fmt.Errorf("the user part lacks {{%s}}", name)
		}
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			return fmt.Errorf("the user part holds the unknown {{%s}}", name)
		}
	}
	return nil
}

// exampleValues reads the lines "field: value" of an example.
func exampleValues(body string, fields []string) (map[string]string, error) {
	values := map[string]string{}
	current := ""
	for line := range strings.Lines(body) {
		name, value, ok := strings.Cut(line, ":")
		if ok && slices.Contains(fields, name) {
			if _, twice := values[name]; twice {
				return nil, fmt.Errorf("field %q is given twice", name)
			}
			current, values[name] = name, strings.TrimLeft(value, " ")
			continue
		}
		if current == "" {
			return nil, fmt.Errorf("it must begin with a field, one of %s", strings.Join(fields, ", "))
		}
		values[current] += line
	}
	for _, name := range fields {
		if strings.TrimSpace(values[name]) == "" {
			return nil, fmt.Errorf("field %q is missing", name)
		}
	}
	return values, nil
}
