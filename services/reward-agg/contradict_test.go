package rewardagg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

func nliProfile(t testing.TB) *Profile {
	t.Helper()
	p := *profile(t, "paper")
	p.Retraction.Mode, p.Retraction.Contradiction = RetractByNLI, Magnitude{Value: 0.5, Source: "test"}
	return &p
}

func TestByNLIAStockPhraseTakesNothingBack(t *testing.T) {
	t.Parallel()
	wrong := gap(schema.GapContradicted, "Ada Lovelace birth", "Ada Lovelace was born in 1820.")
	mended := ok("Lovelace baptism record", "She was born in 1815.")
	mended.text = "Actually, that was wrong. She was born in 1815."
	stock := ok("Lovelace engine notes", "She wrote notes on the engine.")
	stock.text = "Actually, that was wrong. She wrote notes on the engine."

	p := nliProfile(t)
	reasonOf := func(next act, contradiction float64) (schema.ShapeReason, *float64) {
		end, labels := rolloutOf(wrong, next)
		answers := map[Question]schema.Scores{}
		for _, q := range Questions(end, labels, p) {
			answers[q] = schema.Scores{Contradiction: 0.01, Neutral: 0.99}
			if q == (Question{New: "She was born in 1815.", Old: "Ada Lovelace was born in 1820."}) {
				answers[q] = schema.Scores{Contradiction: contradiction, Neutral: 1 - contradiction}
			}
		}
		s := ComputeWith(end, labels, p, answers).Steps[0]
		return s.ShapeReason, s.Shape
	}
	why, shape := reasonOf(mended, 0.9)
	require.Equal(t, schema.ShapeRetracted, why)
	require.InDelta(t, 0.10, *shape, 1e-12)
	why, _ = reasonOf(mended, 0.49)
	require.Equal(t, schema.ShapeIgnored, why)
	why, shape = reasonOf(stock, 0.9)
	require.Equal(t, schema.ShapeIgnored, why)
	require.InDelta(t, -0.10, *shape, 1e-12)
	// By patterns alone the phrase is enough.
	require.Equal(t, schema.ShapeRetracted, compute(profile(t, "paper"), wrong, stock).Steps[0].ShapeReason)
}

func TestByNLIARetractionWithoutAnAnswerGetsNoNumber(t *testing.T) {
	t.Parallel()
	wrong := gap(schema.GapContradicted, "Ada Lovelace birth", "Ada Lovelace was born in 1820.")
	mended := ok("Lovelace baptism record", "She was born in 1815.")
	mended.text = "Actually, that was wrong. She was born in 1815."
	s := compute(nliProfile(t), wrong, mended).Steps[0]
	require.Nil(t, s.Shape)
	require.Empty(t, s.ShapeReason)
	require.NotNil(t, s.Base, "the label stands")
	// Where the form itself is absent there is nothing to ask, and the answer is known.
	mended.text = mended.claim
	require.Equal(t, schema.ShapeIgnored, compute(nliProfile(t), wrong, mended).Steps[0].ShapeReason)
}

func TestQuestionsAreFewAndOnlyWhereTheyDecide(t *testing.T) {
	t.Parallel()
	wrong := gap(schema.GapContradicted, "Ada Lovelace birth", "Ada Lovelace was born in 1820. She was Danish.")
	back := ok("Lovelace baptism record", "She was born in 1815.")
	back.text = "Actually, that was wrong. She was born in 1815."
	questions := func(p *Profile, acts ...act) int {
		end, labels := rolloutOf(acts...)
		return len(Questions(end, labels, p))
	}
	require.Equal(t, 4, questions(nliProfile(t), wrong, back))
	require.Zero(t, questions(profile(t, "paper"), wrong, back), "by patterns")
	require.Zero(t, questions(nliProfile(t), wrong, ok("x", "She was born in 1815.")), "no surface form")
	require.Zero(t, questions(nliProfile(t), wrong), "nothing came after")
	aim := wrong
	aim.stage = schema.StageEntity
	require.Zero(t, questions(nliProfile(t), aim, back), "a wrong aim is mended by a right one")
	abstains := gap(schema.GapContradicted, "Ada Lovelace birth", "")
	abstains.stage = schema.StageAbstain
	require.Zero(t, questions(nliProfile(t), abstains, back), "an abstention claims nothing")
	require.Equal(t, schema.ShapeRetracted, compute(nliProfile(t), abstains, back).Steps[0].ShapeReason)
	long := back
	for range 50 {
		long.text += " She was born in 1815."
	}
	end, labels := rolloutOf(wrong, long)
	require.LessOrEqual(t, len(Questions(end, labels, nliProfile(t))), maxNewSentences*maxOldSentences)
}
