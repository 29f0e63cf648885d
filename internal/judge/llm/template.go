package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The template's headings; each stands on a line of its own.
const (
	headSystem = "=== system"
	headUser   = "=== user"
)

// codeName is the placeholder of the fence's code.
const codeName = "code"

// maxTemplate bounds a template file, in bytes.
const maxTemplate = 64 << 10

// Spec is a stage's prompt as it comes with the program.
type Spec struct {
	// Name of the prompt, such as "entity-check"; a replacement is looked for
	// as Name + ".txt".
	Name string
	// Text is the template: a line "=== system" with the static part below it,
	// then a line "=== user" with the part that holds placeholders {{field}}.
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
	spec         Spec
	system, user string
	version      string
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

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

func parse(spec Spec) (*Template, error) {
	if !json.Valid([]byte(spec.Schema)) {
		return nil, errors.New("the schema is not JSON")
	}
	text := strings.ReplaceAll(spec.Text, "\r\n", "\n")
	head, user, ok := strings.Cut("\n"+text, "\n"+headUser+"\n")
	if !ok {
		return nil, fmt.Errorf("no line %q", headUser)
	}
	before, system, ok := strings.Cut(head, "\n"+headSystem+"\n")
	if !ok {
		return nil, fmt.Errorf("no line %q before %q", headSystem, headUser)
	}
	if strings.TrimSpace(before) != "" {
		return nil, fmt.Errorf("text before %q", headSystem)
	}
	t := &Template{spec: spec, system: strings.TrimSpace(system), user: strings.TrimSpace(user)}
	if t.system == "" {
		return nil, errors.New("the system part is empty")
	}
	if found := placeholder.FindString(t.system); found != "" {
		return nil, fmt.Errorf("the system part holds %s: it must be the same for every step, so that prefix caches hit", found)
	}
	var have []string
	for _, p := range placeholder.FindAllString(t.user, -1) {
		have = append(have, strings.TrimSpace(p[2:len(p)-2]))
	}
	want := append([]string{codeName}, spec.Fields...)
	for _, name := range want {
		if !slices.Contains(have, name) {
			return nil, fmt.Errorf("the user part lacks {{%s}}", name)
		}
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			return nil, fmt.Errorf("the user part holds the unknown {{%s}}", name)
		}
	}
	sum := sha256.Sum256([]byte(t.system + "\x00" + t.user + "\x00" + spec.Schema))
	t.version = spec.Name + "@" + hex.EncodeToString(sum[:4])
	return t, nil
}

// Version names the prompt and what is in it: the stage's name and the start
// of a hash over template and schema.
func (t *Template) Version() string { return t.version }

// Render fills the template. values has a text for every field; an empty one
// is shown as an empty block. Every value stands inside a fence.
func (t *Template) Render(f *Fencer, values map[string]string) (Request, error) {
	parts := []string{t.version}
	clean := make(map[string]string, len(values))
	for _, name := range t.spec.Fields {
		value, ok := values[name]
		if !ok {
			return Request{}, fmt.Errorf("prompt %s: no value for {{%s}}", t.version, name)
		}
		clean[name] = defuse(value)
		parts = append(parts, clean[name])
	}
	code := f.code(parts)
	// One pass over the template: what looks like a placeholder inside a value
	// stays text.
	user := placeholder.ReplaceAllStringFunc(t.user, func(p string) string {
		name := strings.TrimSpace(p[2 : len(p)-2])
		if name == codeName {
			return code
		}
		return "<<" + name + " " + code + "\n" + strings.TrimSpace(clean[name]) + "\n" + code + ">>"
	})
	return Request{
		Prompt:     t.version,
		Messages:   []Message{{RoleSystem, t.system}, {RoleUser, user}},
		SchemaName: strings.ReplaceAll(t.spec.Name, "-", "_"),
		Schema:     json.RawMessage(t.spec.Schema),
	}, nil
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
