package nliworker

import (
	"fmt"
	"slices"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// maxRegraded bounds the thresholds that a trail can be read under: a label lacks
// the entities that a missing bridge needs where its entailment was above it.
const maxRegraded = 0.95

// Thresholds are what a label can be read anew under.
type Thresholds struct {
	Entailment    float64 `json:"entailment"`
	Contradiction float64 `json:"contradiction"`
}

// ThresholdsOf are those of o.
func ThresholdsOf(o Options) Thresholds { return Thresholds{o.Entailment, o.Contradiction} }

// Validate names the first threshold that no trail can be read under.
func (t Thresholds) Validate() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"entailment", t.Entailment}, {"contradiction", t.Contradiction}} {
		if !(p.value > 0 && p.value <= maxRegraded) {
			return fmt.Errorf("threshold of %s is %v; a trail can be read under those above 0 and up to %v", p.name, p.value, maxRegraded)
		}
	}
	return nil
}

// Regraded is what a label comes to under other thresholds.
type Regraded struct {
	// Known is false where that would need a score that the trail doesn't hold.
	Known bool
	Gap   schema.Gap
	// Same says that quotes and gap are those of a fresh run too; E reads both.
	Same bool
}

func stays(l *schema.Label) Regraded { return Regraded{Known: true, Gap: l.Label, Same: true} }

// Regrade reads a label that was given under was as it would be under now, from
// its trail alone. changed says that the label of an earlier step isn't the same
// any more, which E, but not D, depends on. An error says that the label can't
// have been given under was.
//
// A trail holds the scores of the deciding pair. The others are bounded by it:
// an entailed claim's other sentences are at least as sure, and no window
// entailed a sentence that stayed open. Where that does not decide, the label is
// not known.
func Regrade(l *schema.Label, was, now Thresholds, changed bool) (Regraded, error) {
	at := slices.IndexFunc(l.Trail, func(e schema.TrailEntry) bool { return e.Stage == l.Stage })
	if at < 0 || !l.Label.Graded() || l.Reason != "" {
		return stays(l), nil // no verdict of D or E
	}
	e := &l.Trail[at]
	if by := judge.Kind(e.Judge); by != judge.KindNLI && by != "" {
		// Thresholds are the model's; other judges give verdicts.
		if changed && l.Stage == schema.StageCross {
			return Regraded{}, nil
		}
		return stays(l), nil
	}
	switch {
	case l.Stage == schema.StageLocal && e.Scores != nil:
		if err := given(l, e, was); err != nil {
			return Regraded{}, err
		}
		if now == was {
			return stays(l), nil
		}
		return regradeLocal(l, e, was, now), nil
	case l.Stage == schema.StageLocal && now != was && e.Calls != 1:
		// Code found its least sure sentence; the scores of the others are not there.
		return Regraded{}, nil
	case l.Stage == schema.StageCross:
		return regradeCross(l, e, was, now, changed), nil
	default:
		return stays(l), nil
	}
}

// given checks that a label of D can have been given under was.
func given(l *schema.Label, e *schema.TrailEntry, was Thresholds) error {
	byModel := !slices.Contains(e.Flags, schema.FlagGuard)
	if l.Label == schema.GapNone && e.Scores.Entailment < was.Entailment ||
		l.Label == schema.GapContradicted && byModel && e.Scores.Contradiction < was.Contradiction {
		return fmt.Errorf("the label of %s/%s step %d (%s, entailment %.3f, contradiction %.3f) wasn't given under entailment %v and contradiction %v; name the thresholds of its run",
			l.Run, l.Rollout, l.Index, l.Label, e.Scores.Entailment, e.Scores.Contradiction, was.Entailment, was.Contradiction)
	}
	return nil
}

func regradeLocal(l *schema.Label, e *schema.TrailEntry, was, now Thresholds) Regraded {
	known := func(gap schema.Gap) Regraded { return Regraded{Known: true, Gap: gap} }
	ent, con := e.Scores.Entailment, e.Scores.Contradiction
	// One pair in all: one sentence, and no other window to ask about it yet.
	alone := e.Calls == 1
	// No window can have been kept from entailing by its contradiction: the two
	// probabilities of a pair add up to less than 1.
	apart := now.Entailment+was.Contradiction >= 1
	switch l.Label {
	case schema.GapContradicted:
		// By the guard, whatever the scores, but for what it denies an entailment;
		// or by the model, still.
		if now.Entailment != was.Entailment && slices.Contains(e.Flags, schema.FlagGuard) &&
			conflict(e.Premise, e.Hypothesis) == "" && swapped(e.Premise, e.Hypothesis) == "" {
			return Regraded{}
		}
		if slices.Contains(e.Flags, schema.FlagGuard) || con >= now.Contradiction {
			return known(l.Label) // of its quotes, those of earlier sentences may differ
		}
		return Regraded{}
	case schema.GapNone:
		// Every sentence has a premise that entails it at least as surely.
		if ent < now.Entailment {
			return Regraded{}
		}
		if now.Contradiction >= was.Contradiction {
			return Regraded{Known: true, Gap: l.Label, Same: alone || apart && now.Entailment >= was.Entailment}
		}
		if alone && con < now.Contradiction {
			return stays(l)
		}
		if alone && speaksAgainst(e) {
			return known(schema.GapContradicted)
		}
		return Regraded{}
	default:
		if con >= now.Contradiction && speaksAgainst(e) {
			return known(schema.GapContradicted)
		}
		switch {
		case alone:
			if ent >= now.Entailment && con < now.Contradiction && holdsClaim(e) {
				return known(schema.GapNone)
			}
			return stays(l)
		case apart && now.Contradiction >= was.Contradiction && now.Entailment >= was.Entailment:
			return known(l.Label) // another of its sentences may decide
		default:
			return Regraded{}
		}
	}
}

// speaksAgainst: the guard lets the deciding pair be a contradiction.
func speaksAgainst(e *schema.TrailEntry) bool {
	return aboutSame(e.Premise, e.Hypothesis) && !nothingDiffers(e.Premise, e.Hypothesis)
}

// holdsClaim: the guard lets the deciding pair be an entailment.
func holdsClaim(e *schema.TrailEntry) bool {
	return absent(e.Premise, e.Hypothesis) == "" && swapped(e.Premise, e.Hypothesis) == "" && denied(e.Premise, e.Hypothesis) == ""
}

// regradeCross: E asks for entailment alone, of quotes of earlier steps.
func regradeCross(l *schema.Label, e *schema.TrailEntry, was, now Thresholds, changed bool) Regraded {
	switch {
	case changed:
		return Regraded{}
	case now.Entailment == was.Entailment:
		return stays(l)
	case l.Label == schema.GapNone && now.Entailment < was.Entailment:
		return Regraded{Known: true, Gap: l.Label}
	case l.Label == schema.GapNone && e.Scores != nil && e.Scores.Entailment >= now.Entailment && l.Facts != nil && !deniable(l.Facts.Answer):
		return stays(l) // every sentence has quotes that entail it at least as surely
	case l.Label != schema.GapNone && now.Entailment > was.Entailment && !slices.Contains(e.Flags, schema.FlagGuard):
		return stays(l)
	default:
		// Whether an entailment is denied is not in the trail.
		return Regraded{}
	}
}
