package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxTemplate bounds a template file, in bytes.
const maxTemplate = 64 << 10

// Spec is a stage's prompt as it comes with the program.
type Spec struct {
	// Name of the prompt, such as "entity-check"; a replacement is looked for
	// as Name + ".txt".
	Name string
	// Text is the template, in parts under a heading each: "=== system", the
	// static part; any number of "=== example" (lines "field: value", a value
	// going on until the next field's line) each followed by "=== answer" (the
	// JSON to give); last "=== user", which holds placeholders {{field}}.
	// Examples are shown as earlier turns, rendered like the real one.
	Text string
	// Schema is the answer's JSON schema. It can't be replaced: the code reads
	// answers by it.
	Schema string
	// Fields are the placeholders that the user part must hold, each at least
	// once. They are rendered as fenced data. {{code}} is the fence's code and
	// must be there too.
	Fields []string
}

// Template is a checked prompt. It is immutable and safe for concurrent use.
type Template struct {
	spec    Spec
	static  []Message // system and examples
	user    string
	version string
}

// Load checks spec or, where dir is not empty and holds Name + ".txt", the
// replacement in that file.
func Load(spec Spec, dir string) (*Template, error) {
	from := "built in"
	if dir != "" {
		from = filepath.Join(dir, spec.Name+".txt")
		text, err := readTemplate(from)
		switch {
		case errors.Is(err, os.ErrNotExist):
			if info, err := os.Stat(dir); err != nil {
				return nil, fmt.Errorf("prompt %s: folder of replacements: %w", spec.Name, err)
			} else if !info.IsDir() {
				return nil, fmt.Errorf("prompt %s: %s is no folder", spec.Name, dir)
			}
			from = "built in"
		case err != nil:
			return nil, fmt.Errorf("prompt %s: %w", spec.Name, err)
		default:
			spec.Text = text
		}
	}
	t, err := parse(spec)
	if err != nil {
		return nil, fmt.Errorf("prompt %s (%s): %w", spec.Name, from, err)
	}
	return t, nil
}

func readTemplate(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTemplate+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxTemplate {
		return "", fmt.Errorf("%s: over %d bytes", path, maxTemplate)
	}
	return string(data), nil
}

// Version names the prompt and what is in it: the stage's name and the start
// of a hash over template and schema.
func (t *Template) Version() string { return t.version }

// Render fills the template. values has a text for every field; an empty one
// is shown as an empty block. Every value stands inside a fence.
func (t *Template) Render(f *Fencer, values map[string]string) (Request, error) {
	for _, name := range t.spec.Fields {
		if _, ok := values[name]; !ok {
			return Request{}, fmt.Errorf("prompt %s: no value for {{%s}}", t.version, name)
		}
	}
	return Request{
		Prompt:     t.version,
		Input:      inputOf(t.version, t.spec.Fields, t.clean(values)),
		Messages:   append(slices.Clone(t.static), Message{RoleUser, t.fill(f, values)}),
		SchemaName: strings.ReplaceAll(t.spec.Name, "-", "_"),
		Schema:     json.RawMessage(t.spec.Schema),
	}, nil
}

// fill writes the user part. It goes over the template once: what looks like a
// placeholder inside a value stays text.
func (t *Template) fill(f *Fencer, values map[string]string) string {
	parts := []string{t.version}
	clean := t.clean(values)
	for _, name := range t.spec.Fields {
		parts = append(parts, clean[name])
	}
	code := f.code(parts)
	return placeholder.ReplaceAllStringFunc(t.user, func(p string) string {
		name := strings.TrimSpace(p[2 : len(p)-2])
		if name == codeName {
			return code
		}
		return "<<" + name + "\n" + clean[name] + "\n" + code + ">>"
	})
}

// clean makes values harmless; what it changes is no part of the input.
func (t *Template) clean(values map[string]string) map[string]string {
	clean := make(map[string]string, len(values))
	for _, name := range t.spec.Fields {
		clean[name] = strings.TrimSpace(defuse(values[name]))
	}
	return clean
}

// CheckDir refuses a folder of replacements that holds a .txt file which no
// prompt of these names would read: a misspelt file must not pass unnoticed.
func CheckDir(dir string, names ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("folder of prompts: %w", err)
	}
	for _, e := range entries {
		name, isText := strings.CutSuffix(e.Name(), ".txt")
		if isText && !slices.Contains(names, name) {
			return fmt.Errorf("folder of prompts %s: %s replaces nothing; the prompts are %s", dir, e.Name(), strings.Join(names, ", "))
		}
	}
	return nil
}
