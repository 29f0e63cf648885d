package rewardagg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Sentences as agents write them, in our own words.
func TestRetractionPatterns(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	for text, want := range map[string]bool{
		"Actually, that was wrong: he was born in 1865.":                                          true,
		"That's incorrect. The director is Jean Delannoy.":                                        true,
		"That\u2019s not right; the film came out in 1958.":                                       true,
		"This is clearly wrong, since the passage gives 1867.":                                    true,
		"Wait, that isn't right. The second film is older.":                                       true,
		"Wait - no, the battle was in 1813.":                                                      true,
		"I previously stated that her father was a judge, but the passage says he was a painter.": true,
		"Earlier, I said the album was from 1998. The results show 1996.":                         true,
		"Earlier I had assumed that both are Danish; only one is.":                                true,
		"I initially thought it was the 2003 film, however the cast does not match.":              true,
		"Contrary to what I said before, the town lies in Ohio.":                                  true,
		"It is in Ohio, not in Iowa as I wrongly stated.":                                         true,
		"My earlier claim was wrong: the river is the Dee.":                                       true,
		"My previous answer is not supported by the passage.":                                     true,
		"Upon re-reading, the passage gives 1921 as the year of her death.":                       true,
		"Upon closer inspection of the results, Doe was the producer, not the director.":          true,
		"On a second look the article is about his son.":                                          true,
		"Upon reviewing the search results, it was the other brother.":                            true,
		"Looking at the passage again, the year is 1902.":                                         true,
		"I made a mistake: the mayor was elected in 1990.":                                        true,
		"I've made an obvious error in the dates.":                                                true,
		"I misread the passage; she moved there in 1950.":                                         true,
		"I confused him with his namesake.":                                                       true,
		"I was mistaken, the actor is British.":                                                   true,
		"My mistake, the bridge opened in 1932.":                                                  true,
		"I apologize for the confusion. The author is Hedda Lund.":                                true,
		"Correction: the club was founded in 1904.":                                               true,
		"Let me correct that. The club was founded in 1904.":                                      true,
		"I need to correct my earlier statement about the club.":                                  true,
		"I retract the claim that the club is Scottish.":                                          true,
		"Scratch that, it is the 1904 club.":                                                      true,
		"The results are in.\nNo, it was Lund who wrote it.":                                      true,
		"Oops, wrong Lund.": true,
		"From the search results, I can see that he was born in 1865.":     false,
		"She was actually born in Leeds.":                                  false,
		"The film \"Love's Gravest Error\" was released in 1927.":          false,
		"The actor previously known as Tony Doe starred in it.":            false,
		"The film that came out earlier is the Danish one.":                false,
		"I need to search for the director instead.":                       false,
		"However, the passage does not mention her death.":                 false,
		"The correction of the text took him two years.":                   false,
		"The reviewers said that it was a wrong turn for the band.":        false,
		"I was wrongly credited, the singer said.":                         false,
		"There is no mistake in the dates.":                                false,
		"He apologized for the error in 1990.":                             false,
		"The court found the verdict incorrect and the sentence too long.": false,
		"No, Alba is a novel by Delia Reed.":                               false,
		"I first need to find out who directed it.":                        false,
		"I can't wait to see the next result.":                             false,
	} {
		require.Equal(t, want, takesBack(text, p), text)
	}
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	claim := "Ada Lovelace was born in 1820."
	cc := func(stage schema.Stage, c string) act {
		return act{gap: schema.GapContradicted, stage: stage, query: "Ada Lovelace birth", claim: c}
	}
	then := func(text, claim string) act {
		a := ok("Lovelace baptism record", claim)
		a.text = text
		return a
	}
	mb := gap(schema.GapMissingBridge, "Ada Lovelace tutor", "Her tutor taught at London.")
	mb.entities = []string{"Ada Lovelace", "Augustus De Morgan", "London"}
	ie := gap(schema.GapIrrelevant, "Ada Lovelace birth", "")
	unknown := act{gap: schema.GapUngraded, reason: schema.ReasonJudgeError, noFacts: true}

	for name, c := range map[string]struct {
		acts []act
		want schema.ShapeReason
		at   int
	}{
		"retracted": {[]act{cc("", claim), then("Actually, that was wrong: she was born in 1815.", "She was born in 1815.")}, schema.ShapeRetracted, 2},
		"retraction that names the old claim": {[]act{cc("", claim), then("I previously stated that Ada Lovelace was born in 1820, but it was 1815.",
			"I previously stated that Ada Lovelace was born in 1820, but it was 1815.")}, schema.ShapeRetracted, 2},
		"pattern, but asserted again at once": {[]act{cc("", claim), then("My mistake, I should be brief. Ada Lovelace was born in 1820.", claim)}, schema.ShapeIgnored, 2},
		"pattern, but asserted again later": {[]act{cc("", claim), then("Actually, that was wrong: she was born in 1815.", "She was born in 1815."),
			ok("x", "In 1820 Ada Lovelace was born.")}, schema.ShapeIgnored, 2},
		"other value without taking back":       {[]act{cc("", claim), then("She was born in 1815.", "She was born in 1815.")}, schema.ShapeIgnored, 2},
		"retracted too late":                    {[]act{cc("", claim), ok("x", "She wrote notes."), then("That was wrong.", "")}, schema.ShapeIgnored, 2},
		"wrong aim, then a right one":           {[]act{cc(schema.StageEntity, claim), ok("Ada birth", "She was born in 1815.")}, schema.ShapeRetracted, 2},
		"wrong aim twice":                       {[]act{cc(schema.StageEntity, claim), cc(schema.StageEntity, "Byron was a poet.")}, schema.ShapeIgnored, 2},
		"wrong aim, then another contradiction": {[]act{cc(schema.StageEntity, claim), cc("", "She was born in 1813.")}, schema.ShapeRetracted, 2},
		"wrong aim, then ungraded":              {[]act{cc(schema.StageEntity, claim), unknown}, "", 0},
		"unjustified abstention taken back":     {[]act{cc(schema.StageAbstain, ""), then("Upon re-reading, the passage gives 1815.", "It gives 1815.")}, schema.ShapeRetracted, 2},
		"unjustified abstention kept up": {[]act{cc(schema.StageAbstain, ""), func() act {
			a := then("Upon re-reading, it cannot be determined.", "")
			a.abstains = true
			return a
		}()}, schema.ShapeIgnored, 2},
		"contradiction, then a step that never came": {[]act{cc("", claim), unknown}, "", 0},
		"nothing came after":                         {[]act{cc("", claim)}, schema.ShapeNoWindow, 0},

		"re-searched":                 {[]act{ie, ok("Countess of Lovelace baptism 1815", "x y")}, schema.ShapeReSearched, 2},
		"near-duplicate query":        {[]act{ie, ok("birth of Ada Lovelace", "x y")}, schema.ShapeNearDuplicate, 2},
		"misspelt query":              {[]act{ie, ok("Ada Lovelase birth", "x y")}, schema.ShapeNearDuplicate, 2},
		"duplicate of an earlier one": {[]act{ok("Countess of Lovelace", "x y"), ie, ok("countess Lovelace", "w v")}, schema.ShapeNearDuplicate, 3},
		"no query after":              {[]act{ie, conclude(schema.GapNone, "So it is 1815.", "1815")}, schema.ShapeIgnored, 2},
		"re-search unread":            {[]act{ie, unknown}, "", 0},

		"bridged":                       {[]act{mb, ok("Augustus De Morgan university", "x y")}, schema.ShapeBridged, 2},
		"bridged by a part of the name": {[]act{mb, ok("Where did De Morgan teach", "x y")}, schema.ShapeBridged, 2},
		"bridge in lower case":          {[]act{mb, ok("augustus de morgan university", "x y")}, schema.ShapeBridged, 2},
		"only names already asked for":  {[]act{mb, ok("Ada Lovelace school years", "x y")}, schema.ShapeIgnored, 2},
		"names nothing of the step":     {[]act{mb, ok("Charles Babbage engine", "x y")}, schema.ShapeIgnored, 2},
		"bridge asked for before":       {[]act{ok("Augustus De Morgan", "x y"), mb, ok("De Morgan mathematician chair", "w v")}, schema.ShapeIgnored, 3},
		"bridge query repeated":         {[]act{mb, ok("Ada Lovelace's tutor", "x y")}, schema.ShapeNearDuplicate, 2},
		"bridge ignored":                {[]act{mb, conclude(schema.GapNone, "So it is London.", "London")}, schema.ShapeIgnored, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := compute(profile(t, "paper"), c.acts...)
			for i, a := range c.acts {
				if a.gap != schema.GapNone {
					require.Equal(t, c.want, r.Steps[i].ShapeReason)
					require.Equal(t, c.at, r.Steps[i].ShapeStep)
					require.Equal(t, c.at != 0, r.Steps[i].Shape != nil)
					return
				}
			}
		})
	}
}

