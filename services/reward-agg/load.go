package rewardagg

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed profiles/*.yaml retraction/*.yaml profile.schema.json
var builtin embed.FS

// ProfileSchema is the JSON schema of a profile's file, for editors and for
// programs that write profiles.
func ProfileSchema() []byte {
	b, err := builtin.ReadFile("profile.schema.json")
	if err != nil {
		return nil // cannot happen: the file is part of the binary
	}
	return b
}

// DefaultProfile is the name of the profile that is used unless another is
// named.
const DefaultProfile = "stepgap"

// maxProfile bounds a profile's file, in bytes.
const maxProfile = 1 << 20

// ProfileError names the field of a profile that is wrong.
type ProfileError struct {
	Field   string
	Problem string
}

func (e *ProfileError) Error() string { return fmt.Sprintf("field %s: %s", e.Field, e.Problem) }

// Profiles lists the names of the built-in profiles.
func Profiles() []string {
	entries, err := builtin.ReadDir("profiles")
	if err != nil {
		return nil // cannot happen: the folder is part of the binary
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	sort.Strings(names)
	return names
}

// ProfileYAML returns a built-in profile's file, to start one's own from.
func ProfileYAML(name string) ([]byte, error) {
	b, err := builtin.ReadFile("profiles/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no built-in profile %q; there are %s", name, strings.Join(Profiles(), ", "))
	}
	return b, nil
}

// LoadProfile reads the built-in profile of that name, or else the file at that
// path. A bare word (no separator, no ending) is always a name. "" is
// DefaultProfile.
func LoadProfile(nameOrPath string) (*Profile, error) {
	b, err := ReadProfile(nameOrPath)
	if err != nil {
		return nil, err
	}
	return parse(nameOrPath, b)
}

// ReadProfile returns the file that LoadProfile would read.
func ReadProfile(nameOrPath string) ([]byte, error) {
	if nameOrPath == "" {
		nameOrPath = DefaultProfile
	}
	if b, err := ProfileYAML(nameOrPath); err == nil {
		return b, nil
	} else if !strings.ContainsAny(nameOrPath, `/\.`) {
		return nil, err
	}
	f, err := os.Open(nameOrPath)
	if err != nil {
		return nil, fmt.Errorf("opening reward profile: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("reading reward profile %s: %w", nameOrPath, err)
	}
	return b, nil
}

func parse(name string, b []byte) (*Profile, error) {
	p, err := ParseProfile(b)
	if err != nil {
		return nil, fmt.Errorf("reward profile %s: %w", name, err)
	}
	return p, nil
}

// ParseProfile reads a profile from YAML. Unknown keys, missing magnitudes,
// magnitudes without a source, and numbers that are none are refused with an
// error that names the field.
func ParseProfile(b []byte) (*Profile, error) {
	if len(b) > maxProfile {
		return nil, fmt.Errorf("larger than %d bytes", maxProfile)
	}
	var f profileFile
	if err := strictYAML(b, &f); err != nil {
		return nil, err
	}
	p, err := f.profile()
	if err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	canonical, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the canonical form: %w", err)
	}
	sum := sha256.Sum256(canonical)
	p.hash = hex.EncodeToString(sum[:])
	return p, nil
}

// strictYAML decodes the one document of b. A key that into has no field for is
// an error that names its place.
func strictYAML(b []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var root yaml.Node
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("empty")
		}
		return fmt.Errorf("reading YAML: %w", err)
	}
	if err := unknownKey(&root, reflect.TypeOf(into), ""); err != nil {
		return err
	}
	if err := root.Decode(into); err != nil {
		return fmt.Errorf("reading YAML: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("reading YAML: more than one document")
	}
	return nil
}

// profileFile is a profile as written. Pointers tell a missing number from 0.
type profileFile struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Base        struct {
		None         *magnitudeFile `yaml:"none"`
		Contradicted *magnitudeFile `yaml:"contradicted_claim"`
		Irrelevant   *magnitudeFile `yaml:"irrelevant_evidence"`
		Missing      *magnitudeFile `yaml:"missing_bridge"`
	} `yaml:"base"`
	Shape struct {
		Repaired      *magnitudeFile `yaml:"repaired"`
		Ignored       *magnitudeFile `yaml:"ignored"`
		NearDuplicate *magnitudeFile `yaml:"near_duplicate"`
	} `yaml:"shape"`
	Divide struct {
		Gains     string `yaml:"gains"`
		Penalties string `yaml:"penalties"`
	} `yaml:"divide"`
	Unpaid             []string       `yaml:"unpaid"`
	CapGaps            *bool          `yaml:"cap_gaps"`
	MinGradedShare     *magnitudeFile `yaml:"min_graded_share"`
	NearDuplicateQuery *magnitudeFile `yaml:"near_duplicate_query"`
	RepeatedClaim      *magnitudeFile `yaml:"repeated_claim"`
	BridgeSearch       struct {
		Names  string `yaml:"names"`
		Values *bool  `yaml:"values"`
	} `yaml:"bridge_search"`
	Retraction struct {
		Mode          string         `yaml:"mode"`
		Contradiction *magnitudeFile `yaml:"contradiction"`
		Builtin       []string       `yaml:"builtin"`
		Patterns      []patternFile  `yaml:"patterns"`
	} `yaml:"retraction"`
	Outcome struct {
		Metric string         `yaml:"metric"`
		Weight *magnitudeFile `yaml:"weight"`
	} `yaml:"outcome"`
}

// magnitudeField is where a magnitude stands in the file, and where it goes.
type magnitudeField struct {
	field string
	from  *magnitudeFile
	to    *Magnitude
}

type magnitudeFile struct {
	Value  *float64 `yaml:"value"`
	Source string   `yaml:"source"`
}

type patternFile struct {
	Language string `yaml:"language"`
	Match    string `yaml:"match"`
}

type languageFile struct {
	Language string   `yaml:"language"`
	Patterns []string `yaml:"patterns"`
}

func (f *profileFile) profile() (*Profile, error) {
	p := &Profile{Name: f.Name, Description: f.Description, Unpaid: []Rule{}, Retraction: Retraction{Patterns: []Pattern{}}}
	magnitudes := []magnitudeField{
		{"base.none", f.Base.None, &p.Base.None},
		{"base.contradicted_claim", f.Base.Contradicted, &p.Base.Contradicted},
		{"base.irrelevant_evidence", f.Base.Irrelevant, &p.Base.Irrelevant},
		{"base.missing_bridge", f.Base.Missing, &p.Base.Missing},
		{"shape.repaired", f.Shape.Repaired, &p.Shape.Repaired},
		{"shape.ignored", f.Shape.Ignored, &p.Shape.Ignored},
		{"shape.near_duplicate", f.Shape.NearDuplicate, &p.Shape.NearDuplicate},
		{"min_graded_share", f.MinGradedShare, &p.MinGradedShare},
		{"near_duplicate_query", f.NearDuplicateQuery, &p.NearDuplicateQuery},
		{"repeated_claim", f.RepeatedClaim, &p.RepeatedClaim},
		{"outcome.weight", f.Outcome.Weight, &p.Outcome.Weight},
	}
	p.Retraction.Mode = RetractionMode(f.Retraction.Mode)
	switch c := f.Retraction.Contradiction; {
	case p.Retraction.Mode == RetractByNLI:
		magnitudes = append(magnitudes, magnitudeField{"retraction.contradiction", c, &p.Retraction.Contradiction})
	case c != nil:
		return nil, &ProfileError{"retraction.contradiction", "is of no use in this mode; leave it out, or set retraction.mode to nli"}
	}
	for _, m := range magnitudes {
		switch {
		case m.from == nil || m.from.Value == nil:
			return nil, &ProfileError{m.field, "is missing; give {value: NUMBER, source: TEXT}"}
		case strings.TrimSpace(m.from.Source) == "":
			return nil, &ProfileError{m.field + ".source", "is missing; say where the number comes from"}
		}
		*m.to = Magnitude{Value: *m.from.Value, Source: m.from.Source}
	}
	p.Divide = Divide{Gains: Divisor(f.Divide.Gains), Penalties: Divisor(f.Divide.Penalties)}
	for _, r := range f.Unpaid {
		p.Unpaid = append(p.Unpaid, Rule(r))
	}
	slices.Sort(p.Unpaid) // their order means nothing, so it must not reach the hash
	if f.CapGaps == nil {
		return nil, &ProfileError{"cap_gaps", "is missing; true or false"}
	}
	p.CapGaps = *f.CapGaps
	p.BridgeSearch.Names = NameMatch(f.BridgeSearch.Names)
	if f.BridgeSearch.Values == nil {
		return nil, &ProfileError{"bridge_search.values", "is missing; true or false"}
	}
	p.BridgeSearch.Values = *f.BridgeSearch.Values
	p.Outcome.Metric = Metric(f.Outcome.Metric)
	return p, f.retraction(&p.Retraction)
}

// retraction reads the patterns: those of built-in languages, then the
// profile's own.
func (f *profileFile) retraction(r *Retraction) error {
	for i, lang := range f.Retraction.Builtin {
		patterns, err := builtinPatterns(lang)
		if err != nil {
			return &ProfileError{fmt.Sprintf("retraction.builtin[%d]", i), err.Error()}
		}
		r.Patterns = append(r.Patterns, patterns...)
	}
	for _, pt := range f.Retraction.Patterns {
		r.Patterns = append(r.Patterns, Pattern{Language: pt.Language, Match: pt.Match})
	}
	for i := range r.Patterns {
		re, err := regexp.Compile("(?i)" + r.Patterns[i].Match)
		if err != nil {
			return &ProfileError{fmt.Sprintf("retraction.patterns[%d].match", i), err.Error()}
		}
		r.Patterns[i].compiled = re
	}
	return nil
}

func builtinPatterns(language string) ([]Pattern, error) {
	b, err := builtin.ReadFile("retraction/" + language + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no built-in patterns for language %q", language)
	}
	var f languageFile
	if err := strictYAML(b, &f); err != nil {
		return nil, err
	}
	var out []Pattern
	for _, m := range f.Patterns {
		out = append(out, Pattern{Language: f.Language, Match: m})
	}
	return out, nil
}
