package rewardagg

import (
	"fmt"
	"math"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// maxMagnitude bounds a profile's numbers, so that no sum over MaxSteps can
// overflow or lose a step to rounding.
const maxMagnitude = 1000

func (p *Profile) validate() error {
	if err := schema.CheckID("name", p.Name); err != nil {
		return &ProfileError{"name", err.Error()}
	}
	for _, m := range []struct {
		field    string
		value    float64
		min, max float64
		want     string
	}{
		{"base.none", p.Base.None.Value, 0, maxMagnitude, "0 or more"},
		{"base.contradicted_claim", p.Base.Contradicted.Value, -maxMagnitude, p.Base.None.Value, "no more than base.none"},
		{"base.irrelevant_evidence", p.Base.Irrelevant.Value, -maxMagnitude, p.Base.None.Value, "no more than base.none"},
		{"base.missing_bridge", p.Base.Missing.Value, -maxMagnitude, p.Base.None.Value, "no more than base.none"},
		{"shape.repaired", p.Shape.Repaired.Value, 0, maxMagnitude, "0 or more"},
		{"shape.ignored", p.Shape.Ignored.Value, -maxMagnitude, 0, "0 or less"},
		{"shape.near_duplicate", p.Shape.NearDuplicate.Value, -maxMagnitude, 0, "0 or less"},
		{"min_graded_share", p.MinGradedShare.Value, 0, 1, "in [0, 1]"},
		{"near_duplicate_query", p.NearDuplicateQuery.Value, 0.1, 1, "in [0.1, 1]"},
		{"repeated_claim", p.RepeatedClaim.Value, 0.1, 1, "in [0.1, 1]"},
		{"outcome.weight", p.Outcome.Weight.Value, 0, maxMagnitude, "0 or more"},
	} {
		switch {
		case !finite(m.value):
			return &ProfileError{m.field, fmt.Sprintf("%v is not a number", m.value)}
		case math.Abs(m.value) > maxMagnitude:
			return &ProfileError{m.field, fmt.Sprintf("%v is beyond %d", m.value, maxMagnitude)}
		case m.value < m.min || m.value > m.max:
			return &ProfileError{m.field, fmt.Sprintf("is %v; it must be %s", m.value, m.want)}
		}
	}
	if err := p.Divide.validate(); err != nil {
		return err
	}
	for i, r := range p.Unpaid {
		switch r {
		case RuleNoClaim, RuleRepeatedClaim, RuleAbstention, RuleRepeatedQuery, RuleRepeatedSource, RuleSecondConclusion:
		default:
			return &ProfileError{fmt.Sprintf("unpaid[%d]", i), fmt.Sprintf("%.40q is no rule", string(r))}
		}
	}
	switch p.BridgeSearch.Names {
	case MatchPart, MatchWhole:
	default:
		return &ProfileError{"bridge_search.names", fmt.Sprintf("is %.40q; use %q or %q", string(p.BridgeSearch.Names), MatchPart, MatchWhole)}
	}
	switch p.Outcome.Metric {
	case MetricEM, MetricF1, MetricCoverEM:
	default:
		return &ProfileError{"outcome.metric", fmt.Sprintf("is %.40q; use %q, %q or %q", string(p.Outcome.Metric), MetricEM, MetricF1, MetricCoverEM)}
	}
	return p.Retraction.validate()
}

func (r *Retraction) validate() error {
	switch r.Mode {
	case RetractByPattern:
	case RetractByNLI:
		if c := r.Contradiction.Value; !(c > 0 && c <= 1) {
			return &ProfileError{"retraction.contradiction", fmt.Sprintf("is %v; it must be above 0 and at most 1", c)}
		}
	default:
		return &ProfileError{"retraction.mode", fmt.Sprintf("is %.40q; use %q or %q", string(r.Mode), RetractByPattern, RetractByNLI)}
	}
	if len(r.Patterns) == 0 {
		return &ProfileError{"retraction", "has no pattern; name a built-in language or give patterns"}
	}
	for i := range r.Patterns {
		pt := &r.Patterns[i]
		field := fmt.Sprintf("retraction.patterns[%d]", i)
		if strings.TrimSpace(pt.Language) == "" {
			return &ProfileError{field + ".language", "is missing"}
		}
		if strings.TrimSpace(pt.Match) == "" || pt.compiled.MatchString("") {
			return &ProfileError{field + ".match", "matches the empty text, so any"}
		}
	}
	return nil
}

func (d Divide) validate() error {
	switch d.Gains {
	case DivideNothing, DivideSteps:
	default:
		return &ProfileError{"divide.gains", fmt.Sprintf("is %.40q; use %q or %q", string(d.Gains), DivideNothing, DivideSteps)}
	}
	switch d.Penalties {
	case DivideNothing, DivideSteps, DivideWorking:
	default:
		return &ProfileError{"divide.penalties", fmt.Sprintf("is %.40q; use %q, %q or %q", string(d.Penalties), DivideNothing, DivideSteps, DivideWorking)}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