func TestWindowFollowsWhatThePolicySaw(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	ie := gap(schema.GapIrrelevant, "Ada Lovelace birth", "")
	saw := func(a act, n int) act { a.saw = n; return a }
	mended := ok("Countess of Lovelace baptism", "x y")
	other := ok("Charles Babbage engine", "w v")

	// Without redirection the next step counts, although it was no answer to
	// the label: a re-search by luck.
	require.Equal(t, 2, compute(p, ie, other, mended).Steps[0].ShapeStep)
	// With it, the first step written after the label was seen.
	r := compute(p, ie, other, saw(mended, 1))
	require.Equal(t, 3, r.Steps[0].ShapeStep)
	require.Equal(t, schema.ShapeReSearched, r.Steps[0].ShapeReason)
	require.Equal(t, 310, r.Steps[0].ShapeAt.Start)
	// Seen a later label, so also this one.
	require.Equal(t, 3, compute(p, ie, other, saw(mended, 2)).Steps[0].ShapeStep)
	// The label came too late for any step.
	r = compute(p, saw(ie, 0), saw(ie, 1), other)
	require.Equal(t, schema.ShapeNoWindow, r.Steps[1].ShapeReason)
	require.Nil(t, r.Steps[1].Shape)
	// Indices with a hole: the next step is the next one listed.
	end, labels := rolloutOf(ie, mended)
	end.Steps[1].Index = 5
	labels[5] = labels[2]
	delete(labels, 2)
	require.Equal(t, 5, Compute(end, labels, p).Steps[0].ShapeStep)
}

