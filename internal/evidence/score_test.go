package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRelevance(t *testing.T) {
	t.Parallel()
	claim := "The mill at Oakham burned in 1911."
	about := Relevance("The mill at Oakham burned in 1902.", claim)
	require.Greater(t, about, Relevance("Oakham is a town.", claim))
	require.Greater(t, about, Relevance("The mill at Lund burned in 1911.", claim), "a name weighs more than a number")
	require.Greater(t, Relevance("The mill at Oakham burned.", claim), Relevance("The mill at Oakham burned. Lund has many old churches, schools and bridges.", claim), "the tighter window")
	require.Zero(t, Relevance("Anything", "of the"))
	rapid.Check(t, func(t *rapid.T) {
		score := Relevance(drawText(t, "window"), drawText(t, "claim"))
		require.True(t, score >= 0 && score <= 1)
	})
}

func TestBestWindow(t *testing.T) {
	t.Parallel()
	ps := passages(
		"Lund is old. It has mills.",
		"Oakham is a town. It lies on a river. The mill burned in 1902. It was rebuilt.",
	)
	ps[1].Title = "Oakham"
	claim := "The mill at Oakham burned in 1911."
	q, ok := BestWindow(ps, claim, 1)
	require.True(t, ok)
	require.Equal(t, "It lies on a river. The mill burned in 1902. It was rebuilt.", q.Text)
	requireVerbatim(t, ps, q)

	padded := passages("Wholly unrelated text about bread.", ps[1].Text, "More text. Much more text.")
	padded[1].Title = "Oakham"
	again, ok := BestWindow(padded, claim, 1)
	require.True(t, ok)
	require.Equal(t, q.Text, again.Text, "text elsewhere doesn't move the window")

	_, ok = BestWindow(nil, claim, 1)
	require.False(t, ok)
}

func TestTitled(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Oakham: It burned.", Titled("Oakham", "It burned."))
	require.Equal(t, "The Oakham mill burned.", Titled("Oakham", "The Oakham mill burned."))
	require.Equal(t, "It burned.", Titled("", "It burned."))
}

func TestNearDuplicate(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"developers of Monmouth Heights", "Monmouth Heights developer"},
		{"Who founded the Oakham mill?", "who founded oakham mill"},
		{"Pokémon release year", "pokemon release year"},
		{"founder of Ölmstad harbour", "founder of Olmstad harbor"},
		{"北京大学的历史", "北京大学的历史"},
		{"?", "?"},
	} {
		require.True(t, NearDuplicate(same[0], same[1]), "%v %v", same, Similarity(same[0], same[1]))
		require.True(t, NearDuplicate(same[1], same[0]), "%v", same)
	}
	for _, other := range [][2]string{
		{"Ada Brück father", "Ada Brück mother"},
		{"population of Oakham 1984", "population of Oakham 1985"},
		{"Paul Holm", "Stephen Holm"},
		{"town named after Levitt & Sons", "town named after Levittown station"},
		{"北京大学的历史", "上海大学的校长"},
		{"", "x"},
		{"!", "?"},
	} {
		require.False(t, NearDuplicate(other[0], other[1]), "%v %v", other, Similarity(other[0], other[1]))
	}
}
