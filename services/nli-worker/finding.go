package nliworker

import (
	"math"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// outcome is what a pair, or a sentence of a claim, comes to; it is also the
// branch named in the trail.
type outcome string

const (
	entailed     outcome = "entailment"
	contradicted outcome = "contradiction"
	neutral      outcome = "neutral"
)

// finding is what was found of one sentence of the claim.
type finding struct {
	outcome outcome
	pair    nli.Pair
	scores  schema.Scores
	// windows are those that the deciding premise was made of.
	windows []window
	// note says what the guard saw; empty where the model alone decided.
	note string
	// computed: code decided from values in the quotes, so there are no scores.
	computed bool
	// at is the candidate that decided, of those that were asked.
	at int
	// pairs is how many pairs the model was asked.
	pairs int
}

// flags of the trail.
const (
	flagNear  = "near_threshold"
	flagGuard = "guard"
)

func (o Options) flags(f finding) []string {
	var flags []string
	near := func(p, threshold float64) bool { return math.Abs(p-threshold) <= o.Epsilon }
	if near(f.scores.Contradiction, o.Contradiction) || near(f.scores.Entailment, o.Entailment) {
		flags = append(flags, flagNear)
	}
	if f.note != "" {
		flags = append(flags, flagGuard)
	}
	return flags
}

// entry is the trail entry of a stage that f decided.
func (o Options) entry(stage schema.Stage, model nli.Info, f finding, pairs int, detail string) schema.TrailEntry {
	scores := f.scores
	e := judge.Meta{Judge: judge.KindNLI, Model: model.Short(), Calls: pairs, Detail: detail}.Entry(stage, string(f.outcome))
	e.Scores, e.Premise, e.Hypothesis, e.Flags = &scores, f.pair.Premise, f.pair.Hypothesis, o.flags(f)
	return e
}

// combine picks the finding that decides a claim of several sentences: any
// contradicted one, else the first that is not entailed, else the least
// surely entailed.
func combine(findings []finding) finding {
	decides := findings[0]
	for _, f := range findings[1:] {
		if severity(f.outcome) > severity(decides.outcome) ||
			f.outcome == entailed && decides.outcome == entailed && f.scores.Entailment < decides.scores.Entailment {
			decides = f
		}
	}
	return decides
}

func severity(o outcome) int {
	switch o {
	case contradicted:
		return 2
	case neutral:
		return 1
	default:
		return 0
	}
}

func countPairs(findings []finding) int {
	n := 0
	for _, f := range findings {
		n += f.pairs
	}
	return n
}
