package padding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/padding"
	"github.com/stepgap/stepgap/pkg/schema"
)

const size = 50_000

// every kind in every place.
func every() []variant {
	var out []variant
	for _, k := range padding.Kinds() {
		text := padding.Text(k, size)
		for _, p := range padding.Places() {
			out = append(out, variant{string(k) + " " + string(p), func(own string) string {
				return padding.Put(own, text, k.Joiner(), p)
			}})
		}
	}
	return out
}

// TestPromise_P5_PaddingMovesNoLabelOfTheTree: 50 KB of unrelated text of any
// shape before, after or around the deciding sentence's passage moves no label
// of the whole tree, from hand-written claims.
func TestPromise_P5_PaddingMovesNoLabelOfTheTree(t *testing.T) {
	t.Parallel()
	var rollouts []rollout
	for _, f := range padding.Facts() {
		for _, c := range f.Claims() {
			s := stepOf(f, c)
			rollouts = append(rollouts, rollout{id: f.Title, steps: steps(s), pads: map[string]bool{s.Passages[0].Digest: true}})
		}
	}
	all := every()
	s := wholeTree(t)
	o := hold(t, s, rollouts, func(i int) []variant { return some(all, i, 2) })
	t.Log(o)
	require.Empty(t, o.moved)
}

// some are n variants, others for each i.
func some(all []variant, i, n int) []variant {
	out := make([]variant, n)
	for k := range out {
		out[k] = all[(n*i+k)%len(all)]
	}
	return out
}

// stepOf is a claim beside a fact's passage.
func stepOf(f padding.Fact, claim string) *schema.Step {
	return &schema.Step{
		Run: "r", Rollout: "o", Index: 1, Kind: schema.KindSearch, Question: f.Question, Query: f.Query, Claim: claim, Text: claim,
		Passages: []schema.Passage{passage(f.Title, f.Text(), 1)},
	}
}

func passage(title, text string, by int) schema.Passage {
	return schema.Passage{Digest: schema.PassageDigest(title, text), Title: title, Text: text, ByStep: by}
}
