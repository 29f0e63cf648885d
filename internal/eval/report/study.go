package report

import (
	"fmt"
	"regexp"

	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Names of the systems that stand in every table.
const (
	FlagAll  = "flag-all"
	FlagNone = "flag-none"
)

// Study is what is to be reported.
type Study struct {
	Sets []Set
	// Missing says which systems or sets were not measured, and why.
	Missing []string
}

// Set is a set of labelled steps with what systems made of it.
type Set struct {
	// Name is the set's key in files: letters, digits, "-", "_" and ".".
	Name string
	// About says in a sentence where the gold labels come from; it stands beside
	// every figure.
	About string
	// Hash names the set's content.
	Hash string
	// Systems in the order of tables. The first is the one that the others are
	// compared with. All must have judged the same steps.
	Systems []System
	// Groups are the steps' groups by id, such as how a built step was made;
	// a step may have none.
	Groups map[string]string
}

// System is what one system made of a set.
type System struct {
	// Name is the system's key in files.
	Name string
	// About says which judges it has, with their models.
	About string
	// Of is the system that this one is without a stage of; empty for a system
	// of its own. Without is that stage.
	Of      string
	Without schema.Stage
	// Baseline marks a system that looks at no meaning: constants, lengths.
	Baseline bool
	Items    []metrics.Item
}

// withConstants adds flag-all and flag-none where they are not there yet.
func (s Set) withConstants() Set {
	have := map[string]bool{}
	for _, y := range s.Systems {
		have[y.Name] = true
	}
	systems := s.Systems
	for _, c := range []struct {
		name, about string
		label       schema.Gap
	}{
		{FlagAll, "calls every step a contradicted claim", schema.GapContradicted},
		{FlagNone, "calls no step a gap", schema.GapNone},
	} {
		if have[c.name] || len(s.Systems) == 0 {
			continue
		}
		y := System{Name: c.name, About: c.about, Baseline: true}
		for _, it := range s.Systems[0].Items {
			it.Pred = c.label
			y.Items = append(y.Items, it)
		}
		systems = append(systems[:len(systems):len(systems)], y)
	}
	s.Systems = systems
	return s
}

// check returns what is wrong with a set.
func (s Set) check() error {
	key := regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	if !key.MatchString(s.Name) {
		return fmt.Errorf("the set's name %q can't be a key of a report; use letters, digits, dots, - and _", s.Name)
	}
	if len(s.Systems) == 0 {
		return fmt.Errorf("set %s: no system judged it", s.Name)
	}
	seen := map[string]bool{}
	for _, y := range s.Systems {
		if !key.MatchString(y.Name) {
			return fmt.Errorf("set %s: the system's name %q can't be a key of a report; use letters, digits, dots, - and _", s.Name, y.Name)
		}
		if seen[y.Name] {
			return fmt.Errorf("set %s: system %s stands twice", s.Name, y.Name)
		}
		seen[y.Name] = true
		if err := metrics.Paired(s.Systems[0].Items, y.Items); err != nil {
			return fmt.Errorf("set %s: %s beside %s: %w", s.Name, y.Name, s.Systems[0].Name, err)
		}
	}
	for _, y := range s.Systems {
		if y.Of != "" && !seen[y.Of] {
			return fmt.Errorf("set %s: system %s is %s without %s, which was not measured", s.Name, y.Name, y.Of, y.Without)
		}
	}
	return nil
}
