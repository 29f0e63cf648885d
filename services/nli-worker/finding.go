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
	// near: a score came so near to its threshold that a little more or less
	// would have changed the outcome.
	near bool
	// at is the candidate that decided, of those that were asked.
	at int
	// pairs is how many pairs the model was asked.
	pairs int
}

// near reports whether a probability came within epsilon of its threshold.
func (o Options) near(p, threshold float64) bool { return math.Abs(p-threshold) <= o.Epsilon }

func flags(f finding) []string {
	var out []string
	if f.near {
		out = append(out, schema.FlagNearThreshold)
	}
	if f.note != "" {
		out = append(out, schema.FlagGuard)
	}
	return out
}

// entry is the trail entry of a stage that f decided.
func entry(stage schema.Stage, scorer Session, f finding, detail string) schema.TrailEntry {
	scores := f.scores
	m := scorer.Meta(f.pair)
	m.Detail = detail
	if m.Judge == judge.KindNLI {
		m.Calls = f.pairs
	}
	e := m.Entry(stage, string(f.outcome))
	e.Scores, e.Premise, e.Hypothesis, e.Flags = &scores, f.pair.Premise, f.pair.Hypothesis, flags(f)
	if m.Judge.Asks() || f.computed {
		e.Scores = nil // verdicts, which are no probabilities; or there was no need of any
	}
	if stage == schema.StageLocal && scorer.Info().TwoWay {
		e.Flags = append(e.Flags, schema.FlagNoContradiction)
	}
	for _, w := range f.windows[:min(len(f.windows), schema.MaxWindows)] {
		e.Windows = append(e.Windows, w.place())
	}
	return e
}

// combine picks the finding that decides a claim of several sentences: any
// contradicted one, else the first that is not entailed, else the least
// surely entailed. Its pairs are those of all, and unless it is contradicted,
// any of them may have been near to a threshold.
func combine(findings []finding) finding {
	decides := findings[0]
	for _, f := range findings[1:] {
		if severity(f.outcome) > severity(decides.outcome) ||
			f.outcome == entailed && decides.outcome == entailed && f.scores.Entailment < decides.scores.Entailment {
			decides = f
		}
	}
	decides.pairs = 0
	for _, f := range findings {
		decides.pairs += f.pairs
		decides.near = decides.near || f.near && decides.outcome != contradicted
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
