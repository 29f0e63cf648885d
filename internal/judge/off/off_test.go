package off_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge/off"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

const question = "Where was the director of Silent Harbour born?"

func search(claim string, texts ...string) *schema.Step {
	s := &schema.Step{Run: "r", Rollout: "o", Index: 2, Kind: schema.KindSearch, Question: question, Query: "birthplace of Ole Vinter", Claim: claim, Text: claim}
	for _, text := range texts {
		s.Passages = append(s.Passages, schema.Passage{Digest: text, Title: "Ole Vinter", Text: text, ByStep: 2})
	}
	return s
}

func conclusion(texts ...string) *schema.Step {
	s := search("Ole Vinter was born in Odder.", texts...)
	s.Kind, s.Query, s.Answer = schema.KindConclusion, "", "Odder"
	for i := range s.Passages {
		s.Passages[i].ByStep = 1
	}
	return s
}

func decide(t *testing.T, d tree.Decider, item *tree.Item) tree.Decision {
	t.Helper()
	got, err := d.Decide(t.Context(), item)
	require.NoError(t, err)
	require.Equal(t, "off", got.Entry.Judge, "%+v", got.Entry)
	require.NotEmpty(t, got.Entry.Detail)
	return got
}

func TestEntityOffRoutesAsTheTreeDoes(t *testing.T) {
	t.Parallel()
	d := entitycheck.New(off.New())
	astray := search("A cake needs flour.", "Cakes are made of flour.")
	astray.Query = "how to bake a cake"
	for name, c := range map[string]struct {
		step *schema.Step
		want tree.Hop
	}{
		"any search":                         {astray, tree.HopQuote},
		"abstaining":                         {search("The birthplace of Ole Vinter is not mentioned in the passages.", "He was Danish."), tree.HopAbstain},
		"conclusion without passages":        {conclusion(), tree.HopCross},
		"conclusion over earlier passages":   {conclusion("Ole Vinter was born in Odder."), tree.HopCross},
		"search that brought nothing at all": {search("Ole Vinter was born in Odder."), tree.HopQuote},
	} {
		require.Equal(t, c.want, decide(t, d, &tree.Item{Step: c.step}).Next, name)
	}
	gap, _, entry, err := entitycheck.Plan(t.Context(), off.New(), astray)
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, gap)
	require.Equal(t, "off", entry.Judge)
}

func TestAbstainOffCallsEveryAbstentionJustified(t *testing.T) {
	t.Parallel()
	s := search("The birthplace of Ole Vinter is not mentioned in the passages.", "Ole Vinter was born in Odder.")
	got := decide(t, abstaincheck.New(off.New()), &tree.Item{Step: s})
	require.Equal(t, tree.HopQuote, got.Next)
	require.True(t, got.Abstaining)
}

func TestQuoteOffLooksForNoQuote(t *testing.T) {
	t.Parallel()
	const first, second = "He made many films. He liked the sea.", "Ole Vinter was born in Odder. He moved away."
	d := quoteextract.New(off.New())

	got := decide(t, d, &tree.Item{Step: search("Ole Vinter was born in Odder.", first, second)})
	require.Equal(t, tree.HopLocal, got.Next)
	require.Len(t, got.Quotes, 1)
	require.Equal(t, schema.MatchWindow, got.Quotes[0].Match, "a window stands in for a quote")
	require.Contains(t, got.Quotes[0].Text, "born in Odder")

	got = decide(t, d, &tree.Item{Step: search("Ole Vinter was born in Odder.", "Flour is made of wheat.")})
	require.Equal(t, tree.HopLocal, got.Next, "no passage is irrelevant")

	require.Equal(t, tree.HopCross, decide(t, d, &tree.Item{Step: conclusion(second)}).Next)

	got = decide(t, d, &tree.Item{Step: search("", second)})
	require.Equal(t, []any{tree.HopDone, schema.GapNone, schema.ReasonNoClaim}, []any{got.Next, got.Gap, got.Reason})
	got = decide(t, d, &tree.Item{Step: search("", second), Abstaining: true})
	require.Equal(t, []any{tree.HopDone, schema.GapNone, schema.ReasonAbstainOK}, []any{got.Next, got.Gap, got.Reason})

	got, err := d.Decide(t.Context(), &tree.Item{Step: search("Ole Vinter was born in Odder.")})
	require.NoError(t, err)
	require.Equal(t, schema.GapIrrelevant, got.Gap, "that nothing was retrieved is for code to see, whatever the judge")
}

func TestLastSaysNoneAndThatItWasOff(t *testing.T) {
	t.Parallel()
	for _, stage := range []schema.Stage{schema.StageLocal, schema.StageCross} {
		got := decide(t, off.Last(stage), &tree.Item{Step: conclusion(), Quotes: []schema.Quote{{Text: "q"}}})
		require.Equal(t, schema.GapNone, got.Gap)
		require.False(t, got.Wait, "it hangs on no other label")
		require.Equal(t, stage, got.Entry.Stage)
		require.Equal(t, off.Outcome, got.Entry.Outcome)
		require.Contains(t, got.Detail, stage.Letter()+" is off")
		require.Len(t, got.Quotes, 1)
	}
}