func TestANearDuplicateQueryIsChargedOnce(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	again := ok("birth of Ada Lovelace", "She was a countess.")
	// After a good step, on the repeating step itself.
	r := compute(p, ok("Ada Lovelace birth", "She was born in 1815."), again)
	require.Equal(t, schema.ShapeNearDuplicate, r.Steps[1].ShapeReason)
	require.Equal(t, 2, r.Steps[1].ShapeStep)
	require.InDelta(t, 0.20-0.05, *r.Steps[1].Reward, 1e-12)
	// As a failed repair, on the gap.
	r = compute(p, gap(schema.GapIrrelevant, "Ada Lovelace birth", ""), again)
	require.Equal(t, schema.ShapeNearDuplicate, r.Steps[0].ShapeReason)
	require.Nil(t, r.Steps[1].Shape)
}

func TestSameQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Ada Lovelace birth date", "birth date of Ada Lovelace", true},
		{"When was Ada Lovelace born?", "when was Ada Lovelace born", true},
		{"Ada Lovelace birth date", "Ada Lovelace death date", false},
		{"John Ronald Reuel Tolkien and Christopher John Reuel Tolkien birth date", "John Ronald Reuel Tolkien and Christopher John Reuel Tolkien death date", false},
		{"population of Leeds 1991", "population of Leeds 2001", false},
		{"Ada Lovelace", "Ada Lovelace tutor", false},
		{"Zbigniew Brzezinski father occupation", "Zbignew Brzezinsky father occupation", true},
		{"北京人口", "北京人口", true},
		{"北京人口", "上海人口", false},
		{"Gemini4a launch site", "Gemini4b launch site", false},
		{"population of Iran", "population of Iraq", false},
		{"Pokémon release", "pokemon release", true},
		{"???", "???", true},
		{"???", "!!!", false},
	} {
		require.Equal(t, c.want, readQuery(c.a).same(readQuery(c.b), 0.85), "%q / %q", c.a, c.b)
		require.Equal(t, c.want, readQuery(c.b).same(readQuery(c.a), 0.85), "%q / %q", c.b, c.a)
	}
}
