package rewardagg

import (
	"github.com/stepgap/stepgap/pkg/schema"
)

// What is asked about one retraction, at most: each pair costs a call of the NLI
// model.
const (
	maxNewSentences = 8
	maxOldSentences = 4
)

// Question asks whether New, a sentence that the policy wrote after a gap,
// contradicts Old, a sentence that it claimed before. New is the premise, Old the
// hypothesis.
type Question struct{ New, Old string }

// Questions lists what p needs an NLI model for, each question once: the new
// sentences against the old ones of every contradicted step whose next step shows
// a retraction's surface form. It is empty unless p's mode of retraction is nli.
func Questions(end *schema.RolloutEnd, labels map[int]*schema.Label, p *Profile) []Question {
	if p.Retraction.Mode != RetractByNLI || end.Aborted {
		return nil
	}
	views, err := viewsOf(end, labels)
	if err != nil {
		return nil // Compute says so
	}
	readAll(views, p)
	var all []Question
	asked := map[Question]bool{}
	for i, v := range views {
		j, ok := windowOf(views, i)
		if !ok || v.gap() != schema.GapContradicted || !v.graded() || v.label.Stage == schema.StageEntity {
			continue
		}
		for _, q := range questionsOf(v, views[j]) {
			if !asked[q] {
				asked[q] = true
				all = append(all, q)
			}
		}
	}
	return all
}

// questionsOf are those that decide whether step next takes back what v claimed.
func questionsOf(v, next *view) []Question {
	if v.read == nil || next.read == nil || !next.read.retracts || assertsNothing(v) {
		return nil
	}
	var out []Question
	for _, n := range sentencesOf(clip(next.facts().Text, maxTextRead), maxNewSentences) {
		for _, o := range sentencesOf(clip(v.read.claim, maxClaimRead), maxOldSentences) {
			out = append(out, Question{New: n, Old: o})
		}
	}
	return out
}

// contradicts reports whether what step next says contradicts what v claimed; not
// known where a question that could say so has no answer.
func contradicts(v, next *view, p *Profile, answers map[Question]schema.Scores) (yes, known bool) {
	known = true
	for _, q := range questionsOf(v, next) {
		scores, answered := answers[q]
		switch {
		case !answered:
			known = false
		case scores.Contradiction >= p.Retraction.Contradiction.Value:
			return true, true
		}
	}
	return false, known
}
