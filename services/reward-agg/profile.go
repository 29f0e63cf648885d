package rewardagg

import (
	"regexp"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Magnitude is a number of a profile and where it comes from.
type Magnitude struct {
	Value  float64 `json:"value"`
	Source string  `json:"-"`
}

// Base holds the reward of a step by its label, before any division.
type Base struct {
	None         Magnitude `json:"none"`
	Contradicted Magnitude `json:"contradicted_claim"`
	Irrelevant   Magnitude `json:"irrelevant_evidence"`
	Missing      Magnitude `json:"missing_bridge"`
}

// Of returns the magnitude of gap, and false where a label earns no number.
func (b Base) Of(gap schema.Gap) (float64, bool) {
	switch gap {
	case schema.GapNone:
		return b.None.Value, true
	case schema.GapContradicted:
		return b.Contradicted.Value, true
	case schema.GapIrrelevant:
		return b.Irrelevant.Value, true
	case schema.GapMissingBridge:
		return b.Missing.Value, true
	default:
		return 0, false
	}
}

// Shape holds the reward for what was done about a gap, before any division.
type Shape struct {
	Repaired      Magnitude `json:"repaired"`
	Ignored       Magnitude `json:"ignored"`
	NearDuplicate Magnitude `json:"near_duplicate"`
}

// Divisor names what a step's reward is divided by.
type Divisor string

// The divisors.
const (
	// DivideNothing leaves rewards as they are.
	DivideNothing Divisor = "nothing"
	// DivideSteps divides by the number of steps of the rollout.
	DivideSteps Divisor = "steps"
	// DivideWorking divides by the number of steps that did work: those paid
	// for a claim, and those that failed on a new query.
	DivideWorking Divisor = "working_steps"
)

// Divide says what positive and negative step rewards are divided by.
type Divide struct {
	Gains     Divisor `json:"gains"`
	Penalties Divisor `json:"penalties"`
}

// Rule names a kind of step whose base is never positive.
type Rule string

// The rules. They are also the notes that a step's reward carries.
//   - no_claim: the step claims nothing.
//   - repeated_claim: earlier claims already say each of its sentences.
//   - justified_abstention: it abstains on what it sought.
//   - repeated_query: a search step that asks what an earlier one asked, or,
//     after the first step, asks nothing.
//   - repeated_source: a search step decided by the passage that decided an
//     earlier paid one.
//   - second_conclusion: the rollout has concluded before.
const (
	RuleNoClaim          Rule = "no_claim"
	RuleRepeatedClaim    Rule = "repeated_claim"
	RuleAbstention       Rule = "justified_abstention"
	RuleRepeatedQuery    Rule = "repeated_query"
	RuleRepeatedSource   Rule = "repeated_source"
	RuleSecondConclusion Rule = "second_conclusion"
)

// Pattern is a surface form of a retraction, in RE2 syntax, matched without
// case on folded text.
type Pattern struct {
	Language string `json:"language"`
	Match    string `json:"match"`

	compiled *regexp.Regexp
}

// RetractionMode says what a retraction takes.
type RetractionMode string

// The modes.
const (
	// RetractByPattern: a surface form, and the claim not asserted again.
	RetractByPattern RetractionMode = "pattern"
	// RetractByNLI: besides, an NLI model finds that what was written in the
	// claim's place contradicts it. A stock phrase alone then takes nothing back.
	RetractByNLI RetractionMode = "nli"
)

// Retraction says how a claim is taken back.
type Retraction struct {
	Mode RetractionMode `json:"mode"`
	// Contradiction is the least probability that counts as one, in (0, 1]; mode
	// nli only.
	Contradiction Magnitude `json:"contradiction"`
	Patterns      []Pattern `json:"patterns"`
}

// NameMatch says what of a name a query must hold to name it.
type NameMatch string

// The ways to match.
const (
	// MatchPart: the whole name, or a part that the query writes as a name
	// ("Lovelace" of "Ada Lovelace").
	MatchPart NameMatch = "part"
	// MatchWhole: the whole name.
	MatchWhole NameMatch = "whole"
)

// Bridge is the entity rule of a bridge search: its query names an entity of the
// gap's claim or evidence that no earlier query named.
type Bridge struct {
	Names NameMatch `json:"names"`
	// Values: dates and numbers count as entities.
	Values bool `json:"values"`
}

// Metric names a score of the final answer.
type Metric string

// The metrics.
const (
	MetricEM      Metric = "em"
	MetricF1      Metric = "f1"
	MetricCoverEM Metric = "cover_em"
)

// Of returns the metric's value; nil where there was no gold answer.
func (m Metric) Of(o schema.Outcome) *float64 {
	switch m {
	case MetricF1:
		return o.F1
	case MetricCoverEM:
		return o.CoverEM
	default:
		return o.EM
	}
}

// OutcomeWeight is what the outcome is worth beside the process reward, for a
// trainer that adds the two. A reward never holds their sum.
type OutcomeWeight struct {
	Metric Metric    `json:"metric"`
	Weight Magnitude `json:"weight"`
}

// Of returns the weighted outcome; nil where there was no gold answer.
func (w OutcomeWeight) Of(o schema.Outcome) *float64 {
	v := w.Metric.Of(o)
	if v == nil {
		return nil
	}
	weighted := w.Weight.Value * *v
	return &weighted
}

// Profile turns labels into numbers. It is not changed after loading, so that
// one may be shared by any number of goroutines.
type Profile struct {
	Name        string `json:"name"`
	Description string `json:"-"`
	Base        Base   `json:"base"`
	Shape       Shape  `json:"shape"`
	Divide      Divide `json:"divide"`
	// Unpaid lists the kinds of steps whose base is never positive.
	Unpaid []Rule `json:"unpaid"`
	// CapGaps: a gap with its repair is worth at most what the rollout's other
	// steps earn on average.
	CapGaps bool `json:"cap_gaps"`
	// MinGradedShare in [0, 1]: with fewer graded steps the reward is null.
	MinGradedShare Magnitude `json:"min_graded_share"`
	// NearDuplicateQuery in (0, 1]: similarity from which two queries count as
	// the same.
	NearDuplicateQuery Magnitude `json:"near_duplicate_query"`
	// RepeatedClaim in (0, 1]: share of a sentence's content words from which
	// an earlier claim is taken to have said it.
	RepeatedClaim Magnitude     `json:"repeated_claim"`
	BridgeSearch  Bridge        `json:"bridge_search"`
	Retraction    Retraction    `json:"retraction"`
	Outcome       OutcomeWeight `json:"outcome"`

	hash string
}

// Hash is the hex SHA-256 of the profile's canonical form: compact JSON of all
// that can change a reward, in the order of the struct. Sources, the
// description, comments and layout don't count.
func (p *Profile) Hash() string { return p.hash }

func (p *Profile) unpaid(rule Rule) bool {
	for _, r := range p.Unpaid {
		if r == rule {
			return true
		}
	}
	return false
}

// retracts reports whether folded text holds a retraction's surface form.
func (p *Profile) retracts(folded string) bool {
	for i := range p.Retraction.Patterns {
		if p.Retraction.Patterns[i].compiled.MatchString(folded) {
			return true
		}
	}
	return false
}

// NamedMagnitude is a magnitude with its place in the profile's file.
type NamedMagnitude struct {
	Field string
	Magnitude
}

// Magnitudes lists every number of the profile, in the order of the file.
func (p *Profile) Magnitudes() []NamedMagnitude {
	all := []NamedMagnitude{
		{"base.none", p.Base.None},
		{"base.contradicted_claim", p.Base.Contradicted},
		{"base.irrelevant_evidence", p.Base.Irrelevant},
		{"base.missing_bridge", p.Base.Missing},
		{"shape.repaired", p.Shape.Repaired},
		{"shape.ignored", p.Shape.Ignored},
		{"shape.near_duplicate", p.Shape.NearDuplicate},
		{"min_graded_share", p.MinGradedShare},
		{"near_duplicate_query", p.NearDuplicateQuery},
		{"repeated_claim", p.RepeatedClaim},
		{"outcome.weight", p.Outcome.Weight},
	}
	if p.Retraction.Mode == RetractByNLI {
		all = append(all, NamedMagnitude{"retraction.contradiction", p.Retraction.Contradiction})
	}
	return all
}
