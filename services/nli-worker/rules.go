package nliworker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// RulesModel names the rules of D and E in trails and in a run's configuration
// hash. It changes with every change of the rules that can change a verdict.
const RulesModel = "nli-rules/2"

// Rules is the judge local of D and E: in place of a model it goes by how much
// of the hypothesis stands in the premise, and by negations, numbers, dates and
// names in which the two differ. It is deterministic and needs no model, and is
// the floor that a model must beat. Its scores are verdicts in the form of
// scores and no probabilities: the class it settles on has rulesSure, and where
// it settles on none, the share of the hypothesis that was found shows in
// Entailment, below every usable threshold.
type Rules struct{}

// Judge and Session are implemented without any state.
var (
	_ Judge   = Rules{}
	_ Session = Rules{}
)

// NewRules returns the rules.
func NewRules() Rules { return Rules{} }

const (
	rulesSure = 0.9
	// rulesCovers is the share of what a hypothesis says, by weight, that an
	// entailing premise holds.
	rulesCovers = 0.75
	// rulesOpen bounds the scores where no class is settled on.
	rulesOpen = 0.4
	// rulesTokens: rules have no limit of their own; this is a model's.
	rulesTokens = 512
)

// Begin implements Judge.
func (r Rules) Begin() Session { return r }

// Meta implements Session.
func (Rules) Meta(nli.Pair) judge.Meta {
	return judge.Meta{Judge: judge.KindLocal, Model: RulesModel}
}

// Info implements nli.Scorer.
func (Rules) Info() nli.Info {
	sum := sha256.Sum256([]byte(RulesModel))
	return nli.Info{Name: "rules", Hash: hex.EncodeToString(sum[:]), MaxTokens: rulesTokens, Device: "cpu"}
}

// CountTokens counts words.
func (Rules) CountTokens(text string) (int, error) { return len(evidence.Words(text)), nil }

// Score implements nli.Scorer.
func (Rules) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	out := make([]schema.Scores, len(pairs))
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("scoring by rules: %w", err)
		}
		out[i] = byRules(p.Premise, p.Hypothesis)
	}
	return out, nil
}

// byRules tests contradiction first, as D does.
func byRules(premise, hypothesis string) schema.Scores {
	const rest = 1 - rulesSure
	covered := evidence.Relevance(premise, hypothesis)
	denies := evidence.Negated(premise) != evidence.Negated(hypothesis)
	against := conflict(premise, hypothesis) != "" || swapped(premise, hypothesis) != "" ||
		otherDate(premise, hypothesis) || otherName(premise, hypothesis) || denies && covered >= rulesCovers
	switch {
	case against:
		return schema.Scores{Contradiction: rulesSure, Neutral: rest}
	case covered >= rulesCovers && !denies && absent(premise, hypothesis) == "":
		return schema.Scores{Entailment: rulesSure, Neutral: rest}
	default:
		e := rulesOpen * covered
		return schema.Scores{Entailment: e, Neutral: 1 - e}
	}
}

// otherDate reports whether the hypothesis gives a full date, and the premise
// another one for what is otherwise the same statement.
func otherDate(premise, hypothesis string) bool {
	theirs := evidence.Dates(premise)
	if len(theirs) == 0 {
		return false
	}
	for _, d := range evidence.Dates(hypothesis) {
		agrees := slices.ContainsFunc(theirs, d.Agrees)
		if d.Year != 0 && !agrees && coveredButNumbers(premise, hypothesis[:d.Start]+hypothesis[d.End:]) {
			return true
		}
	}
	return false
}

// otherName reports whether all but one name of the hypothesis stands in the
// premise, which has another name in its place.
func otherName(premise, hypothesis string) bool {
	words := evidence.Words(premise)
	names := properNames(hypothesis)
	missing := ""
	for _, n := range names {
		switch {
		case holdsName(words, n):
		case missing != "":
			return false
		default:
			missing = n
		}
	}
	if missing == "" || len(names) < 2 || missing == names[0] && len(names) > 2 {
		return false
	}
	said := evidence.Words(hypothesis)
	rival := slices.ContainsFunc(properNames(premise), func(n string) bool { return !holdsName(said, n) })
	return rival && coveredButNumbers(premise, strings.Replace(hypothesis, missing, "", 1))
}
