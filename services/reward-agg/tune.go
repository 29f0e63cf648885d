package rewardagg

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What a sample must hold for its spread to mean something.
const (
	leastGroups   = 8
	leastRollouts = 32
)

// TuneOptions say what to tune to.
type TuneOptions struct {
	// Name of the new profile.
	Name string
	// Share of the outcome's spread that the process reward's is to have, above 0.
	Share float64
	// Model and Sample say in each magnitude's source what it was tuned on.
	Model, Sample string
}

// Scored is one rollout of a sample. Nil numbers are not given.
type Scored struct {
	Group   string
	Process *float64 // under the profile that is tuned
	Outcome *float64 // by its metric, unweighted
}

// Tuned is a proposal.
type Tuned struct {
	// Factor is what every magnitude of base and shape was multiplied by.
	Factor float64 `json:"factor"`
	// ProcessSpread and OutcomeSpread are standard deviations within groups, the
	// outcome's weighted.
	ProcessSpread float64 `json:"process_spread"`
	OutcomeSpread float64 `json:"outcome_spread"`
	Groups        int     `json:"groups"`
	Rollouts      int     `json:"rollouts"`
	// Left counts rollouts without a group, or without a number.
	Left int    `json:"left_out"`
	YAML []byte `json:"-"`
}

// ErrTooLittle says that a sample is too small to tune on, and what it lacks.
var ErrTooLittle = errors.New("too little to tune on")

// Tune proposes magnitudes for a model from a sample of its own rollouts. Group
// advantages see nothing but spread within a group, so that is what the two
// rewards are set against each other by:
//
//	factor = share * weight * s(outcome) / s(process)
//	s(x)   = sqrt( sum over groups and rollouts of (x - mean of group)^2
//	               / sum over groups of (rollouts - 1) )
//
// Every magnitude of base and shape is multiplied by the same factor. A process
// reward is linear in them, so its spread becomes share times that of the
// weighted outcome; signs, their order and the rules that make a profile safe stay
// as they are. src is the profile's file, and sample scored under it.
func Tune(src []byte, sample []Scored, o TuneOptions) (*Tuned, error) {
	p, err := ParseProfile(src)
	if err != nil {
		return nil, err
	}
	if !(o.Share > 0 && o.Share <= 10) {
		return nil, fmt.Errorf("share is %v; it must be above 0 and at most 10", o.Share)
	}
	t, process, outcome := spreads(sample)
	t.ProcessSpread, t.OutcomeSpread = process, p.Outcome.Weight.Value*outcome
	if err := t.enough(); err != nil {
		return nil, err
	}
	t.Factor = o.Share * t.OutcomeSpread / t.ProcessSpread
	if t.YAML, err = scaled(src, t, o, p.Name); err != nil {
		return nil, err
	}
	if _, err := ParseProfile(t.YAML); err != nil {
		return nil, fmt.Errorf("the tuned profile, with every magnitude times %v: %w", t.Factor, err)
	}
	return t, nil
}

// spreads measures both within the groups that have two rollouts with numbers.
func spreads(sample []Scored) (t *Tuned, process, outcome float64) {
	groups := map[string][]Scored{}
	var order []string
	t = &Tuned{}
	for _, s := range sample {
		if s.Group == "" || s.Process == nil || s.Outcome == nil {
			t.Left++
			continue
		}
		if groups[s.Group] == nil {
			order = append(order, s.Group) // so that sums don't depend on a map's order
		}
		groups[s.Group] = append(groups[s.Group], s)
	}
	free := 0
	for _, name := range order {
		g := groups[name]
		if len(g) < 2 {
			t.Left += len(g)
			continue
		}
		t.Groups++
		t.Rollouts += len(g)
		free += len(g) - 1
		process += squares(g, func(s Scored) float64 { return *s.Process })
		outcome += squares(g, func(s Scored) float64 { return *s.Outcome })
	}
	if free == 0 {
		return t, 0, 0
	}
	return t, math.Sqrt(process / float64(free)), math.Sqrt(outcome / float64(free))
}

// squares is the sum of squared distances from the mean.
func squares(g []Scored, of func(Scored) float64) float64 {
	sum := 0.0
	for _, s := range g {
		sum += of(s)
	}
	mean, out := sum/float64(len(g)), 0.0
	for _, s := range g {
		out += (of(s) - mean) * (of(s) - mean)
	}
	return out
}

// enough names all that the sample lacks.
func (t *Tuned) enough() error {
	var lacks []string
	if t.Groups < leastGroups {
		lacks = append(lacks, fmt.Sprintf("%d groups of two or more rollouts with both numbers, it takes %d (is the end's group set?)", t.Groups, leastGroups))
	}
	if t.Rollouts < leastRollouts {
		lacks = append(lacks, fmt.Sprintf("%d rollouts in them, it takes %d", t.Rollouts, leastRollouts))
	}
	// Sums of equal numbers are rarely equal in the last digit.
	const none = 1e-9
	if t.Rollouts > 0 && t.OutcomeSpread < none {
		lacks = append(lacks, "the outcome differs in no group (all right, all wrong, or its weight is 0)")
	}
	if t.Rollouts > 0 && t.ProcessSpread < none {
		lacks = append(lacks, "the process reward differs in no group")
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%w: %s; %d rollouts were left out for want of a group, a second rollout or a number", ErrTooLittle, strings.Join(lacks, "; "), t.Left)
	}
	return nil
}

// scaled is the profile's file with its magnitudes multiplied; all else, comments
// too, stays as it was written.
func scaled(src []byte, t *Tuned, o TuneOptions, from string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(src, &root); err != nil {
		return nil, fmt.Errorf("reading YAML: %w", err)
	}
	top := root.Content[0]
	if o.Name != "" {
		child(top, "name").SetString(o.Name)
	}
	for _, part := range []string{"base", "shape"} {
		node := child(top, part)
		for i := 1; i < len(node.Content); i += 2 {
			m := node.Content[i]
			value := child(m, "value")
			old, err := strconv.ParseFloat(value.Value, 64)
			if err != nil {
				return nil, fmt.Errorf("field %s.%s: %w", part, node.Content[i-1].Value, err)
			}
			*value = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strconv.FormatFloat(old*t.Factor, 'g', 4, 64)}
			child(m, "source").SetString(fmt.Sprintf("tuned: %v of profile %s times %.4g, for a spread of %v of the outcome's; %s%s, %d rollouts in %d groups",
				old, from, t.Factor, o.Share, modelOf(o), o.Sample, t.Rollouts, t.Groups))
		}
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&root), enc.Close()); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return out.Bytes(), nil
}

func modelOf(o TuneOptions) string {
	if o.Model == "" {
		return ""
	}
	return "model " + o.Model + ", "
}

// child is the value of a key; an empty node where there is none, which parsing
// has ruled out.
func child(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return &yaml.Node{}
}
