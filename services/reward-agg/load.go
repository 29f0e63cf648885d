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
	"regexp"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed profiles/*.yaml retraction/*.yaml
var builtin embed.FS

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
	if nameOrPath == "" {
		nameOrPath = DefaultProfile
	}
	if b, err := ProfileYAML(nameOrPath); err == nil {
		return parse(nameOrPath, b)
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
	return parse(nameOrPath, b)
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

func strictYAML(b []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("empty")
		}
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
	Retraction         struct {
		Builtin  []string      `yaml:"builtin"`
		Patterns []patternFile `yaml:"patterns"`
	} `yaml:"retraction"`
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
	p := &Profile{Name: f.Name, Description: f.Description, Unpaid: []Rule{}, Retraction: []Pattern{}}
	for _, m := range []struct {
		field string
		from  *magnitudeFile
		to    *Magnitude
	}{
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
	} {
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
	for i, lang := range f.Retraction.Builtin {
		patterns, err := builtinPatterns(lang)
		if err != nil {
			return nil, &ProfileError{fmt.Sprintf("retraction.builtin[%d]", i), err.Error()}
		}
		p.Retraction = append(p.Retraction, patterns...)
	}
	for _, pt := range f.Retraction.Patterns {
		p.Retraction = append(p.Retraction, Pattern{Language: pt.Language, Match: pt.Match})
	}
	for i := range p.Retraction {
		re, err := regexp.Compile("(?i)" + p.Retraction[i].Match)
		if err != nil {
			return nil, &ProfileError{fmt.Sprintf("retraction[%d].match", i), err.Error()}
		}
		p.Retraction[i].compiled = re
	}
	return p, nil
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
